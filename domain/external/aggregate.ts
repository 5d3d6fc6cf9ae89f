import { CommandRejected } from '../agent/errors.ts'
import type { Aggregate } from '../stream/aggregate.ts'
import { reading } from './codec.ts'
import type { ExternalCommand, ExternalContext } from './commands.ts'
import { decide } from './decide.ts'
import { digest, FOLD } from './digest.ts'
import { erasing } from './erasing.ts'
import type { ExternalEvent } from './events.ts'
import { evolve, REMEMBERED } from './evolve.ts'
import { wakeAt } from './owed.ts'
import type { ExternalState } from './state.ts'

/** Runs of other agents: the streams `external-<agentId>`. */
export const external: Aggregate<ExternalState, ExternalEvent, ExternalCommand, ExternalContext> = {
  kind: 'external',
  fold: FOLD,
  ...reading,
  evolve,
  decide,
  wakeAt,
  digest,
  commands: (state) => state.commands,
  remembered: REMEMBERED,
  reject: (code, message) => new CommandRejected(code, message),
  erasing,
}
