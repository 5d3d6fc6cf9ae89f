import { loroDocuments } from '../../../adapters/loro/documents.ts'
import { parseXml } from '../../../adapters/loro/xml/parse.ts'
import type { EnvelopeAnswer } from '../../../domain/document/envelope/answers.ts'
import { applied } from '../../../domain/document/envelope/answers.ts'
import type { AnsweredRequest } from '../../../domain/document/envelope/idempotency.ts'
import { judge } from '../../../domain/document/envelope/judge.ts'
import { payloadHash } from '../../../domain/document/envelope/request.ts'
import { normalizeBlocks } from '../../../domain/document/markup/normalize.ts'
import type { Node } from '../../../domain/document/markup/tree.ts'
import type { BlockContent, DocumentBlock } from '../../../domain/document/model/block.ts'
import { contextHash } from '../../../domain/document/model/context-hash.ts'
import type { DocumentReader } from '../../../domain/document/model/view.ts'
import type { OpenDocument } from '../../../domain/ports/index.ts'

export const GATEWAY = '1'

/** The nodes of markup without a root. */
export function markup(xml: string): readonly Node[] {
  const parsed = parseXml(`<root>${xml}</root>`, { depth: 60, nodes: 100_000 })
  if (parsed.kind !== 'tree') throw new Error(parsed.message)
  return parsed.root.children
}

/** Blocks from HTML, with the ids b1, b2 … */
export const blocksFrom = (xml: string): DocumentBlock[] =>
  normalizeBlocks(markup(xml)).map((block, i): DocumentBlock => ({ ...(block as BlockContent), id: `b${i + 1}` }))

/** A document with these blocks, and its updates. */
export async function documentWith(xml: string): Promise<{ document: OpenDocument; updates: Uint8Array[] }> {
  const document = await loroDocuments.open({ gatewayPeer: GATEWAY, updates: [] })
  const change = document.edit([{ kind: 'insert', after: null, blocks: blocksFrom(xml) }])
  change.keep()
  return { document, updates: [change.update] }
}

/** A precondition for the current text of a span. */
export function condition(document: DocumentReader, spanId: string) {
  const span = document.span(spanId)
  if (!('text' in span)) throw new Error(`${spanId} is ${span.kind}`)
  return { span_id: spanId, if_match_context_hash: contextHash(span.blockId, span.text) }
}

/** A gateway for one document and one caller, without a log. It judges and applies requests and stores answers. */
export class Gateway {
  readonly document: OpenDocument
  readonly answered = new Map<string, AnsweredRequest>()
  readonly updates: Uint8Array[] = []

  constructor(document: OpenDocument) {
    this.document = document
  }

  send(body: unknown): EnvelopeAnswer {
    const { document, answered } = this
    const context = { parse: parseXml, answered: (id: string) => answered.get(id) ?? null, document }
    const verdict = judge(body, { ...context, scope: ['d1', 'caller'] })
    if (verdict.kind !== 'apply') {
      const { request, answer } = verdict
      const id = request?.client_request_id
      if (request !== null && !answered.has(id!)) answered.set(id!, { payloadHash: payloadHash(request), answer })
      return answer
    }
    const change = document.edit(verdict.edits)
    change.keep()
    this.updates.push(change.update)
    const { request } = verdict
    const answer = applied(request.client_request_id, change.frontier, verdict.diagnostics)
    answered.set(request.client_request_id, { payloadHash: payloadHash(request), answer })
    return answer
  }

  /** Sends operations on spans with their current hashes. */
  ask(id: string, ops_xml: string, spans: readonly string[]): EnvelopeAnswer {
    const preconditions = spans.map((span) => condition(this.document, span))
    return this.send({ doc_frontier: this.document.frontier, client_request_id: id, ops_xml, preconditions })
  }

  html(): string[] {
    return this.document.blocks().map((block) => JSON.stringify(block))
  }
}
