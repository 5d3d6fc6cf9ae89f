import { z } from 'zod'
import type { StreamEvent } from '../../stream/aggregate.ts'
import { ERASURE_VERSION, erasureEvents } from '../../stream/erasure.ts'
import { AiEnvelopeRequest } from '../envelope/request.ts'

// Storage format: the events of `document-<id>` and of `gateway-refused`, the stream of requests for unknown documents.

const Hash = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.int().nonnegative()

/** The id of a comment or suggestion, unique in its document. */
const ThreadId = z.string().min(1).max(64)

/**
 * A range of a span's text. `start` and `end`: cursors before its first and after its last character, base64; they
 * follow their characters through later edits. `quote`: the text of the range when the event was written; null: erased.
 */
const Anchor = z.strictObject({
  span: z.string().min(1),
  start: z.base64().min(1),
  end: z.base64().min(1),
  quote: z.string().min(1).nullable(),
})
export type Anchor = z.infer<typeof Anchor>

/** Loro update bytes, base64. */
const Update = z.base64().min(1)

/** The HTTP status of an answer other than 200. */
const Refusal = z.strictObject({ status: z.union([z.literal(400), z.literal(404), z.literal(409), z.literal(422)]) })

export const documentBodies = {
  document_created: z.strictObject({
    title: z.string().min(1),
    /** The peer of the gateway's edits: an unsigned 64-bit number. */
    gatewayPeer: z.string().regex(/^[1-9]\d{0,19}$/),
    source: z.enum(['empty', 'markdown', 'html']),
  }),
  /**
   * A received request. `request` null: the answer was 400, so only hash and size are stored; or the request was
   * erased.
   */
  envelope_received: z.strictObject({
    documentId: z.string().min(1),
    /** The hash of the request's canonical JSON, or of the bytes of an invalid body; null: erased. */
    hash: Hash.nullable(),
    size: count,
    request: AiEnvelopeRequest.nullable(),
    /** For a retry: the id of the first request and the number of the retry. */
    retryOf: z.strictObject({ first: z.string(), retry: z.int().positive() }).optional(),
  }),
  envelope_refused: z.strictObject({
    answer: Refusal.extend({ body: z.record(z.string(), z.unknown()) }),
  }),
  /** An edit by the gateway. `envelope` null: the initial content of the document. */
  document_updated: z.strictObject({
    update: Update,
    /** The document's frontier after the update. */
    frontier: z.string(),
    envelope: z
      .strictObject({
        diagnostics: z.array(z.record(z.string(), z.unknown())),
        annotations: z.array(z.string().nullable()),
      })
      .nullable(),
  }),
  /** An update of a person's replica. */
  person_updated: z.strictObject({ update: Update, frontier: z.string() }),
  /** A comment on a range. Texts of this and the next events are null when they were erased. */
  comment_added: z.strictObject({ comment: ThreadId, anchor: Anchor, text: z.string().min(1).nullable() }),
  /** A proposal to replace a range by another text. It changes nothing until a person accepts it. */
  suggestion_made: z.strictObject({
    suggestion: ThreadId,
    anchor: Anchor,
    replacement: z.string().nullable(),
    /** Absent: none was given, or it was erased. */
    reason: z.string().min(1).optional(),
  }),
  /** A reply to an open comment or suggestion. */
  reply_added: z.strictObject({ thread: ThreadId, text: z.string().min(1).nullable() }),
  comment_resolved: z.strictObject({ comment: ThreadId }),
  /** In the same append, directly before the `person_updated` with the change. */
  suggestion_accepted: z.strictObject({ suggestion: ThreadId }),
  suggestion_refused: z.strictObject({ suggestion: ThreadId, reason: z.string().min(1).nullable() }),
  ...erasureEvents,
} as const

type Bodies = { readonly [T in keyof typeof documentBodies]: z.infer<(typeof documentBodies)[T]> }
export type DocumentEventType = keyof Bodies
export type DocumentEvent = {
  readonly [T in DocumentEventType]: StreamEvent & { readonly type: T; readonly body: Bodies[T] }
}[DocumentEventType]
export type DocumentBodyOf<T extends DocumentEventType> = Bodies[T]
export type Received = DocumentBodyOf<'envelope_received'>

export const documentVersions: Readonly<Record<DocumentEventType, number>> = {
  document_created: 1,
  envelope_received: 1,
  envelope_refused: 1,
  document_updated: 1,
  person_updated: 1,
  comment_added: 1,
  suggestion_made: 1,
  reply_added: 1,
  comment_resolved: 1,
  suggestion_accepted: 1,
  suggestion_refused: 1,
  residue: ERASURE_VERSION,
  erased: ERASURE_VERSION,
}

/** An event that changes the document. */
export type UpdateEvent = Extract<DocumentEvent, { type: 'document_updated' | 'person_updated' }>

export const isUpdate = (event: DocumentEvent): event is UpdateEvent =>
  event.type === 'document_updated' || event.type === 'person_updated'

/** The bytes of a stored update. */
export const updateBytes = ({ body }: UpdateEvent): Uint8Array => Buffer.from(body.update, 'base64')
