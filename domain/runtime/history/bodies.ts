import type { RecordedEvent } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import type { BlobStore, EventLog } from '../../ports.ts'

export interface Stores {
  readonly log: EventLog
  readonly blobs: BlobStore
}

/** The bytes of an event's body, wherever they lie. Rejects with BODY_ERASED or BLOB_MISSING. */
export async function bodyOf(stores: Stores, recorded: RecordedEvent): Promise<Uint8Array> {
  const { header } = recorded
  if (recorded.erased) throw erasedError(header)
  return recorded.body ?? stores.blobs.get(header.runId, header.body.hash)
}

export const erasedError = ({ stream, revision }: RecordedEvent['header']) =>
  new LogError('BODY_ERASED', `the body of ${stream}@${revision} was erased; nothing after it can be folded`)
