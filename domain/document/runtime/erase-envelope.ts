import { hex } from '../../log/ids.ts'
import { erase } from '../../stream/runtime/erasure/erase.ts'
import { DocumentError } from '../errors.ts'
import { document, documentStream } from '../stream/aggregate.ts'
import { holdsSecret } from './holds-secret.ts'
import type { Caller, DocumentPorts } from './types.ts'

export interface EnvelopeErasure {
  /** Of the request, or of its answer, as the history shows it. */
  readonly revision: number
  readonly reason: string
}

/**
 * Empties the body of a request for ever. The words that it wrote stay in the document, whose updates contain
 * them. Rejects with `NOT_ERASABLE` for an event that is no request, `EVENT_UNKNOWN`, `CONTENT_REFUSED` where the reason
 * holds a secret, and `ERASE_IMPOSSIBLE` on an event store, which cannot empty an event.
 */
export async function eraseEnvelope(
  ports: DocumentPorts,
  documentId: string,
  { revision, reason }: EnvelopeErasure,
  caller: Caller,
): Promise<{ readonly revision: number; readonly recorded: boolean }> {
  if (await holdsSecret(ports, caller, [reason]))
    throw new DocumentError('CONTENT_REFUSED', 'the reason holds a secret value; say it without')
  const stream = documentStream(documentId)
  const what = { revision: await requestAt(ports, stream, revision), reason }
  const { by, correlationId, trace } = caller
  const asker = {
    ...{ by, commandId: `request:${hex(ports.random.bytes(16))}` },
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(trace === undefined ? {} : { trace }),
  }
  // No snapshot and no replica holds a request.
  return erase(ports, document, stream, what, asker, { forget: async () => {} })
}

/** The revision of the request that an event is, or answers: the two stand in one append. */
async function requestAt({ log }: DocumentPorts, stream: string, revision: number): Promise<number> {
  const types = new Map<number, string>()
  for await (const page of log.read(stream, { from: Math.max(0, revision - 1), limit: 2, bodies: false }))
    for (const { header } of page) types.set(header.revision, header.type)
  const type = types.get(revision)
  if (type === 'envelope_received') return revision
  const isAnswer = type === 'envelope_refused' || type === 'document_updated'
  if (isAnswer && types.get(revision - 1) === 'envelope_received') return revision - 1
  if (type === undefined) throw new DocumentError('EVENT_UNKNOWN', `the document has no event at revision ${revision}`)
  throw new DocumentError(
    'NOT_ERASABLE',
    `the event at revision ${revision} is no request; the text of a document stays as long as the document`,
  )
}
