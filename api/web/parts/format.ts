import { zoned, zoneName } from '../habits/time-zone.ts'

/** A duration for people: `420 ms`, `3.1 s`, `4 min 5 s`, `2 h 3 min`. */
export function span(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** An age in one unit. */
export function ago(at: string, now: number): string {
  const s = Math.max(0, (now - Date.parse(at)) / 1000)
  if (s < 60) return `${Math.floor(s)} s`
  if (s < 3600) return `${Math.floor(s / 60)} min`
  if (s < 172_800) return `${Math.floor(s / 3600)} h`
  return `${Math.floor(s / 86_400)} d`
}

/** The first characters of an id. */
export const short = (id: string): string => (id.length > 12 ? `${id.slice(0, 12)}…` : id)

/** `1 event`, `2 events`. */
export const countText = (n: number, noun: string): string => `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`

/** The time of day in the chosen zone, to the second. {@link instant} gives the full form, for titles. */
export const clock = (ms: number): string => new Date(ms).toLocaleTimeString('en-GB', zoned())
export const instant = (at: string | number): string => {
  const date = new Date(at)
  return `${date.toLocaleString('sv-SE', zoned())} ${zoneName()} (${date.toISOString()})`
}
