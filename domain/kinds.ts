import { agent } from './agent/decide/aggregate.ts'
import { document, gateway } from './document/stream/aggregate.ts'
import { external } from './external/aggregate.ts'
import { memory } from './memory/aggregate.ts'
import { context } from './store/aggregate.ts'
import type { AnyAggregate } from './stream/aggregate.ts'

/** Every kind of stream that this program knows. */
export const AGGREGATES: ReadonlyMap<string, AnyAggregate> = new Map(
  ([agent, document, gateway, external, context, memory] as unknown as AnyAggregate[]).map((one) => [one.kind, one]),
)
