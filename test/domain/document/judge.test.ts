import { describe, expect, it } from 'vitest'
import {
  answerOf,
  deletion,
  hash,
  ops,
  replace,
  request,
  short,
  verdict,
  view,
} from '../../support/documents/requests.ts'

describe('a request is applied', () => {
  it('with its edits in order, its annotations and what was removed', () => {
    const body = request(
      ops(
        '<replace_spans annotation="why"><span span_id="b1"> Hi <b onclick="x">you</b></span><span span_id="t/0/0">x</span></replace_spans>',
        '<insert_blocks after="b1"><h2>T</h2></insert_blocks>',
        '<insert_blocks after="start">p</insert_blocks>',
        '<delete_blocks><span span_id="b2"/></delete_blocks>',
      ),
      ['b1', 't/0/0', 'b2'],
    )
    const result = verdict(body)
    if (result.kind !== 'apply') throw new Error(short(result))
    const id = expect.stringMatching(/^b[0-9a-f]{24}$/)
    expect(result.edits).toEqual([
      {
        kind: 'replace',
        spanId: 'b1',
        runs: [
          { text: 'Hi ', marks: {} },
          { text: 'you', marks: { bold: true } },
        ],
      },
      { kind: 'replace', spanId: 't/0/0', runs: [{ text: 'x', marks: {} }] },
      {
        kind: 'insert',
        after: 'b1',
        blocks: [{ id, type: 'heading', attrs: { level: 2 }, text: [{ text: 'T', marks: {} }] }],
      },
      { kind: 'insert', after: null, blocks: [{ id, type: 'paragraph', attrs: {}, text: [{ text: 'p', marks: {} }] }] },
      { kind: 'delete', blockId: 'b2' },
    ])
    expect(result.annotations).toEqual(['why', null, null, null])
    expect(result.diagnostics).toEqual([{ code: 'attribute_removed', element: 'b', attribute: 'onclick' }])
    expect(verdict(body)).toEqual(result)
  })

  it('at a frontier that is behind, with a precondition more, and for an empty cell beside text', () => {
    expect(short(verdict(request(replace('b1', 'x'), ['b1', 'b2'], { doc_frontier: '1:8' })))).toBe('apply')
    expect(short(verdict(request(ops(replace('b1', 'x'), replace('t/0/0', '')), ['b1', 't/0/0'])))).toBe('apply')
  })

  it('under the id of a retry, however long the first id was', () => {
    const client_request_id = `${'x'.repeat(256)}-retry-1`
    expect(short(verdict(request(replace('b1', 'x'), ['b1'], { client_request_id })))).toBe('apply')
  })

  it('with new ids for each request, and for each caller', () => {
    const xml = '<insert_blocks after="start">p</insert_blocks>'
    const ids = [
      verdict(request(xml, [])),
      verdict(request(xml, [], { client_request_id: 'r2' })),
      verdict(request(xml, []), { scope: ['d1', 'c2'] }),
    ].map((result) => JSON.stringify(result.kind === 'apply' && result.edits))
    expect(new Set(ids).size).toBe(3)
  })
})

