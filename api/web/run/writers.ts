import type { Outline } from './outline.ts'

// Finds the event that last wrote a value on the page, by the event's type.

const BORN = ['agent_started', 'forked']

/** The event types that write each value. */
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

/** The last event up to a revision that wrote a value. Null: none. */
export const writerOf = (outline: Outline, what: Written, place: number): number | null =>
  outline.lastOf(WRITERS[what], place)

/** The event up to a revision that ended or started a call. Null: the outline does not contain the call. */
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
