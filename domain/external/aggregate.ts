import type { Aggregate } from '../stream/aggregate.ts'
import { decode } from './codec.ts'
import type { ExternalCommand, ExternalContext } from './commands.ts'
import { decide } from './decide.ts'
import { digest, FOLD } from './digest.ts'
import type { ExternalEvent } from './events.ts'
import { evolve } from './evolve.ts'
import { type ExternalOwed, owed, wakeAt } from './owed.ts'
import type { ExternalState } from './state.ts'

/** Runs of other agents: the streams `external-<agentId>`. */
export const external = {
  kind: 'external',
  fold: FOLD,
  decode,
  evolve,
  decide,
  owed,
  wakeAt,
  digest,
} as const satisfies Aggregate<ExternalState, ExternalEvent, ExternalCommand, ExternalContext, ExternalOwed>
