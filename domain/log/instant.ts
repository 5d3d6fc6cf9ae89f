// The only file of the pure code that uses Date. Both functions depend on their argument alone: all texts are in UTC,
// so neither the clock nor the time zone matters.

/** ISO 8601 text in UTC, with milliseconds, of ms since the epoch. Throws RangeError beyond year ±275,760. */
export const instantText = (ms: number): string => new Date(ms).toISOString()

/** Parses a text of {@link instantText} to ms since the epoch. */
export const instantOf = (text: string): number => Date.parse(text)
