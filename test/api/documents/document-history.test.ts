import { describe, expect, it } from 'vitest'
import { openSql } from '../../../api/process/embedded/open-sql.ts'
import { Person } from '../../support/documents/person.ts'
import { openDocuments } from '../support/document.ts'
import { bodyOf } from '../support/http.ts'

const { world, ask, made, view, texts, send, update, snapshotOf, replacement } = await openDocuments()

describe('the history of a document', () => {
  it('shows it at a revision and at a time', async () => {
    const id = await made('one')
    await send(id, await replacement(id, 'r1', 'two'))
    expect(texts(await view(id, '?revision=1'))).toEqual(['one'])
    expect(texts(await view(id, '?revision=3'))).toEqual(['two'])
    expect(texts(await view(id, `?time=${new Date(Date.now() + 1000).toISOString()}`))).toEqual(['two'])
    expect((await ask('GET', `/v1/documents/${id}?revision=9`)).status).toBe(404)
    expect((await ask('GET', `/v1/documents/${id}?time=2001-01-01T00:00:00Z`)).status).toBe(404)
    expect((await ask('GET', '/v1/documents/none')).status).toBe(404)
  })

  it('lists requests with their answers, and says what differs between two revisions', async () => {
    const id = await made('one\n\ntwo\n\nthree')
    const stale = await replacement(id, 'stale', 'x')
    await send(id, await replacement(id, 'r1', 'ONE'))
    await send(id, stale)
    const { blocks, frontier } = await view(id)
    const gone = { span_id: blocks[1]!.id, if_match_context_hash: blocks[1]!.hash }
    const ops_xml = `<ops><delete_blocks annotation="shorter"><span span_id="${gone.span_id}"/></delete_blocks><insert_blocks after="start"><p>new</p></insert_blocks></ops>`
    await send(id, { doc_frontier: frontier, client_request_id: 'r2', ops_xml, preconditions: [gone] })
    const page = await bodyOf(await ask('GET', `/v1/documents/${id}/history?after=1`))
    expect(page).toMatchObject({
      next: null,
      entries: [
        { kind: 'applied', revision: 3, clientRequestId: 'r1', by: { id: 'model' } },
        { kind: 'refused', revision: 5, clientRequestId: 'stale', status: 409, code: 'AI_PRECONDITION_FAILED' },
        { kind: 'applied', revision: 7, clientRequestId: 'r2', annotations: ['shorter', null] },
      ],
    })
    const { changes } = await bodyOf<{ changes: object[] }>(await ask('GET', `/v1/documents/${id}/diff?a=1&b=7`))
    expect(changes).toMatchObject([
      { change: 'added', after: 'new' },
      { change: 'changed', before: 'one', after: 'ONE' },
      { change: 'removed', before: 'two' },
    ])
  })

  it('names the person or request that wrote each part of a span', async () => {
    const id = await made('Hello world')
    const person = new Person('77', await snapshotOf(id))
    await update(
      id,
      person.change(() => person.text(0).insert(5, ' 😀 big')),
    )
    await send(id, await replacement(id, 'r1', 'Hello 😀 big planet'))
    const blame = await bodyOf<{ spans: { parts: object[] }[]; sources: object[] }>(
      await ask('GET', `/v1/documents/${id}/blame`),
    )
    expect(blame.spans[0]!.parts).toEqual([
      { text: 'Hello', revision: 1 },
      { text: ' 😀 big', revision: 2 },
      { text: ' ', revision: 1 },
      { text: 'planet', revision: 4 },
    ])
    expect(blame.sources).toMatchObject([
      { kind: 'created', by: { id: 'ada' } },
      { kind: 'imported', by: { id: 'bob' } },
      { kind: 'applied', by: { id: 'model' }, clientRequestId: 'r1' },
    ])
  })

  it('is proved: the updates alone lead to the recorded frontier', async () => {
    const id = await made('Hello')
    await send(id, await replacement(id, 'r1', 'Bye'))
    const { frontier } = await view(id)
    const proof = await bodyOf(await ask('GET', `/v1/documents/${id}/verify`))
    expect(proof).toMatchObject({ ok: true, events: 4, digests: 2, frontier, problems: [] })
    expect((await ask('GET', '/v1/documents/none/verify')).status).toBe(404)
    expect((await ask('GET', '/v1/documents/none/history')).status).toBe(404)
  })
})

