import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

// Below this, compression costs more time, at each commit and at each reading (27 µs a body), than it saves of the file. On
// the bodies of a typical run (60 to 3000 bytes) the file is 1.25 times the bodies; from 1024 on it would be 1.03 times.
const PACK_FROM = 1792

const PARAMS = { [constants.ZSTD_c_compressionLevel]: 1 }

// The least that zlib takes for a chunk. One chunk that holds all of the output spares the joining of several.
const CHUNK = 64
const MOST = 1024 * 1024

/** A body as it lies in the file. */
export interface StoredBody {
  readonly packed: 0 | 1
  readonly bytes: Uint8Array
}

/** Compresses a body where that makes it smaller. The chain is over the body itself, never over this. */
export function packBody(body: Uint8Array): StoredBody {
  if (body.length >= PACK_FROM) {
    const bytes = zstdCompressSync(body, {
      params: PARAMS,
      pledgedSrcSize: body.length,
      chunkSize: body.length + CHUNK,
    })
    if (bytes.length < body.length) return { packed: 1, bytes }
  }
  return { packed: 0, bytes: body }
}

/** The body of `size` bytes behind stored bytes. Throws where they do not unpack to at most that many. */
export function unpackBody(bytes: Uint8Array, packed: number, size: number): Uint8Array {
  if (packed === 0) return bytes
  return zstdDecompressSync(bytes, {
    maxOutputLength: Math.max(size, 1),
    chunkSize: Math.min(Math.max(size, CHUNK), MOST),
  })
}
