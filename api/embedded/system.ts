import { randomBytes } from 'node:crypto'
import type { Clock, Random } from '../../domain/ports.ts'

/** Longest wait that a timer holds; longer ones are asked for again. */
const LONGEST_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  // By hand, because the promise of node:timers makes an error with a stack of its own for each wait that is called off.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const calledOff = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(
        () => {
          signal?.removeEventListener('abort', calledOff)
          resolve()
        },
        Math.min(ms, LONGEST_MS),
      )
      signal?.addEventListener('abort', calledOff, { once: true })
    }),
}

const POOL_BYTES = 4096
let pool = new Uint8Array(0)

/** Drawn from the operating system some thousand bytes at a time; no byte is given out twice. */
export const systemRandom: Random = {
  bytes(length) {
    if (length > POOL_BYTES / 4) return new Uint8Array(randomBytes(length))
    if (pool.length < length) pool = new Uint8Array(randomBytes(POOL_BYTES))
    const bytes = pool.slice(0, length)
    pool = pool.subarray(length)
    return bytes
  },
}