describe('the erasure of a request', () => {
  const erase = (id: string, revision: number, reason = 'private') =>
    ask('POST', `/v1/documents/${id}/erase`, { body: { revision, reason, by: 'ada' } })

  it('empties it by its own revision or that of its answer; the proof says so, and its id is never used again', async () => {
    const id = await made('one')
    const stale = await replacement(id, 'unsent-words', 'Very private.')
    await send(id, await replacement(id, 'r1', 'two'))
    await send(id, stale)
    const before = await view(id)
    expect((await erase(id, 5)).status).toBe(200)
    expect((await erase(id, 2)).status).toBe(200)
    const kept: string[] = []
    for await (const page of world.services.log.read(`document-${id}`))
      for (const { body } of page) if (body) kept.push(Buffer.from(body).toString())
    expect(kept.join()).not.toContain('Very private.')
    const proof = await bodyOf(await ask('GET', `/v1/documents/${id}/verify`))
    expect(proof).toMatchObject({ ok: true, problems: [], frontier: before.frontier })
    expect(proof.erased).toEqual([
      { revision: 4, code: 'other', reason: 'private' },
      { revision: 2, code: 'other', reason: 'private' },
    ])
    expect(texts(await view(id))).toEqual(['two'])
    const again = await send(id, stale)
    expect([again.status, (await bodyOf(again)).code]).toEqual([400, 'AI_IDEMPOTENCY_KEY_REUSED'])
    const { entries } = await bodyOf<{ entries: object[] }>(await ask('GET', `/v1/documents/${id}/history`))
    expect(entries).toContainEqual(expect.objectContaining({ kind: 'refused', revision: 5, status: 409 }))
    expect((await bodyOf(await erase(id, 5))).recorded).toBe(false)
  })

  it.each([
    ['an update', 1, 409, 'NOT_ERASABLE'],
    ['no event', 99, 404, 'EVENT_UNKNOWN'],
  ])('is refused for %s', async (_, revision, status, code) => {
    const answer = await erase(await made('one'), revision)
    expect([answer.status, (await bodyOf(answer)).code]).toEqual([status, code])
  })
})

describe('the tables', () => {
  const envelopeRows = (): Record<string, unknown>[] => {
    const { db, close } = openSql(world.data)
    try {
      return db.prepare('select * from envelopes order by stream, revision').all()
    } finally {
      close()
    }
  }

  it('list documents page by page, and show each request with its verdict', async () => {
    const id = await made('one')
    const stale = await replacement(id, 'again-retry-2', 'x')
    await send(id, await replacement(id, 'r1', 'two'))
    await send(id, stale)
    await send(id, [])
    const ids: string[] = []
    type Page = { documents: { documentId: string; revision: number }[]; next: string | null }
    for (let after: string | null = ''; after !== null; ) {
      const query: string = `limit=3${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`
      const page: Page = await bodyOf<Page>(await ask('GET', `/v1/documents?${query}`))
      ids.push(...page.documents.map(({ documentId }) => documentId))
      after = page.next
    }
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.at(-1)).toBe(id)
    const rows = envelopeRows().filter((row) => row.document_id === id)
    expect(rows).toMatchObject([
      { client_request_id: 'r1', verdict: 'applied', status: 200, caller: 'user:model', conflicts: 0, retry: 0 },
      { verdict: 'conflict', status: 409, code: 'AI_PRECONDITION_FAILED', conflicts: 1, retry_of: 'again', retry: 2 },
      { verdict: 'refused', status: 400, code: 'INVALID_REQUEST', client_request_id: null },
    ])
  })

  it('are the same after a rebuild', async () => {
    const answer = await ask('POST', '/v1/projections/rebuild', { body: {} })
    expect(await bodyOf(answer)).toMatchObject({ equal: true, differences: [] })
  })
})
