import { expect } from 'vitest'
import { owed } from '../../domain/agent/decide/owed.ts'
import { type AgentEvent, agentBodies } from '../../domain/agent/events/events.ts'
import { evolveAgent } from '../../domain/agent/state/evolve.ts'
import { type AgentState, isFinished, type StateMachine } from '../../domain/agent/state/state.ts'
import { TOOL_ERROR_CODES } from '../../domain/calls/error-codes.ts'

/** The table of the state machine (seed 000, section 6), without transitions to the same state. */
const TRANSITIONS: Readonly<Record<StateMachine['status'], readonly StateMachine['status'][]>> = {
  IDLE: ['THINKING', 'RECOVERY', 'ERROR'],
  THINKING: ['TOOL_WAIT', 'OBSERVATION', 'ERROR'],
  TOOL_WAIT: ['OBSERVATION', 'ERROR'],
  OBSERVATION: ['THINKING', 'DONE', 'RECOVERY', 'IDLE', 'ERROR'],
  RECOVERY: ['DONE', 'ERROR'],
  DONE: [],
  ERROR: [],
}

const END_CODES: readonly string[] = [
  'NO_COMPLETION',
  'RECOVERY_FAILED',
  'TOO_MANY_VIOLATIONS',
  'BUDGET_EXCEEDED',
  'MODEL_FAILED',
  'MODEL_REFUSED',
  'CONTEXT_OVERFLOW',
  'CANCELLED',
]

/** Checks one step of the fold against the table. */
export function checkTransition(before: AgentState | null, after: AgentState, event: AgentEvent): void {
  if (before === null || before.machine.status === after.machine.status || event.type === 'forked') return
  expect(TRANSITIONS[before.machine.status], `${before.machine.status} on ${event.type}`).toContain(
    after.machine.status,
  )
}

/** Event types without a cause in the log, or with a cause in another member. */
const BEGINNINGS: ReadonlySet<AgentEvent['type']> = new Set([
  ...(['forked', 'driver_claimed', 'workspace_drifted', 'late_outcome'] as const),
])

/**
 * If an append's first event follows from an earlier event, it names that event. Within an append, the order gives the
 * cause.
 */
function checkCause({ type, actor, revision, agentId, causationId }: AgentEvent, inAppend: boolean): void {
  const person = actor.kind === 'user' || actor.kind === 'approver'
  if (causationId === undefined)
    return expect(person || inAppend || BEGINNINGS.has(type), `${type} has a cause`).toBe(true)
  const [stream, at] = causationId.split('@')
  expect([stream, Number(at) < revision]).toEqual([`agent-${agentId}`, true])
}

/** Checks the invariants of a recorded history. Returns its last state. */
export function checkHistory(events: readonly AgentEvent[]): AgentState {
  let state: AgentState | null = null
  const open = new Set<number>()
  const starts = new Map<string, number>()
  const ends = new Map<string, number>()
  const planned: string[] = []
  const warnings: string[] = []
  let step = 0
  let commandId = ''
  for (const event of events) {
    expect(agentBodies[event.type].safeParse(event.body).error, `${event.type} has its recorded shape`).toBeUndefined()
    const before: AgentState | null = state
    state = evolveAgent(before, event)
    checkCause(event, commandId === event.commandId)
    commandId = event.commandId
    checkTransition(before, state, event)
    expect(event.at).toBeGreaterThanOrEqual(before?.at ?? 0)
    if (event.type === 'turn_start') open.add(event.turn)
    if (event.type === 'turn_end') expect(open.delete(event.turn), `turn ${event.turn} was open`).toBe(true)
    if (event.type === 'turn_end' || event.type === 'tool_call_end') expect(event.body.step).toBe(++step)
    if (event.type === 'model_call_end') {
      for (const i of event.body.calls.keys()) planned.push(`${event.agentId}.t${event.turn}.c${i}`)
    }
    const id = event.toolCallId ?? ''
    if (event.type === 'tool_call_start') starts.set(id, (starts.get(id) ?? 0) + 1)
    if (event.type === 'tool_call_end') {
      ends.set(id, (ends.get(id) ?? 0) + 1)
      expect(event.turn, 'a call ends in its turn').toBe(Number(/\.t(\d+)\./.exec(id)![1]))
      expect(event.body.success).toBe(event.body.error === undefined)
      if (event.body.error) expect(TOOL_ERROR_CODES as readonly string[]).toContain(event.body.error.code)
    }
    if (event.type === 'recovery') warnings.push(event.body.phase)
    if (event.type === 'error' && !event.body.recoverable) expect(END_CODES).toContain(event.body.code)
    if (isFinished(state)) expect(owed(state)).toEqual([])
  }
  if (state === null) throw new Error('there is no history')
  expect(events.filter((event) => event.type === 'completion').length).toBe(state.machine.status === 'DONE' ? 1 : 0)
  expect(warnings.filter((phase) => phase === 'final_warning').length).toBeLessThanOrEqual(1)
  if (isFinished(state)) {
    expect([...open], 'every turn_start has its turn_end').toEqual([])
    const each = Object.fromEntries(planned.map((id) => [id, 1]))
    expect(Object.fromEntries(starts), 'each requested call starts once').toEqual(each)
    expect(Object.fromEntries(ends), 'each requested call ends once').toEqual(each)
    if (warnings.length > 0)
      expect(warnings).toEqual(['final_warning', state.machine.status === 'DONE' ? 'succeeded' : 'failed'])
  }
  return state
}
