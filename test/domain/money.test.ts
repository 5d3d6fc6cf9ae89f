import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Usage } from '../../domain/calls/content.ts'
import { cost, parseDollars, totalTokens } from '../../domain/tree/money.ts'
import type { Price } from '../../domain/tree/spec.ts'

const options = process.env.FC_SEED ? { seed: Number(process.env.FC_SEED) } : {}
const count = fc.nat({ max: 1_000_000_000 })
const usage: fc.Arbitrary<Usage> = fc.record({ input: count, output: count, cacheRead: count, cacheWrite: count })
const rate = fc.nat({ max: 200_000_000_000 })
const price: fc.Arbitrary<Price> = fc.record({
  asOf: fc.constant('2026-01-01'),
  input: rate,
  output: rate,
  cacheRead: rate,
  cacheWrite: rate,
})
const three: Price = {
  asOf: '2026-01-01',
  input: 3_000_000_000,
  output: 15_000_000_000,
  cacheRead: 300_000_000,
  cacheWrite: 3_750_000_000,
}

const addUsage = (a: Usage, b: Usage): Usage => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
})

test('a million tokens cost what the table says', () => {
  const of = (change: Partial<Usage>) => cost({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...change }, three)
  expect(of({ input: 1_000_000 })).toBe(3_000_000_000)
  expect(of({ output: 1_000_000 })).toBe(15_000_000_000)
  expect(of({ cacheRead: 1_000_000 })).toBe(300_000_000)
  expect(of({ cacheWrite: 1_000_000 })).toBe(3_750_000_000)
  expect(of({ input: 1 })).toBe(3000)
})

test('a part of a nano-dollar counts as a whole one', () => {
  expect(cost({ input: 1, output: 0, cacheRead: 0, cacheWrite: 0 }, { ...three, input: 1 })).toBe(1)
})

test('cost is additive within one nano-dollar, and never too low', () => {
  fc.assert(
    fc.property(usage, usage, price, (a, b, p) => {
      const together = cost(addUsage(a, b), p)
      const apart = cost(a, p) + cost(b, p)
      expect(apart - together === 0 || apart - together === 1).toBe(true)
    }),
    options,
  )
})

test('cost is monotone, whole and never negative', () => {
  fc.assert(
    fc.property(usage, usage, price, (a, more, p) => {
      expect(cost(a, p)).toBeGreaterThanOrEqual(0)
      expect(Number.isSafeInteger(cost(a, p))).toBe(true)
      expect(cost(addUsage(a, more), p)).toBeGreaterThanOrEqual(cost(a, p))
    }),
    options,
  )
})

test('an amount beyond what JSON holds exactly is refused, not rounded', () => {
  const huge = { input: Number.MAX_SAFE_INTEGER, output: 0, cacheRead: 0, cacheWrite: 0 }
  expect(() => cost(huge, three)).toThrow(RangeError)
})

test.each([
  ['0', 0],
  ['1.50', 1_500_000_000],
  ['$0.0015', 1_500_000],
  [' 0.000000001 ', 1],
  ['9007199.254740991', Number.MAX_SAFE_INTEGER],
])('%s dollars are %d nano-dollars', (text, nano) => {
  expect(parseDollars(text)).toBe(nano)
})

test('every whole number of nano-dollars can be written', () => {
  fc.assert(
    fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), (nano) => {
      const digits = String(nano).padStart(10, '0')
      expect(parseDollars(`${digits.slice(0, -9)}.${digits.slice(-9)}`)).toBe(nano)
    }),
    options,
  )
})

test.each(['', 'x', '-1', '1.', '1e3', '0.0000000001', '9007200'])('%j is no amount of dollars', (text) => {
  expect(() => parseDollars(text)).toThrow(RangeError)
})

test('all four kinds of tokens count', () => {
  expect(totalTokens({ input: 1, output: 2, cacheRead: 4, cacheWrite: 8 })).toBe(15)
})
