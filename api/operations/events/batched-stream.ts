import type { JsonPiece } from './view.ts'

/** The most bytes per batch. A piece with a large body is passed on in parts. */
const GATHERED_BYTES = 512 * 1024

/** Joins small pieces in order. Each write costs a task in the server and in its client. */
export async function* gathered(pieces: AsyncIterable<JsonPiece>): AsyncGenerator<Uint8Array> {
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
