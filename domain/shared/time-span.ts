import { z } from 'zod'

/** 100 days in ms: what is longer is a mistake, and far beyond it neither timers nor dates can be counted on. */
const LONGEST_MS = 8_640_000_000

/** A time span of at least a millisecond. */
export const Milliseconds = z.int().positive().max(LONGEST_MS)

/** A time span that may be none. */
export const Delay = z.int().nonnegative().max(LONGEST_MS)
