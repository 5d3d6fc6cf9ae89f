// The one place of the pure rooms that knows the calendar. Both functions depend on their argument alone: the texts are in
// UTC, so that neither a clock nor a time zone plays a part.

/** The text of an instant, given in ms since the epoch: ISO 8601 with milliseconds, in UTC. Throws RangeError beyond year ±275,760. */
export const instantText = (ms: number): string => new Date(ms).toISOString()

/** The instant of a text that {@link instantText} wrote, in ms since the epoch. */
export const instantOf = (text: string): number => Date.parse(text)
