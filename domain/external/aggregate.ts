import type { Aggregate } from '../stream/aggregate.ts'
import { checkKnown, decode, decodeKept } from './codec.ts'
import type { ExternalCommand, ExternalContext } from './commands.ts'
import { decide } from './decide.ts'
import { digest, FOLD } from './digest.ts'
import { erasing } from './erasing.ts'
import { type ExternalEvent, versions } from './events.ts'
import { evolve } from './evolve.ts'
import { type ExternalOwed, owed, wakeAt } from './owed.ts'
import type { ExternalState } from './state.ts'

type ExternalAggregate = Aggregate<ExternalState, ExternalEvent, ExternalCommand, ExternalContext, ExternalOwed>

/** Runs of other agents: the streams `external-<agentId>`. */
export const external = {
  kind: 'external',
  fold: FOLD,
  versions,
  decode,
  decodeKept,
  checkKnown,
  evolve,
  decide,
  owed,
  wakeAt,
  digest,
  erasing,
} as const satisfies ExternalAggregate & Record<string, unknown>
