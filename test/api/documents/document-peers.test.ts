import { LoroMap } from 'loro-crdt'
import { describe, expect, it } from 'vitest'
import { Person } from '../../support/documents/person.ts'
import { openDocuments } from '../support/document.ts'
import { bodyOf } from '../support/http.ts'

const { ask, made, view, texts, send, update, snapshotOf, eventsOf, replacement } = await openDocuments()

/** An update that adds a block with the id of the first one. */
const repeating = (person: Person) =>
  person.change(() => {
    const block = person.blocks.pushContainer(new LoroMap())
    for (const [key, value] of Object.entries({ id: person.block(0).get('id'), type: 'divider', attrs: {} }))
      block.set(key, value)
  })

describe('a Loro peer', () => {
  it('syncs by snapshot, updates and the stream of updates, and resumes it', async () => {
    const id = await made('Hello')
    const person = new Person('77', await snapshotOf(id))
    const imported = await update(
      id,
      person.change(() => person.text(0).insert(5, ', you')),
    )
    expect([imported.status, await bodyOf(imported)]).toMatchObject([200, { recorded: true, revision: 2 }])
    expect(texts(await view(id))).toEqual(['Hello, you'])
    expect((await eventsOf(`document-${id}`)).at(-1)).toEqual({ type: 'person_updated', actor: 'bob' })

    const follow = await ask('GET', `/v1/documents/${id}/updates`, { headers: { 'last-event-id': '1' } })
    expect(follow.headers.get('content-type')).toContain('text/event-stream')
    const reader = follow.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const until = async (sign: string) => {
      while (!text.includes(sign)) text += (await reader.read()).value
    }
    await until('id: 2\n')
    expect((await send(id, await replacement(id, 'r1', 'Bye'))).status).toBe(200)
    await until('id: 4\n')
    await until('\n\n')
    await reader.cancel()
    expect(text).not.toContain('id: 1\n')
    const data = JSON.parse(/id: 4\nevent: update\ndata: (.*)\n/.exec(text)![1]!)
    person.doc.import(Buffer.from(data.update, 'base64'))
    expect(person.text(0).toString()).toBe('Bye')
  })

  it('is refused the updates after a revision that the document has not reached', async () => {
    const id = await made('Hello')
    const updates = (revision: number) => ask('GET', `/v1/documents/${id}/updates?after=${revision}`)
    const refused = await updates(2)
    expect([refused.status, (await bodyOf(refused)).code]).toEqual([409, 'CURSOR_MISMATCH'])
    const last = await updates(1)
    expect(last.status).toBe(200)
    await last.body!.cancel()
    const unknown = await ask('GET', '/v1/documents/none/updates')
    expect([unknown.status, (await bodyOf(unknown)).code]).toEqual([404, 'DOCUMENT_UNKNOWN'])
  })

  it.each([
    ['malformed', 400, 'UPDATE_MALFORMED', () => new Uint8Array([1, 2, 3])],
    ['oversized', 413, 'UPDATE_TOO_LARGE', () => new Uint8Array(1024 * 1024 + 1)],
    [
      'incomplete',
      422,
      'UPDATE_INCOMPLETE',
      (person: Person) => {
        person.change(() => person.text(0).insert(0, 'a'))
        return person.change(() => person.text(0).insert(0, 'b'))
      },
    ],
    [
      'outside the document model',
      422,
      'UPDATE_OUTSIDE_MODEL',
      (person: Person) => person.change(() => person.block(0).set('type', 'video')),
    ],
    ['of a block with the id of another one', 422, 'UPDATE_OUTSIDE_MODEL', repeating],
  ] as const)('is refused with an update that is %s', async (_, status, code, make) => {
    const id = await made('Hello')
    const answer = await update(id, make(new Person('77', await snapshotOf(id))))
    expect([answer.status, (await bodyOf(answer)).code]).toEqual([status, code])
    expect(texts(await view(id))).toEqual(['Hello'])
  })
})
