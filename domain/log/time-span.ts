import { z } from 'zod'
import { instantOf } from './instant.ts'

/** 100 days in ms. A longer span is a mistake, and much longer ones break timers and dates. */
const LONGEST_MS = 8_640_000_000

/** A time span of at least 1 ms. */
export const Milliseconds = z.int().positive().max(LONGEST_MS)

/** A time span of 0 ms or more. */
export const Delay = z.int().nonnegative().max(LONGEST_MS)

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Parses a time after `from`, in ms: a span such as `30m`, `2h` or `1d`, or an ISO 8601 instant with time zone. Null:
 * the text is neither, or not within 100 days after `from`.
 */
export function instantAfter(text: string, from: number): number | null {
  const [, count, unit] = /^([1-9]\d{0,6})([smhd])$/.exec(text) ?? []
  const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/.test(text)
  const end = unit !== undefined ? from + Number(count) * UNITS[unit]! : instant ? instantOf(text) : Number.NaN
  return end > from && end <= from + LONGEST_MS ? end : null
}
