import { afterAll, describe, expect, it } from 'vitest'
import { decode } from '../../../domain/document/stream/codec.ts'
import type { DocumentEvent } from '../../../domain/document/stream/events.ts'
import { bodyOf as eventBody } from '../../../domain/stream/runtime/bodies.ts'
import { longestTurn } from '../../support/time/turns.ts'
import { bodyOf } from '../support/http.ts'
import { type Block, insert, nested, openTwoDocuments, remove } from '../support/two-documents.ts'

// Each refusal of CONTRACTS 12 over HTTP: its answer, that nothing is applied, that it is recorded, and that no other request
// waits long meanwhile.

const documents = await openTwoDocuments()
const { world, view, create, post, shared, other, request, replace } = documents
const { hello, divider, code, table, cell } = documents
afterAll(() => world.close())

/** The CPU time, in ms, for which one request may hold the event loop, with garbage collections. */
const MOST = 1_000
const MIB = 1024 * 1024

type Body = () => object | string | Uint8Array<ArrayBuffer>
type Row = readonly [what: string, status: number, code: string, body: Body]

const invalid: readonly (readonly [string, Body])[] = [
  ['an empty body', () => ''],
  ['no JSON', () => '{"doc_frontier":'],
  ['bytes that are no UTF-8', () => new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])],
  ['a number', () => '1'],
  ['null', () => 'null'],
  ['an array', () => []],
  ['arrays in arrays, two million deep', () => '['.repeat(2_000_000) + ']'.repeat(2_000_000)],
  ['members in members, a million deep', () => `${'{"a":'.repeat(1_000_000)}1${'}'.repeat(1_000_000)}`],
  ['8 MiB of one string', () => JSON.stringify('x'.repeat(8 * MIB - 2))],
  ['no frontier', () => request(replace('x'), { doc_frontier: undefined })],
  ['no id', () => request(replace('x'), { client_request_id: undefined })],
  ['no operations', () => request(replace('x'), { ops_xml: undefined })],
  ['no preconditions', () => request(replace('x'), { preconditions: undefined })],
  ['an unknown member', () => request(replace('x'), { more: 1 })],
  ['a blank id', () => request(replace('x'), { client_request_id: '' })],
  ['an id of 257 characters', () => request(replace('x'), { client_request_id: 'i'.repeat(257) })],
  ['NUL in the id', () => request(replace('x'), { client_request_id: 'a\0' })],
  ['half of a surrogate pair', () => JSON.stringify(request(replace('HALF'))).replace('HALF', '\\ud800')],
  ['a frontier that is none', () => request(replace('x'), { doc_frontier: '1:2,3:4' })],
  [
    'a frontier of a million peers',
    () => request(replace('x'), { doc_frontier: Array(500_000).fill('1:1').join('|') }),
  ],
  ['a precondition that is a number', () => request(replace('x'), { preconditions: [1] })],
  ['a precondition with an unknown member', () => request(replace('x'), { preconditions: [{ ...hello(), x: 1 }] })],
  ['two preconditions for a span', () => request(replace('x'), {}, [hello(), hello()])],
  ['a span without a precondition', () => request(replace('x'), {}, [])],
  ['an "after" without a precondition', () => request(insert('<p>x</p>', hello().id), {}, [])],
  ['10,001 preconditions', () => request(replace('x'), {}, Array(10_001).fill(hello()))],
  ['two million preconditions', () => request(replace('x'), { preconditions: Array(2_000_000).fill(1) })],
  [
    'two million preconditions that are objects',
    () => request(replace('x'), { preconditions: Array(2_000_000).fill({}) }),
  ],
  [
    'a million members',
    () => request(replace('x'), Object.fromEntries(Array.from({ length: 500_000 }, (_, n) => [`m${n}`, 1]))),
  ],
  ['operations that are no XML', () => request('<replace_spans>')],
  ['HTML that is no XML', () => request(replace('<p>a<br>b'))],
  ['two roots', () => request(replace('x') + replace('y'))],
  ['no root', () => request('x')],
  ['NUL in the XML', () => request(replace('&#0;'))],
  ['an unknown operation', () => request('<move_blocks/>')],
  ['an unknown operation among others', () => request(`<ops>${replace('x')}<move/></ops>`)],
  ['<ops> without operations', () => request('<ops/>')],
  ['text between operations', () => request(`<ops>x${replace('x')}</ops>`)],
  ['an operation without spans', () => request('<replace_spans/>')],
  ['a span without its id', () => request('<replace_spans><span>x</span></replace_spans>')],
  ['an unknown attribute of an operation', () => request(replace('x').replace('<replace_spans', '$& when="now"'))],
  ['an insertion at no place', () => request('<insert_blocks><p>x</p></insert_blocks>')],
  ['a deletion with content', () => request(remove(hello()).replace('/>', '>x</span>'))],
]

