import { hex } from '../../log/ids.ts'
import { erase } from '../../stream/runtime/erasure/erase.ts'
import type { ErasureReason } from '../../stream/runtime/erasure/types.ts'
import { DocumentError } from '../errors.ts'
import { document, documentStream } from '../stream/aggregate.ts'
import { holdsSecret } from './holds-secret.ts'
import type { DocumentCaller, DocumentPorts } from './types.ts'

export interface EnvelopeErasure extends ErasureReason {
  /** The revision of the request or of its answer, as in the history. */
  readonly revision: number
}

/**
 * Erases the body of one request, comment, suggestion, reply or refusal permanently. Each reply and each reason of a
 * refusal is an event of its own. Text that a request wrote stays in the document's updates. `forget` drops copies in
 * memory. Rejects with `NOT_ERASABLE` for an event of another type, `EVENT_UNKNOWN` for a missing event,
 * `CONTENT_REFUSED` if the reason contains a secret, and `ERASE_IMPOSSIBLE` if the event store cannot erase events.
 */
export async function eraseEnvelopeBody(
  ports: DocumentPorts,
  documentId: string,
  { revision, code, reason }: EnvelopeErasure,
  caller: DocumentCaller,
  forget: () => Promise<void>,
): Promise<{ readonly revision: number; readonly recorded: boolean }> {
  if (await holdsSecret(ports, caller, [reason]))
    throw new DocumentError('CONTENT_REFUSED', 'the reason holds a secret value; say it without')
  const stream = documentStream(documentId)
  const what = { revision: await requestAt(ports, stream, revision), code, reason }
  const { by, correlationId, trace } = caller
  const asker = {
    ...{ by, commandId: `request:${hex(ports.random.bytes(16))}` },
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(trace === undefined ? {} : { trace }),
  }
  // Snapshots and replicas contain no requests.
  return erase(ports, document, stream, what, asker, { forget })
}

/** Events with a comment, a suggestion, or the reason of a refusal. */
const SAYS: ReadonlySet<string> = new Set(['comment_added', 'suggestion_made', 'reply_added', 'suggestion_refused'])

/** The revision of the request for an event: the event itself, or the event before it in the same append. */
async function requestAt({ log }: DocumentPorts, stream: string, revision: number): Promise<number> {
  const types = new Map<number, string>()
  for await (const page of log.read(stream, { from: Math.max(0, revision - 1), limit: 2, bodies: false }))
    for (const { header } of page) types.set(header.revision, header.type)
  const type = types.get(revision)
  if (type === 'envelope_received' || SAYS.has(type ?? '')) return revision
  const isAnswer = type === 'envelope_refused' || type === 'document_updated'
  if (isAnswer && types.get(revision - 1) === 'envelope_received') return revision - 1
  if (type === undefined) throw new DocumentError('EVENT_UNKNOWN', `the document has no event at revision ${revision}`)
  throw new DocumentError(
    'NOT_ERASABLE',
    `the event at revision ${revision} is no request and no comment; the text of a document stays as long as the document`,
  )
}
