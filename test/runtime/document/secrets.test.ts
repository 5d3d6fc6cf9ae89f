import { expect, onTestFinished, test } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { documentStream } from '../../../domain/document/stream/aggregate.ts'
import { Person } from '../../support/documents/person.ts'
import {
  ANN,
  DocumentGateway,
  eventsOf,
  made,
  portsOver,
  replaceFirst,
  requestFor,
  textsOf,
} from '../../support/documents/runtime.ts'
import { ToolDesk } from '../../support/documents/tools.ts'
import { BEFORE } from '../../support/log/sealing.ts'

const SECRET = 'hunter2&co'
const redact = (text: string) => text.replaceAll(SECRET, '[hidden]').replaceAll('hunter2\\u0026co', '[hidden]')

async function world(known = true) {
  const log = new MemoryLog({ clock: BEFORE })
  const ports = portsOver(log, known ? { holdsSecret: async (text) => redact(text) !== text } : {})
  const gateway = new DocumentGateway(ports)
  onTestFinished(() => gateway.close())
  const id = await made(gateway, '<p>one</p>')
  const written = async () => JSON.stringify(await eventsOf(ports, documentStream(id)))
  return { ports, gateway, id, written, tools: new ToolDesk(gateway) }
}

test.each([
  ['as XML escapes it', 'hunter2&amp;co'],
  ['with characters as numbers', 'hu&#110;ter2&#38;co'],
  ['parted by marks', 'hunter2<b>&amp;</b>co'],
])('an envelope with a secret %s is refused, and the log does not hold it', async (_, content) => {
  const { gateway, id, written } = await world()
  const request = await requestFor(gateway, id, 'r1', replaceFirst(content))
  const answer = await gateway.envelope(id, request, ANN)
  expect(answer).toMatchObject({ status: 400, body: { code: 'AI_PAYLOAD_REJECTED_SANITIZE' } })
  expect(await textsOf(gateway, id)).toEqual(['one'])
  expect(await written()).not.toContain(content)
})

test('an agent’s envelope is held to the secrets of its own run too', async () => {
  const { tools, id, gateway, written } = await world(false)
  const args = await tools.replacement(id, 'hunter2&amp;co')
  expect(await tools.failed('a.t1.c0', args, { redact })).toMatchObject({
    ...{ code: 'INVALID_ARGUMENTS', message: expect.stringContaining('AI_PAYLOAD_REJECTED_SANITIZE') },
  })
  const create = { title: 'Plan', content: `The password is ${SECRET}.` }
  await expect(tools.call('create_document', 'a.t2.c0', create, { redact })).rejects.toMatchObject({
    ...{ code: 'INVALID_ARGUMENTS', message: expect.stringContaining('secret') },
  })
  expect(await textsOf(gateway, id)).toEqual(['one'])
  expect(await written()).not.toContain('hunter2')
})

test.each([
  ['title', { title: `T ${SECRET}`, source: 'empty', blocks: [] }],
  [
    'content',
    { title: 'T', source: 'html', blocks: [{ type: 'paragraph', attrs: {}, text: [{ text: SECRET, marks: {} }] }] },
  ],
  [
    'link',
    {
      ...{ title: 'T', source: 'html' },
      blocks: [{ type: 'quote', attrs: {}, text: [{ text: 'x', marks: { link: { href: `https://x/${SECRET}` } } }] }],
    },
  ],
] as const)('a new document with a secret in its %s is refused', async (_, asked) => {
  const { gateway } = await world()
  await expect(gateway.create(asked as never, ANN)).rejects.toMatchObject({ code: 'CONTENT_REFUSED' })
})

test.each<[string, (bob: Person) => unknown]>([
  ['in one piece', (bob) => bob.text(0).insert(0, SECRET)],
  ['letter by letter', (bob) => [...SECRET].toReversed().map((letter) => bob.text(0).insert(0, letter))],
  [
    'that it deletes again',
    (bob) => {
      bob.text(0).insert(0, SECRET)
      bob.doc.commit()
      bob.text(0).delete(0, SECRET.length)
    },
  ],
  ['in an attribute', (bob) => bob.block(0).set('note', SECRET)],
  ['in a link', (bob) => bob.text(0).mark({ start: 0, end: 2 }, 'link', { href: `https://x/${SECRET}` })],
])('a person’s update with a secret %s is refused, and others go on', async (_, write) => {
  const { gateway, id, written } = await world()
  const bytes = (await gateway.snapshot(id)).bytes
  const before = await written()
  const bob = new Person('77', bytes)
  await expect(
    gateway.import(
      id,
      bob.change(() => write(bob)),
      ANN,
    ),
  ).rejects.toMatchObject({
    ...{ code: 'UPDATE_HOLDS_SECRET', message: expect.stringContaining('take it out') },
  })
  expect(await written()).toBe(before)
  const cara = new Person('78', bytes)
  await gateway.import(
    id,
    cara.change(() => cara.text(0).insert(0, 'x')),
    ANN,
  )
  expect(await textsOf(gateway, id)).toEqual(['xone'])
})

test('a secret whose last letter comes with a later update is found in the text that it completes', async () => {
  const { gateway, id } = await world()
  const bob = new Person('77', (await gateway.snapshot(id)).bytes)
  await gateway.import(
    id,
    bob.change(() => bob.text(0).insert(0, `${SECRET.slice(0, -1)} `)),
    ANN,
  )
  const rest = bob.change(() => bob.text(0).insert(SECRET.length - 1, SECRET.at(-1)!))
  await expect(gateway.import(id, rest, ANN)).rejects.toMatchObject({ code: 'UPDATE_HOLDS_SECRET' })
})
