import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

// The size from which bodies are compressed, in bytes. Smaller bodies cost more time at each commit and read (27 µs per
// body) than the saved space is worth. With the bodies of a typical run (60 to 3000 bytes) the file has 1.25 times
// their size; with a limit of 1024 it would have 1.03 times.
const PACK_FROM = 1792

const PARAMS = { [constants.ZSTD_c_compressionLevel]: 1 }

// The smallest chunk size that zlib accepts. A chunk for the whole output avoids joining several chunks.
const CHUNK = 64
const MOST = 1024 * 1024

/** A body in its stored form. */
export interface PackedBody {
  readonly packed: 0 | 1
  readonly bytes: Uint8Array
}

/** Compresses a body if that makes it smaller. The chain covers the uncompressed body. */
export function packBody(body: Uint8Array): PackedBody {
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

/** The body of `size` bytes from its stored bytes. Throws if they do not unpack to at most that size. */
export function unpackBody(bytes: Uint8Array, packed: number, size: number): Uint8Array {
  if (packed === 0) return bytes
  return zstdDecompressSync(bytes, {
    maxOutputLength: Math.max(size, 1),
    chunkSize: Math.min(Math.max(size, CHUNK), MOST),
  })
}
