import type { Outline } from './outline.ts'

// Who wrote this? What the page shows at a position was last written by an event whose type says so.

const BORN = ['agent_started', 'forked']

/** Types of the events that write what is shown, by its name. */
const WRITERS = {
  turn: ['turn_start'],
  step: ['tool_call_end', 'turn_end'],
  phase: ['phase_advanced', ...BORN],
  gates: ['gate_checked', 'phase_advanced', ...BORN],
  money: ['model_call_end', 'model_attempt_lost', 'model_late', 'forked'],
  paused: ['paused', 'resumed', 'step_requested'],
  error: ['error'],
  tools: ['tools_changed'],
} as const satisfies Record<string, readonly string[]>

export type Written = keyof typeof WRITERS

/** The event of the agent that last wrote something up to a place; null: none of its own has. */
export const writerOf = (outline: Outline, what: Written, place: number): number | null =>
  outline.lastOf(WRITERS[what], place)

/** The last event up to a place that ended a call of the agent, or asked for it; null: the call is not of this outline. */
export function writerOfCall(outline: Outline, toolCallId: string, place: number): number | null {
  const [, turn, call] = /\.t(\d+)\.c(\d+)$/.exec(toolCallId) ?? []
  if (turn === undefined) return null
  const isIt = (at: number) => outline.calls[at] === Number(call) && outline.turns[at] === Number(turn)
  const first = outline.ofTurn(Number(turn))
  const last = outline.moved(first, 1, 'turn')
  for (const type of ['tool_call_end', 'tool_call_start'])
    for (let at = Math.min(place, last); at >= first; at--) if (outline.types[at] === type && isIt(at)) return at
  return null
}

/** The link to a call of an agent of a run. */
export function linkToCall(runId: string, toolCallId: string): string {
  const agentId = /^(.+)\.t\d+\.c\d+$/.exec(toolCallId)?.[1] ?? runId
  const agent = agentId === runId ? '' : `&agent=${encodeURIComponent(agentId)}`
  return `/runs/${runId}?call=${encodeURIComponent(toolCallId)}${agent}`
}