const limits: readonly (readonly [string, () => string])[] = [
  ['1 MiB plus one byte', () => replace('x').padEnd(MIB + 1)],
  ['7 MiB', () => replace('x'.repeat(7 * MIB))],
  ['1 MiB of characters that are two bytes', () => replace('é'.repeat(MIB / 2))],
  ['depth 51', () => replace(nested(49, 'b'))],
  ['depth 100,000', () => replace(nested(100_000, 'b'))],
  ['10,001 nodes', () => replace('<b/>'.repeat(9_999))],
  ['200,000 nodes', () => replace('<b/>'.repeat(200_000))],
  ['a document type', () => `<!DOCTYPE ops>${replace('x')}`],
  ['an entity of HTML', () => replace('&nbsp;')],
  [
    'an entity that a document type names',
    () => `<!DOCTYPE o [<!ENTITY x SYSTEM "file:///etc/passwd">]>${replace('&x;')}`,
  ],
  ['entities that expand', () => `<!DOCTYPE o [${expanding(30)}]>${replace('&e29;')}`],
  ['a parameter entity', () => `<!DOCTYPE o [<!ENTITY % p SYSTEM "http://127.0.0.1:1/"> %p;]>${replace('x')}`],
]
const expanding = (count: number) =>
  Array.from({ length: count }, (_, n) => `<!ENTITY e${n} "${n === 0 ? 'lol' : `&e${n - 1};`.repeat(10)}">`).join('')

const sanitize: readonly (readonly [string, () => string])[] = [
  ...['script', 'style', 'iframe', 'object', 'embed', 'form', 'SCRIPT'].map(
    (tag) => [`<${tag}>`, () => replace(`<${tag}/>x`)] as const,
  ),
  ['data: in an address', () => replace('<a href="data:text/html,x">x</a>')],
  ['vbscript: in an address', () => replace('<a href=" vb&#9;script:x">x</a>')],
  ['nothing left', () => replace('<img src="q"/>')],
  ['nothing left of one of two', () => `<ops>${replace('x')}${insert('<img/>')}</ops>`],
  ['only white space', () => insert('<p> </p>')],
]

const schema: readonly (readonly [string, () => ReturnType<typeof request>])[] = [
  ['a block in a replacement', () => request(replace('<p>x</p>'))],
  ['a list in a replacement', () => request(replace('a<ul><li>x</li></ul>'))],
  ['a table in a list', () => request(insert('<ul><li><table><tr><td>x</td></tr></table></li></ul>'), {}, [])],
  [
    'a table in a cell',
    () => request(insert(`<table><tr><td>${nested(1, 'table', '<tr><td>x</td></tr>')}</td></tr></table>`), {}, []),
  ],
  ['a cell outside of a table', () => request(insert('<td>x</td>'), {}, [])],
  ['a list deeper than eight', () => request(insert(`${'<ul><li>a'.repeat(10)}${'</li></ul>'.repeat(10)}`), {}, [])],
  ['text for a divider', () => request(replace('x', divider()), {}, [divider()])],
  ['text for a whole table', () => request(replace('x', table()), {}, [table()])],
  ['a block after a cell', () => request(insert('<p>x</p>', cell().id), {}, [cell()])],
  ['a deletion of a cell', () => request(remove(cell()), {}, [cell()])],
  ['a use of what the request deletes', () => request(`<ops>${remove(hello())}${replace('x')}</ops>`)],
  [
    'the last of many operations',
    () => request(`<ops>${replace('x')}${insert('<p>y</p>')}${insert('<td>z</td>')}</ops>`),
  ],
]

const rows: readonly Row[] = [
  ...invalid.map(([what, body]): Row => [what, 400, 'INVALID_REQUEST', body]),
  ...limits.map(([what, ops]): Row => [what, 400, 'AI_PAYLOAD_REJECTED_LIMITS', () => request(ops())]),
  ...sanitize.map(([what, ops]): Row => [what, 400, 'AI_PAYLOAD_REJECTED_SANITIZE', () => request(ops())]),
  ...schema.map(([what, body]): Row => [what, 422, 'AI_PAYLOAD_REJECTED_SCHEMA_VIOLATION', body]),
]

const eventsAfter = async (id: string, revision: number) => {
  const events: DocumentEvent[] = []
  const { log, blobs } = world.services
  for await (const page of log.read(`document-${id}`, { from: revision + 1 }))
    for (const one of page) events.push(decode(one.header, await eventBody({ log, blobs }, one)))
  return events
}
const headOf = async (id: string) => (await world.services.log.head(`document-${id}`))!.revision

/** Sends a body to the shared document. Checks the answer, the record, and that nothing else has changed. */
async function refusalOf(body: ReturnType<Body>, id = shared.documentId) {
  const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  const before = { ...(await view(id)), revision: await headOf(id) }
  const { ms, value: answer } = await longestTurn(() => post(id, raw))
  const sent = await bodyOf(answer)
  const [received, refused, ...more] = await eventsAfter(id, before.revision)
  const { root, frontier } = await view(id)
  expect({ root, frontier }).toEqual({ root: before.root, frontier: before.frontier })
  expect([received?.type, refused?.type, more]).toEqual(['envelope_received', 'envelope_refused', []])
  if (received?.type !== 'envelope_received' || refused?.type !== 'envelope_refused') throw new Error('not recorded')
  expect(refused.body.answer).toEqual({ status: answer.status, body: sent })
  expect(received.body.size).toBe(Buffer.byteLength(raw))
  // Of a body that was answered with 400 the hash and the reason are kept.
  expect(received.body.request === null).toBe(answer.status === 400)
  expect(ms).toBeLessThan(MOST)
  return { status: answer.status, sent }
}

