import { describe, expect, it } from 'vitest'
import { loroDocuments } from '../../../adapters/loro/documents.ts'
import { toTree } from '../../../adapters/loro/markup/to-tree.ts'
import { parseXml } from '../../../adapters/loro/xml/parse.ts'
import { rebase } from '../../../domain/document/envelope/after-conflict.ts'
import { judge } from '../../../domain/document/envelope/judge.ts'
import { AiEnvelopeRequest } from '../../../domain/document/envelope/request.ts'
import { contentOf, toHtml } from '../../../domain/document/markup/document-html.ts'
import { MARKUP_LIMITS } from '../../../domain/document/markup/limits.ts'
import { condition, documentWith, GATEWAY, Gateway } from '../../support/documents/gateway.ts'
import { Person } from '../../support/documents/person.ts'

// The checks, the parser and Loro together.

const open = async (xml: string) => new Gateway((await documentWith(xml)).document)
const replace = (id: string, content: string) =>
  `<replace_spans><span span_id="${id}">${content}</span></replace_spans>`

describe('the gateway', () => {
  it('applies a request once, and gives a repetition the same answer', async () => {
    const gateway = await open('<p>Hello</p>')
    const body = {
      doc_frontier: gateway.document.frontier,
      client_request_id: 'r1',
      ops_xml: replace('b1', 'Hello <b onclick="x">World</b>'),
      preconditions: [condition(gateway.document, 'b1')],
    }
    const answer = gateway.send(body)
    expect(answer).toEqual({
      status: 200,
      body: {
        status: 'applied',
        client_request_id: 'r1',
        applied_frontier: gateway.document.frontier,
        diagnostics: [{ code: 'attribute_removed', element: 'b', attribute: 'onclick' }],
      },
    })
    const { frontier } = gateway.document
    expect(gateway.send(body)).toEqual(answer)
    expect(gateway.send({ ...body, ops_xml: replace('b1', 'other') })).toMatchObject({
      status: 400,
      body: { code: 'AI_IDEMPOTENCY_KEY_REUSED', retryable: false },
    })
    expect([gateway.document.frontier, gateway.document.span('b1')]).toMatchObject([frontier, { text: 'Hello World' }])
  })

  it('answers a conflict again as it did, also when the request would fit by then', async () => {
    const gateway = await open('<p>a</p>')
    const was = condition(gateway.document, 'b1')
    gateway.ask('r1', replace('b1', 'b'), ['b1'])
    const body = { doc_frontier: '', client_request_id: 'r2', ops_xml: replace('b1', 'c'), preconditions: [was] }
    const answer = gateway.send(body)
    expect(answer).toMatchObject({
      status: 409,
      body: { failed_preconditions: [{ span_id: 'b1', reason: 'hash_mismatch' }] },
    })
    gateway.ask('r3', replace('b1', 'a'), ['b1'])
    expect(gateway.send(body)).toEqual(answer)
    expect(gateway.send({ ...body, client_request_id: 'r2-retry-1' }).status).toBe(200)
  })

  it('changes nothing of a document by a request that it refuses', async () => {
    const gateway = await open('<p>a</p><p>b</p>')
    const before = [gateway.document.frontier, gateway.document.blocks()]
    const statuses = [
      gateway.ask('r1', `<ops>${replace('b1', 'x')}${replace('b2', '<script/>')}</ops>`, ['b1', 'b2']).status,
      gateway.ask('r2', `<ops>${replace('b1', 'x')}${replace('b2', '<h1>y</h1>')}</ops>`, ['b1', 'b2']).status,
      gateway.ask('r3', `<ops>${replace('b1', 'x')}${replace('b2', 'y')}</ops>`, ['b1']).status,
    ]
    expect(statuses).toEqual([400, 422, 400])
    expect([gateway.document.frontier, gateway.document.blocks()]).toEqual(before)
  })

  it('rebases a request whose frontier was ahead, and the retry is applied', async () => {
    const gateway = await open('<p>a</p>')
    const request = AiEnvelopeRequest.parse({
      doc_frontier: '1:999',
      client_request_id: 'r1',
      ops_xml: replace('b1', 'b'),
      preconditions: [condition(gateway.document, 'b1')],
    })
    expect(gateway.send(request)).toMatchObject({ status: 409, body: { failed_preconditions: [] } })
    const next = rebase(request, gateway.document)
    expect(next.kind === 'mechanical' && gateway.send(next.request).status).toBe(200)
  })

  it('merges a request with the text that a person typed elsewhere meanwhile', async () => {
    const gateway = await open('<p>alpha</p><p>beta</p>')
    const { frontier } = gateway.document
    const person = new Person('9', gateway.document.snapshot())
    const imported = gateway.document.import(person.change(() => person.text(1).insert(0, 'my ')))
    if (imported.kind !== 'imported') throw new Error(imported.kind)
    imported.change.keep()
    const preconditions = [condition(gateway.document, 'b1')]
    const body = { doc_frontier: frontier, client_request_id: 'r', ops_xml: replace('b1', 'ALPHA'), preconditions }
    expect(gateway.send(body).status).toBe(200)
    person.doc.import(gateway.updates.at(-1)!)
    expect([person.text(0).toString(), person.text(1).toString()]).toEqual(['ALPHA', 'my beta'])
  })

  it('keeps the white space of a code block, and no marks in it', async () => {
    const gateway = await open('<pre>a</pre><p>a</p>')
    const xml = `<ops>${replace('b1', ' x\n  <b>y</b>\n')}${replace('b2', ' x\n  <b>y</b>\n')}</ops>`
    expect(gateway.ask('r', xml, ['b1', 'b2']).status).toBe(200)
    expect(gateway.document.blocks()).toMatchObject([
      { text: [{ text: ' x\n  y\n', marks: {} }] },
      {
        text: [
          { text: 'x ', marks: {} },
          { text: 'y', marks: { bold: true } },
        ],
      },
    ])
  })

  it('gives new blocks ids that the document does not have', async () => {
    const gateway = await open('<p>a</p>')
    const body = {
      doc_frontier: gateway.document.frontier,
      client_request_id: 'r',
      ops_xml: '<insert_blocks after="start"><p>x</p></insert_blocks>',
      preconditions: [],
    }
    const context = { parse: parseXml, answered: () => null, document: gateway.document, scope: ['d1', 'c'] } as const
    const idOf = () => {
      const verdict = judge(body, context)
      return verdict.kind === 'apply' && verdict.edits[0]?.kind === 'insert' ? verdict.edits[0].blocks[0]!.id : ''
    }
    const first = idOf()
    const person = new Person('9', gateway.document.snapshot())
    const imported = gateway.document.import(person.change(() => person.block(0).set('id', first)))
    if (imported.kind === 'imported') imported.change.keep()
    expect(idOf()).not.toBe(first)
  })

  it('has the same document after a restart from the stored updates', async () => {
    const { document, updates } = await documentWith('<p>a</p>')
    const gateway = new Gateway(document)
    for (let i = 0; i < 20; i++) gateway.ask(`r${i}`, replace('b1', `text <i>${i}</i>`), ['b1'])
    const again = await loroDocuments.open({ gatewayPeer: GATEWAY, updates: [...updates, ...gateway.updates] })
    expect([again.frontier, again.blocks()]).toEqual([document.frontier, document.blocks()])
    expect(new Gateway(again).ask('next', replace('b1', 'z'), ['b1']).status).toBe(200)
  })
})

