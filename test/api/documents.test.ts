import { afterAll, describe, expect, it } from 'vitest'
import { openSql } from '../../api/embedded/audit.ts'
import { REFUSED_STREAM } from '../../domain/document/stream/aggregate.ts'
import { Person } from '../support/documents/person.ts'
import { bodyOf, openWorld } from './http-support.ts'

const world = await openWorld({ heartbeatMs: 60_000 })
afterAll(() => world.close())
const { ask } = world

interface View {
  documentId: string
  revision: number
  frontier: string
  blocks: { id: string; type: string; hash: string; text: { text: string }[] }[]
}
const create = async (format: string, content?: string, more: object = {}) =>
  bodyOf<{ documentId: string }>(
    await ask('POST', '/v1/documents', {
      body: { title: 'Plan', format, by: 'ada', ...(content && { content }), ...more },
    }),
  )
const made = async (markdown: string) => (await create('markdown', markdown)).documentId
const view = async (id: string, query = '') => bodyOf<View>(await ask('GET', `/v1/documents/${id}${query}`))
const texts = ({ blocks }: View) => blocks.map(({ text }) => text.map((run) => run.text).join(''))
const send = (id: string, body: unknown, by = 'model') =>
  ask('POST', `/v1/documents/${id}/envelopes?by=${by}`, { body })
const binary = { 'content-type': 'application/octet-stream' }
const update = (id: string, raw: Uint8Array) =>
  ask('POST', `/v1/documents/${id}/updates?by=bob`, { raw: raw as Uint8Array<ArrayBuffer>, headers: binary })
const snapshotOf = async (id: string) =>
  new Uint8Array(await (await ask('GET', `/v1/documents/${id}?format=loro`)).arrayBuffer())
const eventsOf = async (stream: string) => {
  const events: { type: string; actor: string }[] = []
  for await (const page of world.services.log.read(stream))
    for (const { header } of page) events.push({ type: header.type, actor: header.actor.id })
  return events
}

/** A replacement of the first block as it is now. */
async function replacement(id: string, requestId: string, content: string) {
  const { frontier, blocks } = await view(id)
  return {
    doc_frontier: frontier,
    client_request_id: requestId,
    ops_xml: `<replace_spans><span span_id="${blocks[0]!.id}">${content}</span></replace_spans>`,
    preconditions: [{ span_id: blocks[0]!.id, if_match_context_hash: blocks[0]!.hash }],
  }
}

