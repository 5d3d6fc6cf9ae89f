import { DocumentError } from '../../../domain/document/errors.ts'
import { documentStream } from '../../../domain/document/stream/aggregate.ts'
import { decode } from '../../../domain/document/stream/codec.ts'
import { type DocumentEvent, isUpdate, type UpdateEvent } from '../../../domain/document/stream/events.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { cursorError } from '../../../domain/log/errors.ts'
import { bodyOf } from '../../../domain/stream/runtime/bodies.ts'
import type { Services } from '../services.ts'

/**
 * Rejects with `DOCUMENT_UNKNOWN`, or with `CURSOR_MISMATCH` if the document has not reached a revision (-1: none). A
 * reader that has seen this revision has seen another state of the log, and would miss the updates up to it.
 */
export async function mustReach({ log }: Pick<Services, 'log'>, documentId: string, revision: number): Promise<void> {
  const head = await log.head(documentStream(documentId))
  if (head === null) throw new DocumentError('DOCUMENT_UNKNOWN', 'there is no such document')
  if (revision <= head.revision) return
  const why = `the document is at revision ${head.revision}, not yet at ${revision}: a backup was restored, it may be`
  throw cursorError('CURSOR_MISMATCH', `${why}; read it and its updates from the start`)
}

/**
 * The updates of a document after a revision (-1: all) in order, then new ones, until the signal aborts. Subscribes to
 * the log before it reads the stream, so nothing is missed in between.
 */
export async function* documentUpdates(
  { log, blobs }: Pick<Services, 'log' | 'blobs'>,
  documentId: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<UpdateEvent> {
  const stream = documentStream(documentId)
  let seen = after
  async function* updates(page: readonly RecordedEvent[]): AsyncGenerator<UpdateEvent> {
    for (const recorded of page) {
      const { header } = recorded
      if (header.stream !== stream || header.revision <= seen) continue
      seen = header.revision
      if (header.type !== 'document_updated' && header.type !== 'person_updated') continue
      const event: DocumentEvent = decode(header, await bodyOf({ log, blobs }, recorded))
      if (isUpdate(event)) yield event
    }
  }
  const cursor = await log.headCursor()
  for await (const page of log.read(stream, { from: after + 1 })) yield* updates(page)
  for await (const page of log.subscribe(cursor, signal)) yield* updates(page)
}
