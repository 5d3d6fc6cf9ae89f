import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

// Below this, compression costs more of a commit's time than it saves of the file: on typical event bodies of 60 to 3000
// bytes, from 384 on the file is 0.95 times the bodies instead of 1.02, for half as many calls again of 20 to 30 us each.
const PACK_FROM = 1024

const PARAMS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** A body as it lies in the file. */
export interface StoredBody {
  readonly packed: 0 | 1
  readonly bytes: Uint8Array
}

/** Compresses a body where that makes it smaller. The chain is over the body itself, never over this. */
export function packBody(body: Uint8Array): StoredBody {
  if (body.length >= PACK_FROM) {
    const bytes = zstdCompressSync(body, PARAMS)
    if (bytes.length < body.length) return { packed: 1, bytes }
  }
  return { packed: 0, bytes: body }
}

/** The body of `size` bytes behind stored bytes. Throws where they do not unpack to at most that many. */
export function unpackBody(bytes: Uint8Array, packed: number, size: number): Uint8Array {
  return packed === 0 ? bytes : zstdDecompressSync(bytes, { maxOutputLength: Math.max(size, 1) })
}
