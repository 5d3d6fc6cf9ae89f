import { randomBytes } from 'node:crypto'
import type { Random } from '../../../domain/ports/index.ts'

const POOL_BYTES = 4096
let pool = new Uint8Array(0)

/** Random bytes of the operating system, read in blocks. No byte is returned twice. */
export const systemRandom: Random = {
  bytes(length) {
    if (length > POOL_BYTES / 4) return new Uint8Array(randomBytes(length))
    if (pool.length < length) pool = new Uint8Array(randomBytes(POOL_BYTES))
    const bytes = pool.slice(0, length)
    pool = pool.subarray(length)
    return bytes
  },
}
