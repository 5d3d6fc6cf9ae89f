import type { Json } from '../../log/json.ts'
import type { SecretBoundary } from '../../ports/runtime.ts'
import { isSecretKey } from '../../secrets/key-names.ts'
import type { YieldToEventLoop } from '../../stream/runtime/yield-to-event-loop.ts'
import { filteredParts, resultFilter } from './redact-parts.ts'

/** The size of one batch of redaction, and the weight of one value. A string also weighs its characters. */
const [BATCH, VALUE] = [64 * 1024, 64]

type Member = readonly [key: string, value: Json]

/**
 * A tool's JSON without secrets, as `secrets.result` returns it. Works in batches and yields between them, because a
 * result may contain a million values. A string longer than a batch is redacted in parts, in which patterns match only
 * within a line.
 */
export async function redactLarge(
  secrets: SecretBoundary,
  json: Json,
  yieldToEventLoop: YieldToEventLoop,
): Promise<Json> {
  const weights = new Map<Json, number>()
  const weightOf = (value: Json) => weights.get(value) ?? ownWeight(value)

  async function visit(value: Json): Promise<Json> {
    if (typeof value === 'string' && weightOf(value) > BATCH)
      return (await Array.fromAsync(filteredParts(resultFilter(secrets), value, yieldToEventLoop))).join('')
    if (value === null || typeof value !== 'object' || weightOf(value) <= BATCH) return secrets.result(value)
    if (!Array.isArray(value)) return Object.fromEntries(await visitMembers(Object.entries(value), redactObject))
    const items = value.map((item, index): Member => [String(index), item])
    return (await visitMembers(items, redactItems)).map(([, item]) => item)
  }
  /** Batches light values and splits heavy ones. */
  async function visitMembers(members: readonly Member[], redact: typeof redactObject): Promise<Member[]> {
    const done: Member[] = []
    let batch: Member[] = []
    let weight = 0
    const flush = async () => {
      for (const member of redact(batch)) done.push(member)
      ;[batch, weight] = [[], 0]
      await yieldToEventLoop()
    }
    for (const [key, value] of members) {
      const own = key.length + weightOf(value)
      if (weight > 0 && weight + own > BATCH) await flush()
      if (own > BATCH && (typeof value === 'string' ? !isSecretKey(key) : isParent(value))) {
        const [[shown] = [key]] = redact([[key, null]])
        done.push([shown, await visit(value)])
      } else {
        batch.push([key, value])
        weight += own
      }
    }
    await flush()
    return done
  }
  const redactObject = (batch: Member[]): Member[] =>
    Object.entries(secrets.result(Object.fromEntries(batch)) as Record<string, Json>)
  const redactItems = (batch: Member[]): Member[] =>
    (secrets.result(batch.map(([, item]) => item)) as Json[]).map((item) => ['', item])

  return weigh(json, weights) <= BATCH ? secrets.result(json) : visit(json)
}

const isParent = (value: Json) => value !== null && typeof value === 'object'

const ownWeight = (value: Json) => VALUE + (typeof value === 'string' ? value.length : 0)

/** The weight of a value including its members. Stores the weight of each array and object. */
function weigh(value: Json, weights: Map<Json, number>): number {
  if (value === null || typeof value !== 'object') return ownWeight(value)
  let sum = VALUE
  if (Array.isArray(value)) for (const item of value) sum += weigh(item, weights)
  else for (const [key, item] of Object.entries(value)) sum += key.length + weigh(item, weights)
  weights.set(value, sum)
  return sum
}
