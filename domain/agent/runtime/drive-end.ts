import type { RuntimePorts } from '../../ports/runtime.ts'
import type { DecisionContext } from '../decide/context.ts'
import { decide } from '../decide/decide.ts'
import { waitingFor, waitsForAgents, waitsOf } from '../decide/waiting.ts'
import { type AgentState, activityOf, callsOf, isFinished } from '../state/state.ts'
import type { DriveEnd } from './types.ts'

/** How the drive of one agent ends. `resting`: it waits for other agents, and for nothing else. */
export type AgentEnd = DriveEnd | { readonly end: 'resting' }

/** How the drive of an agent ends in this state where nothing of it is at work; null: it goes on. */
export function endOf(state: AgentState): AgentEnd | null {
  const { machine } = state
  if (machine.status === 'DONE') return { end: 'done' }
  if (machine.status === 'ERROR') return { end: 'error', code: machine.code, error: machine.error }
  const waits = waitingFor(state)
  if (waits === null && waitsForAgents(state)) return { end: 'resting' }
  // A model recovers by itself, so its driver waits for it.
  if (waits === null || waits === 'model') return null
  const toolCallIds = waitsOf(state).flatMap(({ toolCallId }) => toolCallId ?? [])
  return { end: 'waiting', for: waits, toolCallIds }
}

/**
 * How a drive would end that finds nothing to do now; null: there is something, or no driver has claimed the agent yet, as
 * its first driver does. Decides what a new driver would and records nothing: an agent that waits for people is not
 * written to by being looked at.
 */
export function idleEnd(state: AgentState, { clock, build }: Pick<RuntimePorts, 'clock' | 'build'>): AgentEnd | null {
  if (isFinished(state)) return endOf(state)
  if (state.driver === null) return null
  const { agentId, runId, revision } = state
  const context: DecisionContext = {
    now: clock.now(),
    // Of what is thrown away nothing needs to be random.
    salt: () => new Uint8Array(16),
    jitter: () => 0,
    by: { kind: 'driver', id: LOOKER },
    commandId: 'look',
  }
  const claim = { kind: 'claim', driverId: LOOKER, build } as const
  const claimed = decide(state, { agentId, runId, revision }, claim, context).state ?? state
  const driver = { id: LOOKER, epoch: claimed.driver?.epoch ?? 0 }
  const identity = { agentId, runId, revision: claimed.revision }
  const next = decide(claimed, identity, { kind: 'proceed' }, { ...context, driver })
  return next.drafts.length > 0 ? null : endOf(claimed)
}

/** An actor that claims no driver. */
const LOOKER = 'looker'

/** Whether a driver has begun something of which the log knows no end. */
export function isAtWork(state: AgentState): boolean {
  const activity = activityOf(state.machine)
  const calling = activity?.status === 'THINKING' && activity.model.at === 'calling'
  return calling || state.compression.summarizing !== null || callsOf(state).some((call) => call.stage.at === 'running')
}
