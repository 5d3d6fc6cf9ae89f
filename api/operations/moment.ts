const MINUTE = 60_000
const SPANS: Readonly<Record<string, number>> = { m: MINUTE, h: 60 * MINUTE, d: 1440 * MINUTE, w: 10_080 * MINUTE }

/**
 * Parses a time into ISO 8601 in UTC, or null. A day means 0:00 UTC. An age such as `2d` is relative to `now`, in ms.
 */
export function momentOf(text: string, now: number): string | null {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? []
  if (count !== undefined) return new Date(now - Number(count) * SPANS[unit]!).toISOString()
  if (!/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : new Date(at).toISOString()
}
