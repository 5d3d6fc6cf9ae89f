import type { Block } from '../../calls/content.ts'
import type { EventPlace } from '../../log/body-parts.ts'
import type { Json } from '../../log/json.ts'
import { delegateToAgent } from '../control/delegate-to-agent.ts'
import type { AgentEvent, EventOf } from '../events/events.ts'

// The requests, answers and decisions of an agent, each under its turn and call, for the comparison of two runs.
// Entries leave out values that differ between any two runs (ids, times, prices, salts).

/** A request to a model, tool or agent, its answer, or a decision. */
export interface CausalEntry {
  readonly kind: 'asked' | 'answered' | 'decided'
  /** The path from the run's root, for example `turn 2`, `call 0`, `result`. Unique within a run. */
  readonly path: readonly string[]
  /** The sort key among the entries of the run, by cause; compared member by member. */
  readonly order: readonly number[]
  readonly value: Json
  readonly at: { readonly agentId: string; readonly revision: number }
}

/** A child, and the call of its parent that started it. */
export interface StartedChild {
  readonly childId: string
  readonly path: readonly string[]
  readonly order: readonly number[]
}

/** A delegation whose end was copied from a record. The record contains its request and its child. */
export interface TakenCall {
  readonly place: EventPlace
  readonly path: readonly string[]
  readonly order: readonly number[]
}

/** The entries of one agent, its children, and its delegations with copied outcomes. */
export interface CausalHistory {
  readonly entries: readonly CausalEntry[]
  readonly children: readonly StartedChild[]
  readonly taken: readonly TakenCall[]
}

/** The causal history of one agent, from all its events in order. Runs in steps, because a history may be long. */
export function* causalHistoryOf(events: readonly AgentEvent[]): Generator<undefined, CausalHistory> {
  const entries: CausalEntry[] = []
  const children: StartedChild[] = []
  const taken: TakenCall[] = []
  // Inputs belong to the next turn, which reads them.
  let turn = 0
  let inputs = 0
  let ends = 0
  // A fork records prompt and tools again; equal values are skipped.
  let prompt: string | null = null
  let tools = ''
  for (const event of events) {
    yield
    const add = (kind: CausalEntry['kind'], path: readonly string[], order: readonly number[], value: unknown) =>
      entries.push({ kind, path, order, value: plain(value), at: { agentId: event.agentId, revision: event.revision } })
    const inTurn = (kind: CausalEntry['kind'], name: string, place: number, value: unknown) =>
      add(kind, [`turn ${event.turn}`, name], [event.turn, place], value)
    const ofCall = (kind: CausalEntry['kind'], name: string, place: number, value: unknown) => {
      const call = placeOf(event)
      if (call !== null) add(kind, [...call.path, name], [...call.order, place], value)
    }
    switch (event.type) {
      case 'agent_started': {
        const { role, policy, limits, budget, models, instructions, testCommand } = event.body.spec
        const started = { role: role?.name ?? null, policy, limits, budget, model: models.requested, testCommand }
        add('decided', ['start'], [0, 0], { ...started, instructions: instructions ?? null })
        break
      }
      case 'user_input':
        add('asked', [`turn ${turn + 1}`, `input ${inputs}`], [turn + 1, IN_TURN.input, inputs++], event.body.text)
        break
      case 'turn_start':
        turn = event.turn
        inputs = 0
        break
      case 'model_routed':
        inTurn('decided', 'model', IN_TURN.routing, event.body.resolved)
        break
      case 'prompt_set':
        if (event.body.system !== prompt) inTurn('asked', 'system prompt', IN_TURN.prompt, event.body.system)
        prompt = event.body.system
        break
      case 'tools_changed':
        if (JSON.stringify(event.body) !== tools) inTurn('asked', 'tools', IN_TURN.tools, event.body)
        tools = JSON.stringify(event.body)
        break
      case 'model_call_end':
        inTurn('answered', 'answer', IN_TURN.answer, answerOf(event))
        break
      case 'turn_end':
        inTurn('decided', 'end', IN_TURN.end, event.body.outcome)
        break
      case 'approval_decided':
        ofCall('decided', 'approval', OF_CALL.approval, event.body.decision)
        break
      case 'approval_expired':
        ofCall('decided', 'approval', OF_CALL.approval, 'expired')
        break
      case 'tool_call_resolved': {
        const { decision, result = null } = event.body
        ofCall('decided', 'unknown outcome', OF_CALL.resolved, { decision, result })
        break
      }
      case 'child_delegated': {
        const { role, task, constraints, expectedOutput = null } = event.body
        ofCall('asked', 'delegation', OF_CALL.delegation, { role, task, constraints, expectedOutput })
        const call = placeOf(event)
        if (call !== null)
          children.push({
            childId: event.body.childId,
            path: [...call.path, 'agent'],
            order: [...call.order, OF_CALL.child],
          })
        break
      }
      case 'gate_checked':
        ofCall('decided', `gate ${event.body.gate}`, OF_CALL.gate, event.body.passed)
        break
      case 'phase_advanced':
        ofCall('decided', 'phase', OF_CALL.phase, event.body.to)
        break
      case 'tool_call_end': {
        const { toolName, success, result = null, error, reused } = event.body
        const told = { toolName, success, result, code: error?.code ?? null }
        ofCall('answered', 'result', OF_CALL.result, withoutId(told, event.toolCallId ?? ''))
        const call = toolName === delegateToAgent.spec.name ? placeOf(event) : null
        if (reused !== undefined && call !== null) taken.push({ place: reused, ...call })
        break
      }
      case 'cancel_requested':
        add('decided', [`turn ${turn}`, 'cancel'], [turn, IN_TURN.cancel], event.body.reason ?? null)
        break
      case 'recovery': {
        const { phase } = event.body
        add('decided', [`turn ${turn}`, `recovery ${ends}`], [turn, IN_TURN.last, ends++], phase)
        break
      }
      case 'completion': {
        const { summary, artifacts, nextSteps = null, unmetGates } = event.body
        const said = { completed: true, summary, artifacts, nextSteps, unmetGates }
        add('decided', [`turn ${turn}`, 'completion'], [turn, IN_TURN.last, ends++], said)
        break
      }
      case 'error':
        if (event.body.recoverable)
          add(
            'answered',
            [`turn ${event.turn}`, `failure ${event.body.attempt ?? 1}`],
            [event.turn, IN_TURN.failure, event.body.attempt ?? 1],
            event.body.code,
          )
        else
          add('decided', [`turn ${turn}`, 'completion'], [turn, IN_TURN.last, ends++], {
            completed: false,
            code: event.body.code,
          })
        break
    }
  }
  return { entries: lastOf(entries), children, taken }
}

