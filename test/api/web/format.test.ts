import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatsOf, isInstant } from '../../../api/web/parts/format.ts'

// Numbers, money, durations and times in the language of the browser.

const DURATIONS = [420, 3_100, 59_999, 245_000, 3_600_000, 7_380_000, 200_000_000]
const SECOND = '2026-01-01T00:00:00Z'
/** Without the marks that isolate a text from right to left. */
const bare = (text: string) => text.replaceAll(/[\u2066-\u2069\u200e\u200f\u061c]/g, '')

it.each([
  ['2026-01-31T10:00:00.000Z', true],
  ['2026-01-31T10:00Z', true],
  ['2026-99-99T99:99Z', false],
  ['2026-01-31T:.:Z', false],
  ['2026-01-31', false],
])('%s is an instant: %s', (text, is) => {
  expect(isInstant(text)).toBe(is)
})

describe('the formats', () => {
  it('are those of English', () => {
    const { number, compact, percent, money, size, span, ago, countText, moment, day, axisDay, coarseMoney } =
      formatsOf(['en-US'])
    expect([number(1_234_567.5), compact(1_234_567), percent(0.125)]).toEqual(['1,234,567.5', '1.23M', '12.5%'])
    expect([null, 0, 9_999_999, 30_000_000, 1_234_560_000_000].map(money)).toEqual([
      ...['?', '$0.0000', '$0.010000', '$0.0300', '$1,234.5600'],
    ])
    expect([0, 0.0005, 0.002, 0.5, 1_500].map(coarseMoney)).toEqual(['$0', '$0.0005', '$0.002', '$0.5', '$1.5K'])
    expect([null, 512, 1_536, 1_048_576, 5 * 1024 ** 5].map(size)).toEqual([
      ...['?', '512 B', '1.5 KiB', '1.0 MiB', '5,120.0 TiB'],
    ])
    expect(DURATIONS.map(span)).toEqual(['420ms', '3.1s', '59.9s', '4m 5s', '1h 0m', '2h 3m', '2d 7h'])
    expect(ago(SECOND, Date.parse('2026-01-01T00:01:30Z'))).toBe('1m')
    expect([countText(1, 'event'), countText(2_000, 'event')]).toEqual(['1 event', '2,000 events'])
    expect(moment(Date.UTC(2026, 0, 31, 13, 5))).toMatch(/^Jan 3[01], 2026, \d\d:\d\d$/)
    expect([day('2026-01-31'), day('last spring'), axisDay(Date.UTC(2026, 0, 31) / 1000)]).toEqual([
      ...['Jan 31, 2026', 'last spring', '1/31'],
    ])
  })

  it('are those of German', () => {
    const { number, money, span, day, axisDay, percent } = formatsOf(['de-DE'])
    expect(number(1_234_567.5)).toBe('1.234.567,5')
    expect(money(30_000_000)).toMatch(/^0,0300\s\$$/)
    expect(span(3_100)).toMatch(/^3,1\s(?:s|Sek\.)$/)
    expect(percent(0.125)).toMatch(/^12,5\s?%$/)
    expect([day('2026-01-31'), axisDay(Date.UTC(2026, 0, 31) / 1000)]).toEqual(['31.01.2026', '31.1.'])
  })

  it('have the digits of Persian, and are isolated from the English text around them', () => {
    const { number, money, span, countText, clock } = formatsOf(['fa-IR', 'en'])
    expect(bare(number(1_234))).toBe('۱٬۲۳۴')
    expect(bare(money(30_000_000))).toContain('۰٫۰۳۰۰')
    expect(bare(countText(12, 'event'))).toBe('۱۲ events')
    expect(bare(clock(0))).toMatch(/^[۰-۹]{2}:[۰-۹]{2}:[۰-۹]{2}$/)
    for (const text of [...DURATIONS.map(span), money(5), number(7)]) {
      expect(text).toMatch(/^\u2068/)
      expect(text.split('\u2068').length).toBe(text.split('\u2069').length)
    }
  })

  it('name the exact time of ISO 8601 with the full form, in every language', () => {
    const at = fc.date({ min: new Date(0), max: new Date(4_102_444_800_000), noInvalidDate: true })
    fc.assert(
      fc.property(at, fc.constantFrom('en-US', 'de-DE', 'fa-IR', 'ar-EG', 'hi-IN', 'ja-JP'), (date, language) => {
        expect(formatsOf([language]).instant(date.getTime())).toContain(`(${date.toISOString()})`)
      }),
      { numRuns: 60 },
    )
  })

  it('skip languages that Intl refuses', () => {
    expect(formatsOf(['en-US@posix', 'de']).number(1_234)).toBe('1.234')
    expect(formatsOf(['en-US@posix']).number(7)).toBe('7')
  })
})

it('no other file of the page formats numbers or times', () => {
  const web = join(import.meta.dirname, '../../../api/web')
  const files = globSync('**/*.{ts,tsx}', { cwd: web, exclude: ['dist/**'] })
  expect(files.length).toBeGreaterThan(200)
  const formats =
    /toLocale(?:Time|Date)?String|Intl\.(?:Number|DateTime|Duration|RelativeTime)|toFixed|cli\/output\/units/
  // The zones test a name; the draft writes a decimal number for the API.
  const own = new Set(['parts/format.ts', 'habits/time-zone.ts', 'start/draft.ts'])
  expect(files.filter((file) => !own.has(file) && formats.test(readFileSync(join(web, file), 'utf8')))).toEqual([])
})
