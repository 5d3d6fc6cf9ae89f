import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock, Random } from '../../domain/ports.ts'

/** Longest wait that a timer holds; longer ones are asked for again. */
const LONGEST_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => wait(Math.min(ms, LONGEST_MS), undefined, signal === undefined ? {} : { signal }),
}

export const systemRandom: Random = { bytes: (length) => new Uint8Array(randomBytes(length)) }
