import { CommandRejected } from '../agent/errors.ts'
import type { AgentEvent } from '../agent/events.ts'
import { evolve } from '../agent/evolve.ts'
import { Transcript } from '../agent/messages.ts'
import type { AgentState } from '../agent/state.ts'
import { agentStream } from '../log/ids.ts'
import type { Head } from '../ports.ts'
import { headOf, history, type Stores } from './history.ts'
import type { AgentAt, At } from './types.ts'

// Replay: the fold of an agent's events up to a point. It has only the log and the blobs to ask; models, tools, clocks
// and randomness are out of its reach (5.9.3, law 9).

/** Rejects with CommandRejected where there is no such agent or point. */
export async function agentAt(stores: Stores, agentId: string, at: At): Promise<AgentAt> {
  let state: AgentState | null = null
  let head: Head | null = null
  const transcript = new Transcript()
  const to = at !== null && 'revision' in at ? { to: at.revision } : {}
  const own = agentStream(agentId)
  let reached = at === null || 'revision' in at
  for await (const page of history(stores, agentId, to)) {
    for (const { event, recorded } of page) {
      state = evolve(state, event)
      transcript.push(event)
      head = headOf(recorded)
      if (at !== null && !('revision' in at) && isPoint(event, state, at)) {
        return { state, head, messages: [...transcript.messages] }
      }
      if (at !== null && 'revision' in at && recorded.header.stream === own && event.revision === at.revision)
        reached = true
    }
  }
  if (state === null || head === null) throw new CommandRejected('RUN_UNKNOWN', `there is no agent ${agentId}`, 404)
  if (at !== null && !('revision' in at)) {
    if ('step' in at && at.step === 0) throw new CommandRejected('POINT_UNKNOWN', 'steps count from 1', 404)
    const what = 'step' in at ? `step ${at.step}; it has ${state.step}` : `turn ${at.turn}; it has ${state.turn}`
    throw new CommandRejected('POINT_UNKNOWN', `${agentId} has no ${what}`, 404)
  }
  if (!reached || (at !== null && 'revision' in at && head.revision !== at.revision)) {
    throw new CommandRejected('POINT_UNKNOWN', `${agentId} has no event at that revision`, 404)
  }
  return { state, head, messages: [...transcript.messages] }
}

/** A step is reached by the event that made it, a turn by its end. */
function isPoint(event: AgentEvent, state: AgentState, at: { step: number } | { turn: number }): boolean {
  if ('step' in at) return (event.type === 'tool_call_end' || event.type === 'turn_end') && state.step === at.step
  return event.type === 'turn_end' && event.turn === at.turn
}
