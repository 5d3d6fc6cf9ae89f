import { byteLength, headOf } from '../../calls/truncate.ts'
import type { Json, JsonObject } from '../../log/json.ts'
import { wellFormed } from '../../log/well-formed.ts'
import { cost } from '../../tree/money.ts'
import type { Price } from '../../tree/spec.ts'
import { callIdOf, conversationOf, errorOf, kindOf, modelOf, operationOf, toolOf, usageOf } from './conventions.ts'
import { type Attributes, idFault, type OtlpSpan } from './otlp-span.ts'
import type { SpanUsage, UnnumberedSpan } from './span.ts'
import { tokensOf } from './usage.ts'

// Bounds of a stored span. `name` and `message`: UTF-8 bytes of each; `attributes`: how many; `bytes` and `eventBytes`: the
// JSON of the attributes of a span, and of each of its events, together.
const BOUNDS = {
  ...{ name: 256, message: 4_096, attributes: 1_024, bytes: 128 * 1024 },
  ...{ events: 64, eventBytes: 16 * 1024 },
} as const

/** The first instant of 2015. An earlier time is from a clock that was never set. */
const EARLIEST_NANO = 1_420_070_400_000_000_000n

/** How far the clock of a program may be ahead, in ms. */
const AHEAD_MS = 3_600_000

/** The trace of a span and the stored form of the span, or why the span is refused. */
export type SpanRead = { readonly traceId: string; readonly span: UnnumberedSpan } | { readonly fault: string }

/**
 * Reads a span by the conventions. Texts must not contain secrets: a cut could split one. `now`: when the span arrived, ms
 * since the epoch. `price`: the known price of a model; null: unknown.
 */
export function readSpan(given: OtlpSpan, now: number, price: (model: string) => Price | null): SpanRead {
  const latest = BigInt(now + AHEAD_MS) * 1_000_000n
  const fault = idFault(given) ?? timeFault(given, latest)
  if (fault !== null) return { fault }
  const { attributes: all, startNano, endNano } = given
  const { attributes, dropped } = bounded(all, BOUNDS.bytes)
  const events = given.events
    .slice(0, BOUNDS.events)
    .map((event) => ({ ...event, ...bounded(event.attributes, BOUNDS.eventBytes) }))
  const lost = Math.trunc(Math.max(0, Math.min(given.dropped, Number.MAX_SAFE_INTEGER / 2)))
  const left = lost + dropped + given.events.length - events.length + sum(events.map((one) => one.dropped))
  const kind = kindOf(all)
  const [model, tool] = [modelOf(all), kind === 'tool' ? (toolOf(all) ?? given.name) : null]
  const error = errorOf(given)
  const span: UnnumberedSpan = {
    spanId: given.spanId,
    ...(given.parentSpanId !== '' && { parentSpanId: given.parentSpanId }),
    ...(given.parentSpanId !== '' && isRemote(given) && { remote: true as const }),
    name: named(given.name),
    kind,
    ...(kind === 'model' && { operation: operationOf(all) }),
    ...nameMember('service', given.service),
    ...nameMember('scope', given.scope),
    ...nameMember('conversation', conversationOf(all)),
    startUs: microseconds(startNano),
    ...(endNano > 0n && { endUs: microseconds(endNano < startNano ? startNano : endNano) }),
    ...(error !== null && {
      error: { type: named(error.type), ...(error.message && { message: headOf(error.message, BOUNDS.message) }) },
    }),
    ...nameMember('model', kind === 'other' ? null : model),
    ...nameMember('tool', tool),
    ...nameMember('callId', callIdOf(all)),
    ...(kind === 'model' && endNano > 0n && { usage: priced(usageOf(all), model === null ? null : price(model)) }),
    ...(Object.keys(attributes).length > 0 && { attributes }),
    ...(events.length > 0 && {
      events: events.map((event) => ({
        name: named(event.name),
        atUs: microseconds(event.atNano > latest ? startNano : event.atNano),
        ...(Object.keys(event.attributes).length > 0 && { attributes: event.attributes }),
      })),
    }),
    ...(left > 0 && { dropped: left }),
  }
  return { traceId: given.traceId, span: wellFormed(span) }
}

function timeFault({ startNano, endNano }: OtlpSpan, latest: bigint): string | null {
  if (startNano <= 0n) return 'it has no start time'
  if (startNano < EARLIEST_NANO) return 'it starts before 2015; set the clock of the program'
  if (startNano > latest || endNano > latest) return 'its time is more than an hour ahead; set the clock of the program'
  return null
}

/** The flags of OTLP: bit 8 says that bit 9 is known, and bit 9 that the parent is in another process. */
const isRemote = ({ flags }: OtlpSpan): boolean => (flags & 0x300) === 0x300

const microseconds = (nano: bigint): number => Number(nano / 1_000n)

const named = (name: string): string => headOf(wellFormed(name), BOUNDS.name)

const nameMember = <K extends string>(key: K, name: string | null): { readonly [M in K]?: string } =>
  (name ? { [key]: named(name) } : {}) as { readonly [M in K]?: string }

/** The first attributes that fit, and the number of the others. */
function bounded(attributes: Attributes, most: number): { attributes: JsonObject; dropped: number } {
  const fit: [string, Json][] = []
  let bytes = 0
  const all = Object.entries(attributes)
  for (const [key, value] of all) {
    const size = byteLength(key) + byteLength(JSON.stringify(value))
    if (fit.length >= BOUNDS.attributes || bytes + size > most) continue
    bytes += size
    fit.push([key, value])
  }
  return { attributes: Object.fromEntries(fit), dropped: all.length - fit.length }
}

/** Adds the cost by a known price where the span reports none. */
function priced(usage: SpanUsage, price: Price | null): SpanUsage {
  const { input, output, ...cached } = tokensOf(usage)
  if (usage.cost !== null || price === null || input === null || output === null) return usage
  try {
    return { ...usage, cost: { nanoDollars: cost({ input, output, ...cached }, price), priced: true } }
  } catch (error) {
    if (error instanceof RangeError) return usage
    throw error
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