const IN_TURN = {
  input: 0,
  routing: 1,
  prompt: 2,
  tools: 3,
  failure: 4,
  answer: 5,
  calls: 6,
  cancel: 7,
  end: 8,
  last: 9,
}
const OF_CALL = { approval: 0, delegation: 1, child: 2, resolved: 3, gate: 4, phase: 5, result: 6 }

/** The position of a call, from its id. An inherited call's id contains the id of the agent that made it. */
function placeOf({ toolCallId = '' }: AgentEvent): Pick<StartedChild, 'path' | 'order'> | null {
  const [, turn, index] = /\.t(\d+)\.c(\d+)$/.exec(toolCallId) ?? []
  if (turn === undefined || index === undefined) return null
  return { path: [`turn ${turn}`, `call ${index}`], order: [Number(turn), IN_TURN.calls, Number(index)] }
}

/** An answer without ids and thinking signatures, which providers generate for each answer. */
function answerOf({ body: { content, stopReason } }: EventOf<'model_call_end'>) {
  const said = ({ id: _, signature: __, ...block }: Block) => block
  return { content: content.map(said), stopReason }
}

/** Keeps the last entry per path, because a later decision replaces an earlier one. */
const lastOf = (entries: readonly CausalEntry[]): CausalEntry[] => [
  ...new Map(entries.map((entry) => [entry.path.join('\u0000'), entry] as const)).values(),
]

/** Replaces the call's id, which occurs in the note on how to read on in a long result. */
const withoutId = (value: Json | object, id: string): unknown =>
  id === '' ? value : JSON.parse(JSON.stringify(value).replaceAll(id, 'call'))

const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json

/**
 * The delegation and child of a recorded call, as entries of the run that copied the call's end. `record`: all entries
 * of the agent that owns the record, and of its descendants.
 */
export function takenFrom(record: readonly CausalEntry[], { place, path, order }: TakenCall): CausalEntry[] {
  const end = record.find(
    (one) => one.path.length === 3 && one.path[2] === 'result' && one.at.revision === place.revision,
  )
  if (end === undefined) return []
  const [turn, call] = end.path
  return record
    .filter(({ path: p }) => p[0] === turn && p[1] === call && (p[2] === 'delegation' || p[2] === 'agent'))
    .map((one) => ({
      ...one,
      path: [...path, ...one.path.slice(path.length)],
      order: [...order, ...one.order.slice(order.length)],
    }))
}

export const below = ({ path, order }: StartedChild, entry: CausalEntry): CausalEntry => ({
  ...entry,
  path: [...path, ...entry.path],
  order: [...order, ...entry.order],
})
