import { parseDollars } from '../../domain/tree/money.ts'
import type { Price } from '../../domain/tree/spec.ts'

// Published prices of the standard tier, in dollars per million tokens: input, output, cache read, cache write
// (Anthropic: 5 minutes). If a provider's price rises above some prompt length, the catalogue limits the context to
// that length.

const price =
  (asOf: string) =>
  (input: string, output: string, cacheRead: string, cacheWrite: string): Price => ({
    asOf,
    input: parseDollars(input),
    output: parseDollars(output),
    cacheRead: parseDollars(cacheRead),
    cacheWrite: parseDollars(cacheWrite),
  })

const claude = price('2026-10-24')
const gpt = price('2026-10-27')

/** Anthropic's published prices, as of 2026-10-24, in nano-dollars per million tokens. */
export const ANTHROPIC_PRICES: Readonly<Record<string, Price>> = {
  'claude-fable-5-1': claude('10', '50', '0.25', '12.50'),
  'claude-fable-5': claude('10', '50', '1', '12.50'),
  'claude-opus-5-5': claude('4', '20', '0.20', '5'),
  'claude-opus-5': claude('5', '25', '0.50', '6.25'),
  'claude-opus-4-8': claude('5', '25', '0.50', '6.25'),
  'claude-opus-4-7': claude('5', '25', '0.50', '6.25'),
  'claude-opus-4-6': claude('5', '25', '0.50', '6.25'),
  'claude-opus-4-5': claude('5', '25', '0.50', '6.25'),
  'claude-sonnet-5-5': claude('2', '10', '0.10', '2.50'),
  'claude-sonnet-5': claude('2', '10', '0.20', '2.50'),
  'claude-sonnet-4-6': claude('3', '15', '0.30', '3.75'),
  'claude-sonnet-4-5': claude('3', '15', '0.30', '3.75'),
  'claude-haiku-5-5': claude('0.10', '0.50', '0.01', '0.125'),
  'claude-haiku-4-5': claude('1', '5', '0.10', '1.25'),
}

/**
 * OpenAI's published prices, as of 2026-10-27, in nano-dollars per million tokens. Cache writes without a price cost as
 * much as input.
 */
export const OPENAI_PRICES: Readonly<Record<string, Price>> = {
  'gpt-6.1-sol': gpt('2', '10', '0.10', '2.50'),
  'gpt-6.1-terra': gpt('1', '5', '0.05', '1.25'),
  'gpt-6-sol': gpt('2', '10', '0.20', '2.50'),
  'gpt-6-luna': gpt('0.10', '0.50', '0.01', '0.125'),
  'gpt-5.6-sol': gpt('5', '30', '0.50', '6.25'),
  'gpt-5.6-terra': gpt('2', '12', '0.20', '2.50'),
  'gpt-5.6-luna': gpt('0.20', '1.20', '0.02', '0.25'),
  'gpt-5.5': gpt('5', '30', '0.50', '5'),
  'gpt-5.4': gpt('2.50', '15', '0.25', '2.50'),
  'gpt-5.4-mini': gpt('0.75', '4.50', '0.075', '0.75'),
  'gpt-5.4-nano': gpt('0.20', '1.25', '0.02', '0.20'),
  'gpt-5-mini': gpt('0.25', '2', '0.025', '0.25'),
}
