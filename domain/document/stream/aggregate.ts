import type { Header } from '../../log/envelope.ts'
import type { Aggregate } from '../../stream/aggregate.ts'
import type { CausedContext } from '../../stream/emitter.ts'
import { erasingBy } from '../../stream/erasure.ts'
import { UNDRIVEN } from '../../stream/undriven.ts'
import { DocumentError } from '../errors.ts'
import { reading } from './codec.ts'
import { type DocumentCommand, decideWith } from './decide.ts'
import { DOCUMENT_FOLD, documentDigest, earlierDocumentDigest } from './digest.ts'
import type { Anchor, DocumentBodyOf, DocumentEvent } from './events.ts'
import { type DocumentState, evolveDocument, noDocument } from './state.ts'

export type DocumentAggregate = Aggregate<DocumentState, DocumentEvent, DocumentCommand, CausedContext>

/** The stream of a document, without the namespace. */
export const documentStream = (documentId: string): string => `document-${documentId}`

/** The stream of requests for unknown documents. */
export const REFUSED_STREAM = 'gateway-refused'

const shared = {
  fold: DOCUMENT_FOLD,
  ...reading,
  digest: documentDigest,
  earlierDigest: earlierDocumentDigest,
  ...UNDRIVEN,
  reject: (code, message) => new DocumentError(code, message),
  erasing: {
    ...erasingBy({
      envelope_received: residue,
      comment_added: ({ anchor, ...body }: DocumentBodyOf<'comment_added'>) => ({
        ...body,
        anchor: unquoted(anchor),
        text: null,
      }),
      suggestion_made: ({ anchor, suggestion }: DocumentBodyOf<'suggestion_made'>) => ({
        suggestion,
        anchor: unquoted(anchor),
        replacement: null,
      }),
      reply_added: (body: DocumentBodyOf<'reply_added'>) => ({ ...body, text: null }),
      suggestion_refused: (body: DocumentBodyOf<'suggestion_refused'>) => ({ ...body, reason: null }),
    }),
    ending,
  },
} satisfies Partial<DocumentAggregate>

/** A document as one kind of stream: `document-<id>`. */
export const document: DocumentAggregate = {
  ...shared,
  kind: 'document',
  noun: 'document',
  evolve: evolveDocument,
  decide: decideWith(evolveDocument),
}

/** Requests for unknown documents: `gateway-refused`. */
export const gateway: DocumentAggregate = {
  ...shared,
  kind: 'gateway',
  evolve: noDocument,
  decide: decideWith(noDocument),
}

/** The text of an erased request remains in the updates, because the document needs them. */
function residue(body: DocumentBodyOf<'envelope_received'>) {
  return { ...body, hash: null, request: null }
}

const unquoted = (anchor: Anchor): Anchor => ({ ...anchor, quote: null })

/** A request is answered in the same append, so every recorded request can be erased. */
function ending() {
  return { see(_: Header) {}, ended: true }
}
