/** Nano-dollars as dollars: `$0.0123`; `?` if a price is unknown. */
export function dollars(nano: number | null): string {
  if (nano === null) return '?'
  const digits = nano !== 0 && nano < 10_000_000 ? 6 : 4
  return `$${(nano / 1e9).toFixed(digits)}`
}

interface Used {
  readonly inputTokens: number | null
  readonly cacheReadTokens: number | null
  readonly cacheWriteTokens: number | null
  readonly outputTokens: number | null
  readonly nanoDollars: number | null
}

/** The tokens and money of a bill. `?`: an external agent has not reported the value. */
export function used({ inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, nanoDollars }: Used): string {
  const input = inputTokens === null ? '?' : inputTokens + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0)
  return `${input} tokens in, ${outputTokens ?? '?'} out, ${dollars(nanoDollars)}`
}

/** The estimated part of a bill, for the end of its line. Empty if there is none. */
export function estimateText(part: { modelCalls: number; tokens: number; nanoDollars: number | null }): string {
  const { modelCalls, tokens, nanoDollars } = part
  if (modelCalls === 0) return ''
  const calls = modelCalls === 1 ? 'a model call' : `${modelCalls} model calls`
  return `; of it ${tokens} tokens, ${dollars(nanoDollars)} in doubt: estimated for ${calls} whose end was not seen`
}

/** Bytes with a binary unit. */
export function bytes(n: number | null): string {
  if (n === null) return '?'
  if (n < 1024) return `${n} B`
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  let value = n
  let unit = -1
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${value.toFixed(1)} ${units[unit]}`
}
