import { afterAll, expect, it } from 'vitest'
import { PRESENT_MS, PresenceHub } from '../../../api/operations/document/presence.ts'
import { bodyOf, openWorld } from '../support/http.ts'

const world = await openWorld()
afterAll(() => world.close())
const { ask } = world

const ANN = { kind: 'user', id: 'ann' } as const
const here = (client: string, block = 'b1') => ({ client, place: { block, anchor: 0, head: 2 }, left: false, by: ANN })

it('tells a reader who is there, then what they say; a silent window counts as closed', () => {
  let now = 0
  const hub = new PresenceHub(() => now)
  hub.say('d', here('old'))
  now = PRESENT_MS
  hub.say('d', here('one'))
  now += 1
  const heard: string[] = []
  const leave = hub.listen('d', ({ client, place, left }) => heard.push(`${client} ${place?.block} ${left}`))
  hub.say('d', here('one', 'b2'))
  hub.say('other', here('elsewhere'))
  const close = [hub.open('d', 'one', 'ann'), hub.open('d', 'one', 'ann')]
  // Another person ends a stream of the same name.
  hub.open('d', 'one', 'bob')()
  close[0]!()
  expect(heard.at(-1)).toBe('one b2 false')
  close[1]!()
  leave()
  hub.say('d', here('late'))
  expect(heard).toEqual(['one b1 false', 'one b2 false', 'one undefined true'])
})

it('keeps the windows that spoke last', () => {
  const hub = new PresenceHub(() => 0)
  for (let n = 0; n < 300; n++) hub.say('d', here(`w${n}`))
  const heard: string[] = []
  hub.listen('d', ({ client }) => heard.push(client))
  expect([heard.length, heard[0], heard.at(-1)]).toEqual([200, 'w100', 'w299'])
})

it('goes over the stream of updates to those who ask for it, and ends with the stream of its window', async () => {
  const body = { title: 'Plan', format: 'markdown', content: 'text', by: 'ann' }
  const { documentId: id } = await bodyOf<{ documentId: string }>(await ask('POST', '/v1/documents', { body }))
  const follow = async (query: string) => {
    const answer = await ask('GET', `/v1/documents/${id}/updates?after=1${query}`)
    return { reader: answer.body!.getReader(), text: '' }
  }
  const until = async (from: Awaited<ReturnType<typeof follow>>, words: string) => {
    while (!from.text.includes(words)) from.text += new TextDecoder().decode((await from.reader.read()).value)
    return from.text
  }
  const [ann, plain, bob] = [await follow('&presence=ann'), await follow(''), await follow('&presence=bob')]
  const said = await ask('POST', `/v1/documents/${id}/presence?by=bob`, {
    body: { client: 'bob', place: { block: 'b1', anchor: 0, head: 3 } },
  })
  expect(said.status).toBe(204)
  expect(await until(ann, '"left":false')).toContain('"by":{"kind":"user","id":"bob"')
  await bob.reader.cancel()
  await until(ann, '"left":true')
  await ask('POST', `/v1/documents/${id}/envelopes?by=model`, { body: {} })
  for (const { reader } of [ann, plain]) await reader.cancel()
  expect(plain.text).not.toContain('presence')
  const refused = await ask('POST', `/v1/documents/${id}/presence`, { body: { client: 'x', place: { block: 1 } } })
  expect(refused.status).toBe(400)
  const unknown = await ask('POST', '/v1/documents/zzz/presence', { body: { client: 'x', place: null } })
  expect(unknown.status).toBe(404)
})
