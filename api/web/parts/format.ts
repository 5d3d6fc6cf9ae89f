import { zoned, zoneName } from '../habits/time-zone.ts'

/** Languages whose numbers the browser can format. Some systems name languages such as `en-US@posix`, which Intl refuses. */
const usable = (languages: readonly string[]): string[] =>
  languages.filter((language) => {
    try {
      return Intl.getCanonicalLocales(language).length > 0
    } catch {
      return false
    }
  })

/** Isolates a text with letters that run from right to left, so that it does not reorder the English text around it. */
const isolated = (text: string): string =>
  /[\u0590-\u08ff]/.test(text) ? `\u2068${text}\u2069` : text.replaceAll('\u200e', '')

/**
 * Numbers, money, durations and times in the form of a language. `languages`: the preferred one first. Positions such as
 * `#12` are names and keep their digits.
 */
export function formatsOf(languages: readonly string[]) {
  const locales = usable(languages)
  const numbers = (options: Intl.NumberFormatOptions) => {
    const format = new Intl.NumberFormat(locales, options)
    return (n: number): string => isolated(format.format(n))
  }
  const digits = (count: number) => ({ minimumFractionDigits: count, maximumFractionDigits: count })
  const currency = { style: 'currency', currency: 'USD' } as const
  const [usual, fine] = [numbers({ ...currency, ...digits(4) }), numbers({ ...currency, ...digits(6) })]
  const coarse = numbers({ ...currency, notation: 'compact', maximumSignificantDigits: 3 })
  const unit = (name: string, decimals = 0) =>
    numbers({ style: 'unit', unit: name, unitDisplay: 'narrow', ...digits(decimals) })
  const [day, hour, minute, second] = [unit('day'), unit('hour'), unit('minute'), unit('second')]
  const [millisecond, tenths] = [unit('millisecond'), unit('second', 1)]
  const [whole, tenth] = [numbers({ maximumFractionDigits: 6 }), numbers(digits(1))]
  const dates = (options: Intl.DateTimeFormatOptions) => {
    const formats = new Map<string | undefined, Intl.DateTimeFormat>()
    return (at: string | number, timeZone = zoned().timeZone): string => {
      const format = formats.get(timeZone) ?? new Intl.DateTimeFormat(locales, { ...options, timeZone })
      formats.set(timeZone, format)
      return isolated(format.format(new Date(at)))
    }
  }
  // Hours from 0 to 23 in every language, so that the times of a list have one width.
  const clock = dates({ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })
  const moment = dates({ dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' })
  const exact = dates({ dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })
  const date = dates({ dateStyle: 'medium' })
  const monthDay = dates({ month: 'numeric', day: 'numeric' })

  const size = (n: number | null): string => {
    if (n === null) return '?'
    if (n < 1024) return `${whole(n)} B`
    const power = Math.min(4, Math.floor(Math.log2(n) / 10))
    return `${tenth(n / 1024 ** power)} ${['KiB', 'MiB', 'GiB', 'TiB'][power - 1]}`
  }
  const span = (ms: number): string => {
    if (ms < 1000) return millisecond(Math.round(ms))
    const seconds = Math.floor(ms / 1000)
    if (seconds < 60) return tenths(Math.floor(ms / 100) / 10)
    if (seconds < 3600) return `${minute(Math.floor(seconds / 60))} ${second(seconds % 60)}`
    if (seconds < 172_800) return `${hour(Math.floor(seconds / 3600))} ${minute(Math.floor(seconds / 60) % 60)}`
    return `${day(Math.floor(seconds / 86_400))} ${hour(Math.floor(seconds / 3600) % 24)}`
  }
  return {
    number: whole,
    /** A number with three digits, for small places: `1.23M`. */
    compact: numbers({ notation: 'compact', maximumSignificantDigits: 3 }),
    /** A share between 0 and 1. */
    percent: numbers({ style: 'percent', ...digits(1) }),
    /** Nano-dollars as dollars; `?` if a price is unknown. Small amounts get six decimals. */
    money: (nano: number | null): string =>
      nano === null ? '?' : (nano !== 0 && nano < 10_000_000 ? fine : usual)(nano / 1e9),
    /** Dollars with three digits, for an axis: `$0.002`, `$1.5K`. */
    coarseMoney: coarse,
    /** Bytes with a binary unit. */
    size,
    /** A duration. */
    span,
    /** The age of an instant in one unit. */
    ago(at: string, now: number): string {
      const seconds = Math.max(0, Math.floor((now - Date.parse(at)) / 1000))
      if (seconds < 60) return second(seconds)
      if (seconds < 3600) return minute(Math.floor(seconds / 60))
      return seconds < 172_800 ? hour(Math.floor(seconds / 3600)) : day(Math.floor(seconds / 86_400))
    },
    /** `1 event`, `2 events`. */
    countText: (n: number, noun: string): string => `${whole(n)} ${noun}${n === 1 ? '' : 's'}`,
    /** The time of day in the chosen zone, to the second. */
    clock,
    /** A date and a time to the minute, in the chosen zone. */
    moment: (at: string | number): string => moment(at),
    /** A day of UTC, given as `2026-01-31`. Returns any other text unchanged. */
    day: (iso: string): string => (Number.isNaN(Date.parse(iso)) ? iso : date(iso, 'UTC')),
    /** A day of UTC without its year, for an axis. */
    axisDay: (seconds: number): string => monthDay(seconds * 1000, 'UTC'),
    /** The full form, for titles: local time, zone, and the exact time of ISO 8601. */
    instant: (at: string | number): string => `${exact(at)} ${zoneName()} (${new Date(at).toISOString()})`,
  }
}

/** The formats of the browser's language. Every screen uses them. */
export const {
  number,
  compact,
  percent,
  money,
  coarseMoney,
  size,
  span,
  ago,
  countText,
  clock,
  moment,
  day,
  axisDay,
  instant,
} = formatsOf(navigator.languages)

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** Whether a text is an instant as the tables write it. `2026-99-99T99:99Z` is none: a format of it throws RangeError. */
export const isInstant = (text: string): boolean => INSTANT.test(text) && !Number.isNaN(Date.parse(text))

/** The first characters of an id. */
export const short = (id: string): string => (id.length > 12 ? `${id.slice(0, 12)}…` : id)