describe('documents over HTTP', () => {
  it.each([
    ['empty', undefined, []],
    ['markdown', '# One\n\n- *two*\n\n---\n\n```ts\nx < 1\n```\n', ['heading', 'list_item', 'divider', 'code']],
    ['html', '<h2>One</h2><p>two<p>three', ['heading', 'paragraph', 'paragraph']],
  ])('are made from %s and read as JSON, Markdown and HTML', async (format, content, types) => {
    const { documentId } = await create(format, content)
    const found = await view(documentId)
    expect(found.blocks.map(({ type }) => type)).toEqual(types)
    for (const as of ['markdown', 'html']) {
      const text = await (await ask('GET', `/v1/documents/${documentId}?format=${as}`)).text()
      const again = await create(text === '' ? 'empty' : as, text)
      const strip = ({ blocks }: View) => blocks.map(({ id: _, hash: __, ...block }) => block)
      expect(strip(await view(again.documentId))).toEqual(strip(found))
    }
  })

  it('gives the same document for the same key, and refuses the key for another one', async () => {
    const headers = { 'idempotency-key': 'k1' }
    const body = { title: 'Plan' }
    const first = await ask('POST', '/v1/documents', { body, headers })
    const again = await ask('POST', '/v1/documents', { body, headers })
    expect([first.status, again.status]).toEqual([201, 200])
    expect(await bodyOf(again)).toEqual(await bodyOf(first))
    const other = await ask('POST', '/v1/documents', { body: { title: 'Other' }, headers })
    expect([other.status, (await bodyOf(other)).code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
  })

  it.each([
    ['html', '<p>a</p><script>b</script>', 'CONTENT_REFUSED'],
    ['html', '<div>'.repeat(60), 'CONTENT_REFUSED'],
    ['markdown', `${'> '.repeat(60)}x`, 'CONTENT_REFUSED'],
    ['html', 'x'.repeat(1024 * 1024 + 1), 'CONTENT_REFUSED'],
  ])('refuses %s that is hostile or beyond the limits', async (format, content, code) => {
    const answer = await ask('POST', '/v1/documents', { body: { title: 'x', format, content } })
    expect([answer.status, (await bodyOf(answer)).code]).toEqual([422, code])
  })
})

describe('POST /v1/documents/{id}/envelopes', () => {
  it('answers 200, the same again, and 400 for another payload under the id', async () => {
    const id = await made('Hello')
    const request = await replacement(id, 'r1', 'Hello, <b onclick="x">you</b>')
    const answer = await send(id, request)
    const applied = await bodyOf(answer)
    expect([answer.status, applied]).toEqual([
      200,
      {
        status: 'applied',
        client_request_id: 'r1',
        applied_frontier: (await view(id)).frontier,
        diagnostics: [{ code: 'attribute_removed', element: 'b', attribute: 'onclick' }],
      },
    ])
    expect(await bodyOf(await send(id, request))).toEqual(applied)
    const reused = await send(id, { ...request, ops_xml: `${request.ops_xml} ` })
    expect([reused.status, (await bodyOf(reused)).code]).toEqual([400, 'AI_IDEMPOTENCY_KEY_REUSED'])
    expect(texts(await view(id))).toEqual(['Hello, you'])
  })

  it('answers 409 to a stale hash with the frontier and the reasons, applying nothing', async () => {
    const id = await made('Hello')
    const [won, lost] = [await replacement(id, 'a', 'A'), await replacement(id, 'b', 'B')]
    await send(id, won)
    const answer = await send(id, lost)
    const { frontier } = await view(id)
    expect([answer.status, await bodyOf(answer)]).toEqual([
      409,
      {
        code: 'AI_PRECONDITION_FAILED',
        phase: 'ai_gateway',
        retryable: true,
        current_frontier: frontier,
        failed_preconditions: [{ span_id: lost.preconditions[0]!.span_id, reason: 'hash_mismatch' }],
      },
    ])
    const ahead = await send(id, { ...(await replacement(id, 'c', 'C')), doc_frontier: '12345:7' })
    expect([ahead.status, (await bodyOf(ahead)).failed_preconditions]).toEqual([409, []])
    expect(texts(await view(id))).toEqual(['A'])
  })

  const deep = (n: number) =>
    `<replace_spans><span span_id="ID">${'<b>'.repeat(n - 2)}x${'</b>'.repeat(n - 2)}</span></replace_spans>`
  it.each<[string, number, string, (r: Awaited<ReturnType<typeof replacement>>) => unknown]>([
    ['no JSON object', 400, 'INVALID_REQUEST', () => []],
    ['an unknown member', 400, 'INVALID_REQUEST', (r) => ({ ...r, more: 1 })],
    ['a span without a precondition', 400, 'INVALID_REQUEST', (r) => ({ ...r, preconditions: [] })],
    ['two million preconditions', 400, 'INVALID_REQUEST', (r) => ({ ...r, preconditions: Array(2_000_000).fill(1) })],
    [
      '1 MiB plus one byte',
      400,
      'AI_PAYLOAD_REJECTED_LIMITS',
      (r) => ({ ...r, ops_xml: r.ops_xml.padEnd(1024 * 1024 + 1) }),
    ],
    [
      'depth 51',
      400,
      'AI_PAYLOAD_REJECTED_LIMITS',
      (r) => ({ ...r, ops_xml: deep(51).replace('ID', r.preconditions[0]!.span_id) }),
    ],
    ['an entity', 400, 'AI_PAYLOAD_REJECTED_LIMITS', (r) => ({ ...r, ops_xml: r.ops_xml.replace('X', '&nbsp;') })],
    ['a script', 400, 'AI_PAYLOAD_REJECTED_SANITIZE', (r) => ({ ...r, ops_xml: r.ops_xml.replace('X', '<script/>') })],
    [
      'a block in a replacement',
      422,
      'AI_PAYLOAD_REJECTED_SCHEMA_VIOLATION',
      (r) => ({ ...r, ops_xml: r.ops_xml.replace('X', '<p>X</p>') }),
    ],
  ])('refuses %s with %i %s, applies nothing and records it', async (_, status, code, change) => {
    const id = await made('Hello')
    const answer = await send(id, change(await replacement(id, 'r1', 'X')))
    expect([answer.status, await bodyOf(answer)]).toEqual([
      status,
      { code, phase: 'ai_gateway', retryable: false, message: expect.any(String) },
    ])
    expect(texts(await view(id))).toEqual(['Hello'])
    const types = (await eventsOf(`document-${id}`)).map(({ type }) => type)
    expect(types.slice(2)).toEqual(['envelope_received', 'envelope_refused'])
  })

  it('answers what is no JSON at all as the gateway does', async () => {
    const id = await made('Hello')
    const answer = await ask('POST', `/v1/documents/${id}/envelopes`, { raw: '{"a":' })
    expect([answer.status, (await bodyOf(answer)).code]).toEqual([400, 'INVALID_REQUEST'])
  })

  it('answers 404 for an unknown document, and records it', async () => {
    const ops_xml = '<insert_blocks after="start"><p>x</p></insert_blocks>'
    const answer = await send('none', { doc_frontier: '', client_request_id: 'r', ops_xml, preconditions: [] })
    expect([answer.status, (await bodyOf(answer)).code]).toEqual([404, 'DOCUMENT_NOT_FOUND'])
    expect(await eventsOf(REFUSED_STREAM)).toHaveLength(2)
  })

  it('refuses the frontier of another document', async () => {
    const [id, other] = [await made('Hello'), await made('Hello')]
    const request = { ...(await replacement(id, 'r1', 'X')), doc_frontier: (await view(other)).frontier }
    expect((await send(id, request)).status).toBe(409)
  })
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
  ] as const)('is refused with an update that is %s', async (_, status, code, make) => {
    const id = await made('Hello')
    const answer = await update(id, make(new Person('77', await snapshotOf(id))))
    expect([answer.status, (await bodyOf(answer)).code]).toEqual([status, code])
    expect(texts(await view(id))).toEqual(['Hello'])
  })
})

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
