import { ATTACHING, attachmentOf } from '../../agent/events/attachment.ts'
import { decode } from '../../agent/events/codec.ts'
import type { Attachment } from '../../agent/events/events.ts'
import type { Header } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import { bodyHasher } from '../../log/seal.ts'
import type { BlobStore } from '../../ports.ts'
import { breather } from '../breather.ts'

const PART = 1024 * 1024

/** The whole result that a stored event names; undefined: none, or its body cannot be read. */
export function attachmentIn(header: Header, body: Uint8Array | null | undefined): Attachment | undefined {
  if (
    body == null ||
    !ATTACHING.has(header.type) ||
    !Buffer.from(body.buffer, body.byteOffset, body.length).includes(MARK)
  )
    return undefined
  try {
    return attachmentOf(decode(header, body))
  } catch {
    return undefined
  }
}
const MARK = '"attachment":{'

/** Are these bytes what the event says: of its size, and with its salted hash? Gives way to others meanwhile. */
export async function isAttached({ salt, size, hash }: Attachment, bytes: Uint8Array): Promise<boolean> {
  if (bytes.length !== size) return false
  const hasher = bodyHasher(Buffer.from(salt, 'hex'))
  const breathe = breather()
  for (let from = 0; from < size; from += PART) {
    hasher.update(bytes.subarray(from, from + PART))
    await breathe()
  }
  return hasher.hex() === hash
}

/** The bytes of a whole result. Rejects with BLOB_MISSING, or LOG_CORRUPT where they are not what was stored. */
export async function attachedBytes(
  blobs: BlobStore,
  { runId, stream, revision }: Header,
  attachment: Attachment,
): Promise<Uint8Array> {
  const bytes = await blobs.get(runId, attachment.hash)
  if (await isAttached(attachment, bytes)) return bytes
  const what = `the result at ${stream}@${revision} is not the one that was stored`
  throw new LogError('LOG_CORRUPT', `${what}; verify the log and restore it from a backup`)
}