describe('the structure of a request', () => {
  const good = request(replace('b1', 'x'), ['b1'])
  const precondition = good.preconditions[0]!
  it.each([
    ['no object', null],
    ['an array', []],
    ['no id', { ...good, client_request_id: undefined }],
    ['an empty id', { ...good, client_request_id: '' }],
    ['a long id', { ...good, client_request_id: 'x'.repeat(257) }],
    ['a number as id', { ...good, client_request_id: 7 }],
    ['a member more', { ...good, doc_id: 'd1' }],
    ['a frontier that is none', { ...good, doc_frontier: '1:x' }],
    ['half of a surrogate pair', { ...good, ops_xml: replace('b1', '\ud800') }],
    ['NUL in an id', { ...good, client_request_id: 'r\0' }],
    ['an endless frontier', { ...good, doc_frontier: Array.from({ length: 20_000 }, (_, i) => `${i}:1`).join('|') }],
    ['an object as ops_xml', { ...good, ops_xml: {} }],
    ['a precondition without hash', { ...good, preconditions: [{ span_id: 'b1' }] }],
    ['two preconditions of one span', { ...good, preconditions: [precondition, precondition] }],
    ['no precondition of a span', { ...good, preconditions: [] }],
    ['no precondition of the span to insert behind', request('<insert_blocks after="b1">x</insert_blocks>', [])],
    ['no precondition of a deleted span', request(deletion('b1'), ['b2'])],
    ['malformed XML', request('<ops>', [])],
    ['an unknown operation', request('<move_blocks/>', [])],
    ['an operation within an operation', request(ops(ops(replace('b1', 'x'))), ['b1'])],
    ['no operation', request('<ops> </ops>', [])],
    ['no span to replace', request('<replace_spans/>', [])],
    ['a span without id', request('<replace_spans><span>x</span></replace_spans>', [])],
    ['an attribute more', request('<replace_spans><span span_id="b1" class="x">x</span></replace_spans>', ['b1'])],
    ['text outside of spans', request('<replace_spans>x<span span_id="b1">x</span></replace_spans>', ['b1'])],
    ['another element than a span', request('<delete_blocks><p span_id="b1"/></delete_blocks>', ['b1'])],
    ['a deleted span with content', request('<delete_blocks><span span_id="b1">x</span></delete_blocks>', ['b1'])],
    ['blocks after nothing', request('<insert_blocks><p>x</p></insert_blocks>', [])],
  ])('is refused with %s', (_, body) => {
    const result = verdict(body)
    expect(answerOf(result)).toEqual({
      status: 400,
      body: { code: 'INVALID_REQUEST', phase: 'ai_gateway', retryable: false, message: expect.stringMatching(/.{15}/) },
    })
    expect(result).toMatchObject({ kind: 'refuse', request: null })
    expect(JSON.stringify(result).length).toBeLessThan(600)
  })

  it('is refused with two million preconditions, of whatever they are, before they are looked at', () => {
    let looked = 0
    const item = {
      get span_id() {
        looked += 1
        return 'b1'
      },
      if_match_context_hash: '',
    }
    for (const one of [item, {}, null, [[]]]) {
      const result = verdict({ ...good, preconditions: new Array(2_000_000).fill(one) })
      expect(answerOf(result)?.body).toMatchObject({ message: expect.stringContaining('more than 10000') })
      expect(JSON.stringify(result).length).toBeLessThan(600)
    }
    expect(looked).toBe(0)
  })
})

describe('the payload', () => {
  const padded = (bytes: number) => {
    const [head, tail] = replace('b1', '|').split('|') as [string, string]
    return `${head}${'é'.repeat((bytes - head.length - tail.length) >> 1)}${'x'.repeat((bytes - head.length - tail.length) % 2)}${tail}`
  }
  const nested = (depth: number) => replace('b1', `${'<b>'.repeat(depth - 2)}x${'</b>'.repeat(depth - 2)}`)

  it.each([
    ['one byte more than 1 MiB', padded(1024 * 1024 + 1), '400 AI_PAYLOAD_REJECTED_LIMITS'],
    ['1 MiB', padded(1024 * 1024), 'apply'],
    ['depth 51', nested(51), '400 AI_PAYLOAD_REJECTED_LIMITS'],
    ['depth 50', nested(50), 'apply'],
    ['10,001 nodes', replace('b1', `${'<b/>'.repeat(9_998)}x`), '400 AI_PAYLOAD_REJECTED_LIMITS'],
    ['10,000 nodes', replace('b1', `${'<b/>'.repeat(9_997)}x`), 'apply'],
    ['a DTD', `<!DOCTYPE ops>${replace('b1', 'x')}`, '400 AI_PAYLOAD_REJECTED_LIMITS'],
    ['an entity', replace('b1', '&nbsp;'), '400 AI_PAYLOAD_REJECTED_LIMITS'],
    ['a script', replace('b1', 'a<script>b</script>'), '400 AI_PAYLOAD_REJECTED_SANITIZE'],
    ['a data: address', replace('b1', '<a href="data:,x">b</a>'), '400 AI_PAYLOAD_REJECTED_SANITIZE'],
    ['only what is removed', replace('b1', '<img alt="x"/>'), '400 AI_PAYLOAD_REJECTED_SANITIZE'],
    ['nothing', replace('b1', ''), '400 AI_PAYLOAD_REJECTED_SANITIZE'],
    [
      'nothing left for one of its spans',
      ops(replace('b1', '<img/>'), replace('b2', 'x')),
      '400 AI_PAYLOAD_REJECTED_SANITIZE',
    ],
    ['nothing to insert', '<insert_blocks after="start"><p> </p></insert_blocks>', '400 AI_PAYLOAD_REJECTED_SANITIZE'],
    ['an empty table', '<insert_blocks after="start"><table><tr><td/></tr></table></insert_blocks>', 'apply'],
  ])('with %s', (_, xml, expected) => {
    expect(short(verdict(request(xml, ['b1', 'b2'])))).toBe(expected)
  })

  it('is not parsed where it is too large', () => {
    const parse = () => expect.fail('parsed')
    expect(short(verdict(request(padded(1024 * 1024 + 1), ['b1']), { parse }))).toBe('400 AI_PAYLOAD_REJECTED_LIMITS')
  })
})

