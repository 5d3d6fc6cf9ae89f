import { parseXml } from '../../../adapters/loro/xml/parse.ts'
import type { EnvelopeAnswer } from '../../../domain/document/envelope/answers.ts'
import { judge, type Verdict } from '../../../domain/document/envelope/judge.ts'
import type { AiEnvelopeRequest } from '../../../domain/document/envelope/request.ts'
import { contextHash } from '../../../domain/document/model/context-hash.ts'
import type { DocumentReader, SpanView } from '../../../domain/document/model/view.ts'

// Requests for a document with fixed spans, and the results of the gateway's checks.

const SPANS: Readonly<Record<string, SpanView>> = {
  ...Object.fromEntries(
    ['b1', 'b2', 'b3', 'b4'].map((id) => [
      id,
      { kind: 'block', blockId: id, type: 'paragraph', text: 'Hello' } as const,
    ]),
  ),
  t: { kind: 'block', blockId: 't', type: 'table', text: 'c' },
  't/0/0': { kind: 'cell', blockId: 't', type: 'table', text: 'c' },
  d: { kind: 'block', blockId: 'd', type: 'divider', text: '' },
  odd: { kind: 'unreadable' },
}
export const view: DocumentReader = {
  frontier: '1:9',
  relation: (client) => (({ '8': 'behind', '9': 'equal' })[client[0]?.counter ?? 0] as 'behind') ?? 'ahead',
  span: (id) => SPANS[id] ?? { kind: 'missing' },
}
export const hash = (id: string) => {
  const span = view.span(id)
  return 'text' in span ? contextHash(span.blockId, span.text) : ''
}
export const request = (ops_xml: string, spans: readonly string[], more: object = {}): AiEnvelopeRequest => ({
  doc_frontier: '1:9',
  client_request_id: 'r1',
  ops_xml,
  preconditions: spans.map((id) => ({ span_id: id, if_match_context_hash: hash(id) })),
  ...more,
})

export const context = { parse: parseXml, answered: () => null, document: view, scope: ['d1', 'c1'] } as const
export const verdict = (body: unknown, more: Partial<Parameters<typeof judge>[1]> = {}): Verdict =>
  judge(body, { ...context, ...more })
export const answerOf = (result: Verdict): EnvelopeAnswer | null => (result.kind === 'apply' ? null : result.answer)
export const short = (result: Verdict): string => {
  const answer = answerOf(result)
  return answer === null ? 'apply' : `${answer.status} ${'code' in answer.body ? answer.body.code : answer.body.status}`
}
export const replace = (id: string, content: string) =>
  `<replace_spans><span span_id="${id}">${content}</span></replace_spans>`
export const deletion = (id: string) => `<delete_blocks><span span_id="${id}"/></delete_blocks>`
export const ops = (...operations: string[]) => `<ops>${operations.join('\n')}</ops>`
