import { z } from 'zod'
import { parseDollars } from '../../domain/tree/money.ts'
import { ModelInfo, type Price } from '../../domain/tree/spec.ts'
import { bindsThinking } from './claude.ts'
import { ANTHROPIC_PRICES, OPENAI_PRICES } from './prices.ts'

const PROVIDERS = ['anthropic', 'openai', 'scripted', 'own'] as const
/** `own`: a provider of the embedding program. */
export type ProviderId = (typeof PROVIDERS)[number]

const TIMEOUT_MS = 600_000

/**
 * Context windows and longest outputs, in tokens. The contexts end where the price rises (272,000, 200,000 or 100,000).
 */
const LIMITS: Readonly<Record<string, readonly [context: number, output: number]>> = {
  'claude-opus-4-5': [200_000, 64_000],
  'claude-sonnet-4-5': [200_000, 64_000],
  'claude-haiku-4-5': [200_000, 64_000],
  'claude-haiku-5-5': [100_000, 64_000],
  'gpt-5.6-luna': [200_000, 128_000],
}

/**
 * Limits of an unknown model, small enough for most models. `forcesCalls` is false, because a refused request would end
 * a run.
 */
const UNKNOWN = {
  contextTokens: 128_000,
  maxOutputTokens: 8_192,
  timeoutMs: TIMEOUT_MS,
  price: null,
  forcesCalls: false,
}

const dollars = z
  .union([z.string(), z.number().nonnegative()])
  .refine((v) => canParse(v), 'dollars per million tokens, such as 2.50, with at most nine decimals')

const EntryPrice = z.strictObject({
  asOf: z.string().min(1),
  input: dollars,
  output: dollars,
  cacheRead: dollars.optional(),
  cacheWrite: dollars.optional(),
})

/**
 * A model in the configuration. The catalogue supplies missing members. `price` is in dollars per million tokens;
 * missing cache prices equal `input`.
 */
export const ModelEntry = z.strictObject({
  id: z.string().min(1),
  provider: z.enum(PROVIDERS).optional(),
  contextTokens: ModelInfo.shape.contextTokens.optional(),
  maxOutputTokens: ModelInfo.shape.maxOutputTokens.optional(),
  timeoutMs: ModelInfo.shape.timeoutMs.optional(),
  forcesCalls: z.boolean().optional(),
  tools: ModelInfo.shape.tools,
  vision: ModelInfo.shape.vision,
  quality: ModelInfo.shape.quality,
  price: EntryPrice.nullable().optional(),
})
export type ModelEntry = z.infer<typeof ModelEntry>

/** Requests per minute by provider. */
export const RateLimits = z.partialRecord(
  z.enum(PROVIDERS),
  z.strictObject({ requestsPerMinute: z.int().positive().max(1_000_000) }),
)
export type RateLimits = z.infer<typeof RateLimits>

/** Every model of the catalogue. */
export function catalogue(): ModelInfo[] {
  return [...Object.keys(ANTHROPIC_PRICES), ...Object.keys(OPENAI_PRICES)].map((id) => catalogInfo(id))
}

/**
 * The limits and the price of a model. Looks up the name without a date suffix in the catalogue; an unknown model gets
 * defaults without a price. `overrides` win. The id keeps a provider prefix (`openai:gpt-5.5`).
 */
export function catalogInfo(id: string, overrides: Partial<Omit<ModelEntry, 'id'>> = {}): ModelInfo {
  const { provider: named, name } = splitModelId(id)
  const provider = overrides.provider ?? named ?? providerOf(name) ?? 'openai'
  const known = named === 'scripted' ? SCRIPTED : published(name, provider)
  const given = Object.fromEntries(Object.entries(overrides).filter(([, v]) => v !== undefined))
  const own = overrides.price ? { price: priceOf(overrides.price) } : {}
  return ModelInfo.parse({ ...UNKNOWN, ...known, ...given, ...own, id, provider })
}

function priceOf({ asOf, input, output, cacheRead = input, cacheWrite = input }: z.infer<typeof EntryPrice>): Price {
  const nano = (v: string | number) => parseDollars(String(v))
  return { asOf, input: nano(input), output: nano(output), cacheRead: nano(cacheRead), cacheWrite: nano(cacheWrite) }
}

/** Limits of a script. A script costs nothing. */
const SCRIPTED: Partial<ModelInfo> = {
  contextTokens: 200_000,
  maxOutputTokens: 32_000,
  forcesCalls: true,
  price: { asOf: 'scripted', input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
}

function published(name: string, provider: ProviderId): Partial<ModelInfo> {
  const plain = name.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '')
  const limits = LIMITS[plain]
  if (provider === 'anthropic' && /^claude-/.test(plain)) {
    const [contextTokens, maxOutputTokens] = limits ?? [1_000_000, 128_000]
    const price = ANTHROPIC_PRICES[plain] ?? null
    const size = price ? { contextTokens, maxOutputTokens } : { contextTokens: 200_000, maxOutputTokens: 64_000 }
    return { ...size, price, forcesCalls: !bindsThinking(plain) }
  }
  const price = provider === 'openai' ? OPENAI_PRICES[plain] : undefined
  if (!price) return {}
  const [contextTokens, maxOutputTokens] = limits ?? [272_000, 128_000]
  return { contextTokens, maxOutputTokens, price, forcesCalls: true }
}

/** `provider:name`, or a plain name. */
export function splitModelId(id: string): { provider: ProviderId | null; name: string } {
  const match = /^(anthropic|openai|scripted|own):(.+)$/s.exec(id)
  return match ? { provider: match[1] as ProviderId, name: match[2]! } : { provider: null, name: id }
}

/** The provider of a plain name by the model's family; null if unknown. */
export function providerOf(name: string): ProviderId | null {
  if (/^claude-/.test(name)) return 'anthropic'
  return /^(gpt-|o\d|chatgpt-)/.test(name) ? 'openai' : null
}

/** The highest price of a million tokens, in nano-dollars, so that products stay safe integers. */
const DEAREST = 10_000_000_000_000

function canParse(value: string | number): boolean {
  try {
    return parseDollars(String(value)) <= DEAREST
  } catch {
    return false
  }
}
