import type { Piece } from './view.ts'

/** Bytes that are gathered at most: a piece with a large body goes on part by part. */
const GATHERED_BYTES = 512 * 1024

/** Joins small pieces, in their order: each one that is written costs a task of its own, in the server and in its client. */
export async function* gathered(pieces: AsyncIterable<Piece>): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = []
  let bytes = 0
  const joined = () => {
    const all = parts.length === 1 ? parts[0]! : Buffer.concat(parts, bytes)
    parts = []
    bytes = 0
    return all
  }
  for await (const piece of pieces) {
    const part = typeof piece === 'string' ? Buffer.from(piece) : piece
    if (bytes > 0 && bytes + part.length > GATHERED_BYTES) yield joined()
    parts.push(part)
    bytes += part.length
  }
  if (bytes > 0) yield joined()
}
