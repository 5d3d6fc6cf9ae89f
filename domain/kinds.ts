import { agent } from './agent/decide/aggregate.ts'
import { document, gateway } from './document/stream/aggregate.ts'
import { external } from './external/aggregate.ts'
import { LOG_META } from './log/ids.ts'
import { kindOf } from './log/owner.ts'
import { memory } from './memory/aggregate.ts'
import { proof } from './proof/kind.ts'
import { context } from './store/aggregate.ts'
import type { Aggregate, AnyAggregate, StreamContext, StreamEvent } from './stream/aggregate.ts'

const OWN = [agent, document, gateway, external, context, memory, proof] as const

const kinds = new Map<string, AnyAggregate>()

/** Every kind of stream in this program, by the first part of the streams' names. */
export const AGGREGATES: ReadonlyMap<string, AnyAggregate> = kinds

/** Streams without a state: claims of idempotency keys. */
const STATELESS: readonly string[] = ['key']

/** Adds a kind of stream. Call it before a log is opened. Throws for a name that is taken. */
export function addKind<State, Event extends StreamEvent, Command, Context extends StreamContext>(
  aggregate: Aggregate<State, Event, Command, Context>,
): void {
  const { kind } = aggregate
  if (!/^[a-z][a-z0-9]*$/.test(kind) || isKind(kind) || kind === kindOf(LOG_META))
    throw new Error(`"${kind}" cannot name a new kind of stream; use other letters and digits`)
  kinds.set(kind, aggregate as unknown as AnyAggregate)
}

for (const one of OWN) addKind(one as unknown as AnyAggregate)

/** Whether keepup writes streams of this kind. */
export function isKind(kind: string): boolean {
  return kinds.has(kind) || STATELESS.includes(kind)
}