describe('the schema', () => {
  it.each([
    ['a block in a replacement', replace('b1', 'a<p>b</p>')],
    ['the text of a table', replace('t', 'x')],
    ['the text of a divider', replace('d', 'x')],
    ['deleting a cell', deletion('t/0/0')],
    ['inserting behind a cell', '<insert_blocks after="t/0/0"><p>x</p></insert_blocks>'],
    ['using a block that the request deleted', ops(deletion('b1'), replace('b1', 'x'))],
    ['using a cell of a deleted table', ops(deletion('t'), replace('t/0/0', 'x'))],
    ['deleting a block twice', ops(deletion('b1'), deletion('b1'))],
    ['a nested block', '<insert_blocks after="b1"><h1><p>x</p></h1></insert_blocks>'],
    ['a deep list', `<insert_blocks after="b1">${'<ul>'.repeat(10)}<li>x</li>${'</ul>'.repeat(10)}</insert_blocks>`],
  ])('refuses %s', (_, xml) => {
    const answer = answerOf(verdict(request(xml, ['b1', 't', 'd', 't/0/0'])))
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'AI_PAYLOAD_REJECTED_SCHEMA_VIOLATION', phase: 'ai_gateway', retryable: false },
    })
  })
})

describe('a conflict', () => {
  it('lists all failed preconditions in request order', () => {
    const stale = { span_id: 'b2', if_match_context_hash: hash('b1') }
    const spans = ['gone', 'b1', 'odd'].map((span_id) => ({ span_id, if_match_context_hash: hash(span_id) }))
    const preconditions = [stale, ...spans.slice(0, 2), spans[2]!]
    expect(answerOf(verdict(request(replace('b1', 'x'), [], { preconditions })))).toEqual({
      status: 409,
      body: {
        code: 'AI_PRECONDITION_FAILED',
        phase: 'ai_gateway',
        retryable: true,
        current_frontier: '1:9',
        failed_preconditions: [
          { span_id: 'b2', reason: 'hash_mismatch' },
          { span_id: 'gone', reason: 'span_missing' },
          { span_id: 'odd', reason: 'unverified' },
        ],
      },
    })
  })

  it('of the frontier lists none', () => {
    const preconditions = [{ span_id: 'gone', if_match_context_hash: '' }]
    for (const relation of ['ahead', 'diverged', 'unknown'] as const) {
      const document = { ...view, relation: () => relation }
      expect(answerOf(verdict(request(replace('gone', 'x'), [], { preconditions }), { document }))).toMatchObject({
        status: 409,
        body: { current_frontier: '1:9', failed_preconditions: [] },
      })
    }
  })
})
