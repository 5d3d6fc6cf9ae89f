import { z } from 'zod'
import type { StreamEvent } from '../../stream/aggregate.ts'
import { ERASURE_VERSION, erasureEvents } from '../../stream/erasure.ts'
import { AiEnvelopeRequest } from '../envelope/request.ts'

// Storage format: the events of `document-<id>` and of `gateway-refused`, the stream of requests for unknown documents.

const Hash = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.int().nonnegative()

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
  residue: ERASURE_VERSION,
  erased: ERASURE_VERSION,
}

/** An event that changes the document. */
export type UpdateEvent = Extract<DocumentEvent, { type: 'document_updated' | 'person_updated' }>

export const isUpdate = (event: DocumentEvent): event is UpdateEvent =>
  event.type === 'document_updated' || event.type === 'person_updated'

/** The bytes of a stored update. */
export const updateBytes = ({ body }: UpdateEvent): Uint8Array => Buffer.from(body.update, 'base64')
