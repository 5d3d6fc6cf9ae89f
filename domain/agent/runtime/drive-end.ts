import type { RuntimePorts } from '../../ports/runtime.ts'
import type { DriveEnd } from '../../tree/runtime/drive.ts'
import { decideAgent } from '../decide/decide.ts'
import type { DecisionContext } from '../decide/decision-context.ts'
import { waitingFor, waitsForAgents, waitsOf } from '../decide/waiting.ts'
import { type AgentState, activityOf, callsOf, isFinished } from '../state/state.ts'

/** The end of one agent's drive. `resting`: the agent waits only for other agents. */
export type AgentEnd = DriveEnd | { readonly end: 'resting' }

/** The end of the drive in this state, if no effect is running; null: the drive continues. */
export function endOf(state: AgentState): AgentEnd | null {
  const { machine } = state
  if (machine.status === 'DONE') return { end: 'done' }
  if (machine.status === 'ERROR') return { end: 'error', code: machine.code, error: machine.error }
  const waits = waitingFor(state)
  if (waits === null && waitsForAgents(state)) return { end: 'resting' }
  // The driver waits for a model, because a model recovers without a person.
  if (waits === null || waits === 'model') return null
  const toolCallIds = waitsOf(state).flatMap(({ toolCallId }) => toolCallId ?? [])
  return { end: 'waiting', for: waits, toolCallIds }
}

/**
 * The end of a drive that finds nothing to do now; null: there is something to do, or no driver has claimed the agent
 * yet. Simulates a new driver's decisions without recording them, so that an inspection does not write to an agent that
 * waits for people.
 */
export function idleEnd(state: AgentState, { clock, build }: Pick<RuntimePorts, 'clock' | 'build'>): AgentEnd | null {
  if (isFinished(state)) return endOf(state)
  if (state.driver === null) return null
  const { agentId, runId, revision } = state
  const context: DecisionContext = {
    now: clock.now(),
    // The simulated events are discarded, so nothing needs to be random.
    salt: () => new Uint8Array(16),
    jitter: () => 0,
    by: { kind: 'driver', id: LOOKER },
    commandId: 'look',
  }
  const claim = { kind: 'claim', driverId: LOOKER, build } as const
  const claimed = decideAgent(state, { agentId, runId, revision }, claim, context).state ?? state
  const driver = { id: LOOKER, epoch: claimed.driver?.epoch ?? 0 }
  const identity = { agentId, runId, revision: claimed.revision }
  const next = decideAgent(claimed, identity, { kind: 'proceed' }, { ...context, driver })
  return next.drafts.length > 0 ? null : endOf(claimed)
}

/** The id of the simulated driver, which never claims the agent. */
const LOOKER = 'looker'

/** Whether a driver has started an effect without a recorded end. */
export function isAtWork(state: AgentState): boolean {
  const activity = activityOf(state.machine)
  const calling = activity?.status === 'THINKING' && activity.model.at === 'calling'
  return calling || state.compression.summarizing !== null || callsOf(state).some((call) => call.stage.at === 'running')
}
