import type { RecordedEvent } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import { ownerOf } from '../../log/owner.ts'
import { sealedBody } from '../../log/seal.ts'
import type { EventLog } from '../../ports/index.ts'
import type { ReadStores } from './ports.ts'

/** An event's inline body without its salt; null: the body is in the blob store, or was erased. Throws LOG_CORRUPT. */
export const inlineBody = ({ header, body }: RecordedEvent): Uint8Array | null => body && asSealed(header, body)

/** An event's body without its salt, inline or from the blob store. Rejects with BODY_ERASED, BLOB_MISSING or LOG_CORRUPT. */
export async function bodyOf(stores: ReadStores, recorded: RecordedEvent): Promise<Uint8Array> {
  const { header } = recorded
  if (recorded.erased) throw erasedError(header)
  return inlineBody(recorded) ?? asSealed(header, await stores.blobs.get(ownerOf(header), header.body.hash))
}

/** {@link bodyOf}; null when the body was erased, even after the event was read. */
export async function bodyUnlessErased(stores: ReadStores, recorded: RecordedEvent): Promise<Uint8Array | null> {
  if (recorded.erased) return null
  try {
    return await bodyOf(stores, recorded)
  } catch (error) {
    if (await wasErasedSince(stores.log, recorded, error)) return null
    throw error
  }
}

/** Whether an event's blob is missing because its body was erased after the event was read. */
export async function wasErasedSince(
  log: Pick<EventLog, 'erases' | 'read'>,
  { header: { stream, revision } }: RecordedEvent,
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof LogError && error.code === 'BLOB_MISSING' && log.erases)) return false
  for await (const [now] of log.read(stream, { from: revision, limit: 1, bodies: false })) return now?.erased === true
  return false
}

/** Checks stored bytes against their hash: decisions may use only bodies that the chain proves. Throws LOG_CORRUPT. */
function asSealed({ stream, revision, body }: RecordedEvent['header'], bytes: Uint8Array): Uint8Array {
  const sealed = sealedBody(body, bytes)
  if (sealed !== null) return sealed
  const what = `the body of ${stream}@${revision} is not the one that was sealed`
  throw new LogError('LOG_CORRUPT', `${what}; verify the log and restore it from a backup`)
}

export const erasedError = ({ stream, revision }: RecordedEvent['header']) =>
  new LogError('BODY_ERASED', `the body of ${stream}@${revision} was erased; nothing after it can be folded`)
