import type { Usage } from '../calls/content.ts'
import type { Price } from './spec.ts'

const MILLION = 1_000_000n
const NANO = 1_000_000_000n
const MOST = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * The cost of a usage in integer nano-dollars, rounded up once (so the sum of two costs is at most 1 above the cost of
 * the sum). Computed exactly. Throws `RangeError` above 9,007,199 dollars, because JSON numbers cannot represent larger
 * amounts exactly.
 */
export function cost(usage: Usage, price: Price): number {
  const total =
    BigInt(usage.input) * BigInt(price.input) +
    BigInt(usage.output) * BigInt(price.output) +
    BigInt(usage.cacheRead) * BigInt(price.cacheRead) +
    BigInt(usage.cacheWrite) * BigInt(price.cacheWrite)
  return toNumber((total + MILLION - 1n) / MILLION)
}

/** The sum of all tokens, which a token budget counts. */
export const totalTokens = (u: Usage): number => u.input + u.output + u.cacheRead + u.cacheWrite

/**
 * Converts decimal dollars (`2.50`, `$0.0015`) to exact nano-dollars. Throws `RangeError` if the text is not such a
 * decimal, has more than nine decimals, or is above 9,007,199 dollars.
 */
export function parseDollars(text: string): number {
  const match = /^\$?(\d{1,12})(?:\.(\d{1,9}))?$/.exec(text.trim())
  if (!match) throw new RangeError('an amount of dollars is written like 2.50, with at most nine decimals')
  return toNumber(BigInt(match[1]!) * NANO + BigInt((match[2] ?? '').padEnd(9, '0')))
}

function toNumber(nanoDollars: bigint): number {
  if (nanoDollars > MOST) throw new RangeError('an amount above 9,007,199 dollars cannot be counted in nano-dollars')
  return Number(nanoDollars)
}
