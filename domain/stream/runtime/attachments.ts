import type { Header } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import { ownerOf } from '../../log/owner.ts'
import { bodyHasher, SALT_BYTES } from '../../log/seal.ts'
import type { BlobStore } from '../../ports/index.ts'
import type { AttachedBytes } from '../aggregate.ts'
import { yielder } from './yield-to-event-loop.ts'

/** Bytes in memory at a time. */
const PART = 1024 * 1024

/** The stored bytes `from` to `to` (exclusive) of a blob, part by part. Rejects as the store does. */
export async function* blobParts(
  blobs: BlobStore,
  owner: string,
  hash: string,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array> {
  const whole = blobs.part === undefined ? await blobs.get(owner, hash) : null
  for (let at = from; at < to; at += PART) {
    const length = Math.min(PART, to - at)
    const part = whole?.subarray(at, at + length) ?? (await blobs.part!(owner, hash, at, length))
    if (part.length > 0) yield part
    if (part.length < length) return
  }
}

/**
 * Whether the attachment in the blob store has the size and the hash that the event names. Yields to the event loop
 * between parts. Rejects as the store does.
 */
export async function isAttached(blobs: BlobStore, owner: string, { size, hash }: AttachedBytes): Promise<boolean> {
  const hasher = bodyHasher()
  const yieldToEventLoop = yielder()
  let found = 0
  for await (const part of blobParts(blobs, owner, hash, 0, SALT_BYTES + size + 1)) {
    hasher.update(part)
    found += part.length
    await yieldToEventLoop()
  }
  return found === SALT_BYTES + size && hasher.hex() === hash
}

/** Rejects with BLOB_MISSING, or with LOG_CORRUPT when an attachment was altered. */
export async function checkAttached(blobs: BlobStore, header: Header, attachment: AttachedBytes): Promise<void> {
  if (await isAttached(blobs, ownerOf(header), attachment)) return
  const what = `the result at ${header.stream}@${header.revision} is not the one that was stored: it was altered`
  throw new LogError('LOG_CORRUPT', `${what}; verify the log and restore it from a backup`)
}
