import type { PlannedCall } from '../../domain/agent/events/events.ts'
import { collide } from '../../domain/agent/rules/scheduling.ts'
import { toolCallId } from '../../domain/log/ids.ts'
import { millis } from '../text.ts'
import { type Change, clear, put, remove } from './change.ts'
import type { Seen } from './event.ts'

/**
 * Why an agent is woken:
 * - `start`: something new is owed (a model call, a tool call); not while the agent is paused;
 * - `turn`: the next turn is owed; not while the agent is paused, nor while it waits for input;
 * - `retry`: the same, later; `model`: the same, when the models that have all failed are asked again; `drive`: an effect is in flight, a refused call is to end, or what has ended is to
 *   be judged: owed even in a pause;
 * - `approval`: it expires then; `cancel`: the tree is to be cancelled; `parked`: nobody here can tell.
 */
export type DueReason = 'start' | 'turn' | 'retry' | 'model' | 'drive' | 'approval' | 'cancel' | 'parked'

/**
 * Changes of `due`: one row per cause, so that calls side by side do not hide each other. Where an event leaves open
 * whether something is owed, something is: a stale row costs a wasted load. A claim moves nothing: what was owed before
 * it has its rows, and an agent that waits for a person is not woken again by having been looked at. What makes a cause wait
 * (a pause, input that is asked for, calls that are open) is taken out by the sweep's query: what was owed before it is
 * owed after it.
 */
export function due(e: Seen): Change[] {
  switch (e.type) {
    case 'driver_claimed':
    case 'paused':
    case 'resumed':
    case 'step_requested':
    case 'loss_accepted':
    case 'residue':
    case 'request_noted':
    case 'standing_approval':
    case 'workspace_drifted':
    case 'erased':
    case 'late_outcome':
    case 'model_late':
      return []
    case 'agent_started':
      return e.body?.parent ? [agent(e, 'start')] : []
    case 'model_call_start':
      return [remove('due', { agent_id: e.agentId, cause: 'agent' }), row(e, 'model', 'drive', e.at)]
    case 'model_attempt_lost':
      return [answered(e), agent(e, 'start')]
    case 'model_call_end': {
      const calls = e.body?.calls ?? []
      if (calls.length === 0) return [answered(e), agent(e, 'drive')]
      const each = calls.map((one, index) =>
        row(e, idOf(e, index), one.refused ? 'drive' : 'start', e.at, { behind: behind(e, calls, index) }),
      )
      return [answered(e), remove('due', { agent_id: e.agentId, cause: 'agent' }), ...each]
    }
    case 'tool_call_start':
      return [call(e, e.body && !e.body.intent ? 'start' : 'drive')]
    case 'tool_call_intent':
      return [call(e, 'drive')]
    case 'approval_requested':
      return [call(e, 'approval', (e.body && millis(e.body.expiresAt)) ?? e.at)]
    case 'approval_decided':
      return [call(e, e.body?.decision === 'rejected' ? 'drive' : 'start')]
    case 'approval_expired':
      return [call(e, 'drive')]
    case 'tool_call_resolved':
      // Said of a run that has ended, it wakes nobody.
      return e.turn === 0 ? [] : [call(e, 'start')]
    case 'tool_call_retry':
      return [call(e, 'retry', e.at + (e.body?.delayMs ?? 0))]
    case 'tool_call_unknown':
      return [remove('due', { agent_id: e.agentId, cause: e.toolCallId! })]
    case 'tool_call_end':
      return [remove('due', { agent_id: e.agentId, cause: e.toolCallId! }), agent(e, 'drive')]
    case 'workspace_versioned':
      return [agent(e, 'drive')]
    case 'error':
      if (!e.body?.recoverable) return [clear('due')]
      return [answered(e), agent(e, e.body.outage ? 'model' : 'retry', e.at + (e.body.delayMs ?? 0))]
    case 'completion':
      return [clear('due')]
    case 'turn_end':
    case 'lost_call_decided':
      return [agent(e, 'turn')]
    case 'cancel_requested':
      return [row(e, 'cancel', 'cancel', e.at)]
    default:
      return [agent(e, 'start')]
  }
}

const answered = (e: Seen) => remove('due', { agent_id: e.agentId, cause: 'model' })
const agent = (e: Seen, reason: DueReason, at = e.at) => row(e, 'agent', reason, at)
const call = (e: Seen, reason: DueReason, at = e.at) => row(e, e.toolCallId!, reason, at)
const row = (e: Seen, cause: string, reason: DueReason, at: number, more: { behind?: string | null } = {}) =>
  put('due', { agent_id: e.agentId, cause }, { run_id: e.runId, wake_at: at, reason, ...more })
const idOf = (e: Seen, index: number) => toolCallId(e.agentId, e.turn, index)

/**
 * Earlier calls that one cannot start beside, the nearest first; what one of these waits for itself is not said again. A
 * refused one waits for nothing.
 */
function behind(e: Seen, calls: readonly PlannedCall[], index: number): string | null {
  const found: number[] = []
  for (let i = index - 1; i >= 0; i--) {
    const earlier = calls[i]!
    if (earlier.refused || !collide(earlier, calls[index]!)) continue
    if (!found.some((later) => collide(earlier, calls[later]!))) found.push(i)
  }
  return found.length === 0 ? null : `|${found.map((i) => idOf(e, i)).join('|')}|`
}
