import { describe, expect, it } from 'vitest'
import { REFUSED_STREAM } from '../../../domain/document/stream/aggregate.ts'
import { openDocuments, type View } from '../support/document.ts'
import { bodyOf } from '../support/http.ts'

const { ask, create, made, view, texts, send, eventsOf, replacement } = await openDocuments()

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
    const sent = await answer.text()
    expect([answer.status, JSON.parse(sent)]).toEqual([
      409,
      {
        code: 'AI_PRECONDITION_FAILED',
        phase: 'ai_gateway',
        retryable: true,
        current_frontier: frontier,
        failed_preconditions: [{ span_id: lost.preconditions[0]!.span_id, reason: 'hash_mismatch' }],
      },
    ])
    const again = await send(id, lost)
    expect([again.status, await again.text()]).toEqual([409, sent])
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

  it.each(['No-Such', 'a%20b', '%00', '..%2Fx', 'x'.repeat(500)])('%s is no document: 404', async (id) => {
    for (const path of ['', '/history', '/updates'])
      expect([path, (await ask('GET', `/v1/documents/${id}${path}`)).status]).toEqual([path, 404])
    for (const path of ['/envelopes', '/updates'])
      expect([path, (await ask('POST', `/v1/documents/${id}${path}`, { raw: '{}' })).status]).toEqual([path, 404])
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
