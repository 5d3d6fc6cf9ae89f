import { CommandRejected } from '../agent/errors.ts'
import { READER } from '../log/envelope.ts'
import type { Place } from '../stream/aggregate.ts'
import type { ExternalCommand, ExternalContext, ExternalFact } from './commands.ts'
import { Deciding, type ExternalDecision } from './deciding.ts'
import { type ExternalState, inDoubt, isFinished } from './state.ts'
import type { Usage } from './usage.ts'

/** Decides a command. Only a start is refused (`RUN_EXISTS`, `RUN_UNKNOWN`); a cancel of a finished run changes nothing. */
export function decide(
  state: ExternalState | null,
  place: Place,
  command: ExternalCommand,
  context: ExternalContext,
): ExternalDecision {
  const d = new Deciding(state, place, context)
  take(d, command, context)
  return d.decision
}

function take(d: Deciding, command: ExternalCommand, context: ExternalContext): void {
  const { state } = d
  if (command.kind === 'series') for (const one of command.commands) take(d, one, context)
  else if (command.kind === 'start') start(d, state, command, context)
  else if (state === null) throw new CommandRejected('RUN_UNKNOWN', 'there is no such external run; start it first')
  else if (command.kind === 'cancel') cancel(d, state, command)
  else bring(d, state, command)
}

function start(
  d: Deciding,
  state: ExternalState | null,
  command: Extract<ExternalCommand, { kind: 'start' }>,
  { commandId }: ExternalContext,
): void {
  if (state?.commands[0] === commandId) return
  if (state !== null) throw new CommandRejected('RUN_EXISTS', 'this external run was started before')
  const { backend, request, capabilities, parent } = command
  const about = parent === undefined ? {} : { runId: parent.runId }
  const { runId: _, ...from } = parent ?? {}
  d.emit(
    'external_started',
    { backend, request, capabilities: [...capabilities], ...(parent !== undefined && { parent: from as never }) },
    about,
  )
}

function cancel(d: Deciding, state: ExternalState, { reason, by }: Extract<ExternalCommand, { kind: 'cancel' }>): void {
  if (isFinished(state) || state.cancelledAt !== null) return
  d.emit('cancel_requested', reason === undefined ? {} : { reason }, by === undefined ? {} : { by })
  if (state.stage.at === 'requested') d.emit('external_ended', { outcome: 'cancelled', exit: null })
}

function bring(d: Deciding, state: ExternalState, fact: ExternalFact): void {
  const running = state.stage.at === 'running'
  switch (fact.kind) {
    case 'claim': {
      if (isFinished(state) || state.driver?.id === fact.driverId) return
      const epoch = (state.driver?.epoch ?? 0) + 1
      d.emit('driver_claimed', { driverId: fact.driverId, epoch, minReader: READER, build: fact.build })
      return
    }
    case 'proceed':
      if (state.stage.at === 'requested' && d.drives) d.emit('process_start', { epoch: state.driver!.epoch })
      return
    case 'batch': {
      const events = fact.events.slice(Math.max(0, state.events.count - fact.first))
      if (fact.first > state.events.count) throw new Error('a batch is missing: bring in the batches in order')
      if (running && events.length > 0) d.emit('agent_events', { first: state.events.count, events: [...events] })
      return
    }
    case 'session':
      if (running && state.sessionId !== fact.sessionId) d.emit('session_known', { sessionId: fact.sessionId })
      return
    case 'usage':
      if (running) d.emit('usage_reported', ownUsage(state, fact.usage))
      return
    case 'end':
      if (running) d.emit('external_ended', fact.outcome)
      else if (state.stage.at === 'requested' && ['failed', 'cancelled'].includes(fact.outcome.outcome))
        d.emit('external_ended', fact.outcome)
      else if (state.stage.at === 'ended' && isUnlearned(state) && fact.outcome.outcome !== 'unknown')
        d.emit('outcome_learned', fact.outcome)
      return
    case 'reaped':
      if (!inDoubt(state)) return
      d.emit('external_ended', { outcome: 'unknown', reason: unknownReason(fact.ended) })
  }
}

/** Extensions with which a run goes on in an earlier session. */
const GOES_ON = ['agent_api.session.resume.v1', 'agent_api.session.fork.v1']

/** A session that the run began itself holds the run alone. */
function ownUsage({ request: { extensions = {} } }: ExternalState, usage: Usage): Usage {
  if (GOES_ON.some((name) => Object.hasOwn(extensions, name))) return usage
  return { ...usage, scope: 'run', cost: usage.cost && { ...usage.cost, scope: 'run' } }
}

const isUnlearned = ({ stage }: ExternalState): boolean =>
  stage.at === 'ended' && stage.outcome.kind === 'unknown' && !stage.outcome.learned

const unknownReason = (ended: number): string =>
  ended === 0
    ? 'the program that ran the agent was gone; how the agent ended was not seen'
    : 'the program that ran the agent was gone; its process was found and ended'
