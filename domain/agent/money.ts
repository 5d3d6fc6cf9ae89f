import type { Usage } from './content.ts'
import type { Price } from './spec.ts'

/** Cost of some usage in nano-dollars, rounded up. Prices are nano-dollars per million tokens. */
export function nanoDollarsOf(usage: Usage, price: Price): number {
  const exact =
    BigInt(usage.input) * BigInt(price.input) +
    BigInt(usage.output) * BigInt(price.output) +
    BigInt(usage.cacheRead) * BigInt(price.cacheRead) +
    BigInt(usage.cacheWrite) * BigInt(price.cacheWrite)
  return Number((exact + 999_999n) / 1_000_000n)
}