describe('an envelope', () => {
  it.each(rows)('with %s is answered %i %s', async (_, status, named, body) => {
    const { status: got, sent } = await refusalOf(body())
    expect([got, sent]).toEqual([
      status,
      { code: named, phase: 'ai_gateway', retryable: false, message: expect.stringMatching(/\S/) },
    ])
    expect(JSON.stringify(sent).length).toBeLessThan(2000)
  })

  const conflicts: readonly (readonly [
    string,
    () => object | Promise<object>,
    () => readonly (readonly [string, string])[],
  ])[] = [
    [
      'a frontier that is ahead',
      () => request(replace('x'), { doc_frontier: shared.frontier.replace(/\d+$/, '999') }),
      () => [],
    ],
    ['a frontier of another peer', () => request(replace('x'), { doc_frontier: '1:0' }), () => []],
    ['the frontier of another document', () => request(replace('x'), { doc_frontier: other.frontier }), () => []],
    [
      'a frontier that has gone both ways',
      () => request(replace('x'), { doc_frontier: `1:0|${shared.frontier}` }),
      () => [],
    ],
    [
      'a wrong hash',
      () => request(replace('x'), {}, [{ ...hello(), hash: '0' }]),
      () => [[hello().id, 'hash_mismatch']],
    ],
    ['an unknown block', () => request(replace('x', NONE), {}, [NONE]), () => [['none', 'span_missing']]],
    [
      'a cell that is not there',
      () => request(replace('x', NO_CELL()), {}, [NO_CELL()]),
      () => [[NO_CELL().id, 'span_missing']],
    ],
    [
      'several failures, in the order of the request',
      () => request(replace('x'), {}, [NONE, hello(), { ...code(), hash: 'no' }, NO_CELL()]),
      () => [
        ['none', 'span_missing'],
        [code().id, 'hash_mismatch'],
        [NO_CELL().id, 'span_missing'],
      ],
    ],
    [
      '10,000 preconditions that fail',
      () => request(replace('x'), {}, [hello(), ...many(9_999)]),
      () => many(9_999).map(({ id }) => [id, 'span_missing']),
    ],
  ]
  const NONE = { id: 'none', hash: 'x' }
  const NO_CELL = () => ({ id: `${table().id}/7/7`, hash: 'x' })
  const many = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `none${n}`, hash: 'x' }))

  it.each(conflicts)('with %s is answered 409', async (_, body, failed) => {
    const { status, sent } = await refusalOf(await body())
    expect([status, sent]).toEqual([
      409,
      {
        code: 'AI_PRECONDITION_FAILED',
        phase: 'ai_gateway',
        retryable: true,
        current_frontier: shared.frontier,
        failed_preconditions: failed().map(([span_id, reason]) => ({ span_id, reason })),
      },
    ])
  })

  it('that uses an id again for another payload is answered 400 AI_IDEMPOTENCY_KEY_REUSED', async () => {
    const { documentId, frontier, blocks } = await create()
    const first = request(replace('x', blocks[0]!), { doc_frontier: frontier }, [blocks[0]!])
    expect((await post(documentId, JSON.stringify(first))).status).toBe(200)
    const { status, sent } = await refusalOf({ ...first, ops_xml: replace('y', blocks[0]!) }, documentId)
    expect([status, sent.code]).toEqual([400, 'AI_IDEMPOTENCY_KEY_REUSED'])
  })

  it.each<[string, (blocks: readonly Block[]) => string]>([
    ['exactly 1 MiB', ([first]) => replace('x', first).padEnd(MIB)],
    ['depth 50', ([first]) => replace(nested(48, 'b'), first)],
    ['10,000 nodes', ([first]) => replace(`<i>x</i>${'<b/>'.repeat(9_996)}`, first)],
    ['2,500 new blocks', () => insert('<p>x</p>'.repeat(2_500))],
    ['1 MiB of text', ([first]) => replace('lorem ipsum '.repeat(MIB / 12 - 20), first)],
  ])('of %s is applied', async (_, ops) => {
    const { documentId, frontier, blocks } = await create()
    const body = request(ops(blocks), { doc_frontier: frontier }, [blocks[0]!])
    const { ms, value } = await longestTurn(() => post(documentId, JSON.stringify(body)))
    expect([value.status, (await bodyOf(value)).status]).toEqual([200, 'applied'])
    expect(ms).toBeLessThan(MOST)
  })

  it('of more than 8 MiB is answered 413', async () => {
    expect((await post(shared.documentId, 'x'.repeat(8 * MIB + 1))).status).toBe(413)
  })
})
