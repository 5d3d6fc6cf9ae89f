import { z } from 'zod'
import { instantOf } from './instant.ts'

/** 100 days in ms: what is longer is a mistake, and far beyond it neither timers nor dates can be counted on. */
const LONGEST_MS = 8_640_000_000

/** A time span of at least a millisecond. */
export const Milliseconds = z.int().positive().max(LONGEST_MS)

/** A time span that may be none. */
export const Delay = z.int().nonnegative().max(LONGEST_MS)

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * The instant, ms, that a text means at the instant `from`: a span such as `30m`, `2h` or `1d` after it, or a later instant of
 * ISO 8601 with its time zone. Null: it is neither, or not within 100 days from then.
 */
export function instantAfter(text: string, from: number): number | null {
  const [, count, unit] = /^([1-9]\d{0,6})([smhd])$/.exec(text) ?? []
  const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/.test(text)
  const end = unit !== undefined ? from + Number(count) * UNITS[unit]! : instant ? instantOf(text) : Number.NaN
  return end > from && end <= from + LONGEST_MS ? end : null
}
