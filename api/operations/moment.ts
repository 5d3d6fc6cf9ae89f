const MINUTE = 60_000
const SPANS: Readonly<Record<string, number>> = { m: MINUTE, h: 60 * MINUTE, d: 1440 * MINUTE, w: 10_080 * MINUTE }

/** The time that a text names, ISO 8601 in UTC, or null. A day begins at 0:00 UTC; `2d`: so long before `now`, ms. */
export function momentOf(text: string, now: number): string | null {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? []
  if (count !== undefined) return new Date(now - Number(count) * SPANS[unit]!).toISOString()
  if (!/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : new Date(at).toISOString()
}