const contentFrom = (text: string) => {
  const found = toTree({ format: 'html', text, limits: MARKUP_LIMITS })
  return found.kind === 'tree' ? contentOf(found.children) : { fault: found.message }
}

describe('a document as HTML', () => {
  const xml =
    '<h1>T</h1><p>a <b>b</b> <a href="/x" title="&lt;">c</a></p><ol><li>i</li></ol>' +
    '<table><tbody><tr><td colspan="2">1</td></tr></tbody></table><pre><code>\n\n x</code></pre>'

  it('is written so that it reads back as the same blocks', async () => {
    const { document } = await documentWith(xml)
    expect(toHtml(document.blocks())).toBe(xml)
    const read = contentFrom(xml)
    expect('blocks' in read && read.blocks.map((block, i) => ({ ...block, id: `b${i + 1}` }))).toEqual(
      document.blocks(),
    )
  })

  it.each([
    ['<p>a<script>b</script>', '<script> is not accepted'],
    ['<li>x</li>', '<li> within the top level'],
  ])('is not read from %s', (html, fault) => {
    expect(contentFrom(html)).toEqual({ fault: expect.stringContaining(fault) })
  })

  it('is read as a browser reads it, with dividers and the languages of code', () => {
    const read = contentFrom('<p onclick="x">a&nbsp;b<p>c<hr><pre><code class="language-ts">x</code></pre>')
    expect('blocks' in read && read.blocks.map(({ type }) => type)).toEqual([
      'paragraph',
      'paragraph',
      'divider',
      'code',
    ])
    expect(read).toMatchObject({ diagnostics: [{ code: 'attribute_removed' }] })
    expect('blocks' in read && read.blocks[3]).toMatchObject({ attrs: { language: 'ts' } })
  })
})
