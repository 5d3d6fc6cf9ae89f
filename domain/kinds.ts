import { agent } from './agent/decide/aggregate.ts'
import { document, gateway } from './document/stream/aggregate.ts'
import { external } from './external/aggregate.ts'
import { memory } from './memory/aggregate.ts'
import { context } from './store/aggregate.ts'
import type { AnyAggregate } from './stream/aggregate.ts'

/** Every kind of stream in this program. */
export const AGGREGATES: ReadonlyMap<string, AnyAggregate> = new Map<string, AnyAggregate>([
  [agent.kind, agent as unknown as AnyAggregate],
  [document.kind, document as unknown as AnyAggregate],
  [gateway.kind, gateway as unknown as AnyAggregate],
  [external.kind, external as unknown as AnyAggregate],
  [context.kind, context as unknown as AnyAggregate],
  [memory.kind, memory as unknown as AnyAggregate],
])
