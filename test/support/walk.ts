import fc from 'fast-check'
import { controlToolNamed, controlTools } from '../../domain/agent/control/registry.ts'
import type { AgentCommand } from '../../domain/agent/decide/commands.ts'
import { decideAgent } from '../../domain/agent/decide/decide.ts'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import { fold } from '../../domain/agent/state/evolve.ts'
import { undecided } from '../../domain/agent/state/loss-rules.ts'
import { type AgentState, activityOf, callsOf } from '../../domain/agent/state/state.ts'
import { Transcript } from '../../domain/agent/state/transcript.ts'
import type { Block } from '../../domain/calls/content.ts'
import { CommandRejected } from '../../domain/calls/errors.ts'
import { testSpec, toolSpec } from './harness.ts'
import { seenByTables } from './lost-calls.ts'
import { outcomeOf, type Plan, type PlannedAnswer, ROLE, TOOLS } from './plans.ts'

/**
 * One move of a walk. `pick`: selects one of the available commands; `detail`: determines its details; `ms`: advances
 * the time.
 */
export interface Move {
  readonly pick: number
  readonly detail: number
  readonly ms: number
}

export const movesArbitrary = fc.array(
  fc.record({
    pick: fc.nat(999),
    detail: fc.nat(999),
    ms: fc.constantFrom(0, 0, 0, 0, 0, 1, 1, 1, 50, 50, 300, 3_000, 90_000),
  }),
  { minLength: 5, maxLength: 80, size: 'max' },
)

/**
 * After this move the log loses its end, except for `keep` (modulo) of its events. `unlisted`: the tables are lost too.
 */
interface Cut {
  readonly after: number
  readonly keep: number
  readonly unlisted: boolean
}

export const cutsArbitrary: fc.Arbitrary<Cut[]> = fc.array(
  fc.record({ after: fc.nat(60), keep: fc.nat(200), unlisted: fc.boolean() }),
  { minLength: 1, maxLength: 3 },
)

/** A walk of the pure agent: random commands, valid and invalid, by drivers with and without ownership. */
export function walk(
  plan: Plan,
  moves: readonly Move[],
  see: (before: AgentState | null, event: AgentEvent, after: AgentState) => void,
  cuts: readonly Cut[] = [],
  lost: (kept: readonly AgentEvent[], part: readonly AgentEvent[]) => void = () => undefined,
): { state: AgentState; events: AgentEvent[] } {
  const identity = { agentId: 'a1', runId: 'a1', revision: -1 }
  const events: AgentEvent[] = []
  let transcript = new Transcript()
  let state: AgentState | null = null
  let now = Date.UTC(2026, 0, 18)
  let drawn = 0
  const submit = (command: AgentCommand, key: string, driver?: { id: string; epoch: number }) => {
    const by = driver ? ({ kind: 'driver', id: driver.id } as const) : ({ kind: 'user', id: 'u' } as const)
    const salt = () => new Uint8Array(16).fill(++drawn % 251)
    const told = () => transcript.branch()
    const facts = { now, salt, jitter: () => 0.5, by, commandId: key, transcript: told, ...(driver ? { driver } : {}) }
    try {
      const decision = decideAgent(state, { ...identity, revision: state?.revision ?? -1 }, command, facts)
      for (const { event, after } of decision.drafts) {
        transcript.push(event)
        see(state, event, after)
        events.push(event)
        state = after
      }
    } catch (error) {
      if (!(error instanceof CommandRejected)) throw error
    }
  }
  /** The log loses its end, the person accepts the loss, and the next driver continues. */
  const lose = ({ keep, unlisted }: Cut, n: number) => {
    const kept = events.slice(0, 1 + (keep % events.length))
    const calls = unlisted ? [] : seenByTables(events, kept.length)
    lost(kept, events.splice(kept.length))
    state = fold(null, kept)
    transcript = new Transcript()
    for (const event of kept) transcript.push(event)
    const end = { revision: null, hash: null, calls, ...(unlisted ? { unlisted: true as const } : {}) }
    submit({ kind: 'accept_loss', loss: end }, `loss${n}`)
    submit({ kind: 'claim', driverId: `after${n}`, build: 'test' }, `after${n}`, { id: `after${n}`, epoch: 0 })
  }
  submit({ kind: 'start', spec: specOf(plan), task: 'do it' }, 'start')
  moves.forEach(({ pick, detail, ms }, n) => {
    now += ms
    const at = state as AgentState
    const commands = atHand(at, plan, detail, n)
    const { command, driver } = commands[pick % commands.length]!
    submit(command, `c${n}`, driver)
    for (const cut of cuts) if (cut.after === n) lose(cut, n)
  })
  return { state: state as unknown as AgentState, events }
}

function specOf(plan: Plan) {
  const tools = Object.entries(TOOLS).map(([name, effect]) => toolSpec(name, { effect }))
  const role = plan.role ? ROLE : null
  return testSpec({
    role,
    policy: {
      mode: plan.mode,
      maxParallel: plan.maxParallel,
      requiresApproval: plan.requiresApproval,
      deniedTools: plan.deniedTools,
      approvalTtlMs: 60_000,
    },
    limits: { maxTurns: plan.maxTurns + (plan.hardLimit ? 3 : 0), wallClockMs: plan.wallClockMs },
    recovery: { graceTurns: plan.graceTurns, graceTimeoutMs: 5_000, hardLimit: plan.hardLimit },
    retry: { maxRetries: plan.maxRetries, backoffMs: 100 },
    budget: { tokens: plan.tokens, nanoDollars: null },
    workspace: plan.role ? null : { path: '/w', tree: 't0' },
    tools: [...controlTools(role), ...tools],
  })
}

type AtHand = { command: AgentCommand; driver?: { id: string; epoch: number } }

function atHand(state: AgentState, plan: Plan, detail: number, n: number): AtHand[] {
  const epoch = state.driver?.epoch ?? 0
  // Sometimes use a driver that has lost the agent.
  const driver = state.driver && detail % 7 !== 0 ? state.driver : { id: 'old', epoch: Math.max(1, epoch - 1) }
  const list: AtHand[] = []
  const why = detail % 2 === 0 ? { reason: 'because' } : {}
  const fact = (command: AgentCommand, times = 1) => {
    for (let i = 0; i < times; i++) list.push({ command, driver })
  }
  fact({ kind: 'claim', driverId: `d${n}`, build: 'test' }, state.driver === null ? 40 : 1)
  fact({ kind: 'proceed' }, 3)
  const model = activityOf(state.machine)
  const attempt = model?.status === 'THINKING' && 'attempt' in model.model ? model.model.attempt : 1
  const asked = { turn: detail % 11 === 0 ? state.turn - 1 : state.turn, attempt }
  fact(answerFact(plan.answers[detail % plan.answers.length]!, n, asked), 8)
  const { unversioned } = state
  const version = detail % 4 === 0 ? { unversioned: { code: 'SNAPSHOT_FAILED', message: 'x' } } : { tree: `t${n}` }
  if (unversioned) fact({ kind: 'versioned', step: detail % 3 === 0 ? unversioned.from : unversioned.to, version }, 6)
  for (const call of callsOf(state)) {
    const about = { toolCallId: call.id, attempt: call.attempt, durationMs: 1 }
    const findings = { gates: call.toolName.endsWith('e') ? gates(detail) : [], artifacts: [], text: null }
    const input = controlToolNamed(call.toolName)?.schema.parse(argumentsFor(call.toolName, detail))
    const control = input === undefined ? {} : { control: { input, findings } }
    fact({ kind: 'tool_succeeded', toolName: call.toolName, ...about, result: { content: 'x' }, ...control }, 4)
    const message = `broken ${'abcdefg'[detail % 7]}`
    const error = { code: 'EXECUTION_FAILED', message, transient: detail % 2 === 0, beforeEffect: detail % 3 === 0 }
    fact({ kind: 'tool_failed', toolName: call.toolName, ...about, error }, 3)
    fact({ kind: 'tool_in_doubt', ...about, toolName: call.toolName, reason: 'nothing tells' })
    const toolCallId = call.id
    list.push({
      command: { kind: 'decide_approval', toolCallId, decision: detail % 2 === 0 ? 'approved' : 'rejected', ...why },
    })
    const decision = (['happened', 'run', 'abandon'] as const)[detail % 3]!
    list.push({ command: { kind: 'resolve_doubt', toolCallId, decision, result: 'it is done', ...why } })
  }
  if (state.loss !== null) {
    const decision = (['happened', 'run', 'abandon'] as const)[detail % 3]!
    for (const toolCallId of new Set([...undecided(state).map(({ id }) => id), ...state.unresolved])) {
      const command = { kind: 'resolve_doubt', toolCallId, decision, result: 'it is done', ...why } as const
      // Many, because few walks reach a lost call without a decision.
      list.push(...Array<AtHand>(20).fill({ command }))
    }
    list.push({ command: { kind: 'release_loss', ...why } })
  }
  list.push(
    { command: { kind: 'input', text: 'more' } },
    { command: { kind: 'pause', ...why } },
    { command: { kind: 'resume' } },
    { command: { kind: 'resume' } },
    { command: { kind: 'step' } },
    { command: { kind: 'standing_approval', tools: ['put'], ...why } },
  )
  if (detail % 5 === 0) list.push({ command: { kind: 'cancel', deadlineMs: 1_000, reason: 'because' } })
  return list
}

const gates = (detail: number) => [
  { gate: 'diagram_exists', after: 'first', passed: detail % 2 === 0, evidence: 'as the walk goes' },
]

function argumentsFor(toolName: string, detail: number) {
  if (toolName === 'complete_task') return { summary: 's' }
  if (toolName === 'advance_phase') return { summary: 's', ...(detail % 2 === 0 ? {} : { to: 'second' }) }
  if (toolName === 'ask_user') return { question: 'q' }
  if (toolName === 'read_result') return { toolCallId: 'c' }
  if (toolName === 'read_history') return { fromTurn: 1 }
  return toolName === 'set_context' ? { key: 'k', value: detail } : {}
}

function answerFact(planned: PlannedAnswer, n: number, asked: { turn: number; attempt: number }): AgentCommand {
  const usage = { input: 300, output: 50, cacheRead: 0, cacheWrite: 0 }
  try {
    const outcome = outcomeOf(planned, n)
    const content: readonly Block[] = outcome.content ?? []
    const stopReason = outcome.stopReason ?? 'end_turn'
    const answer = { content, stopReason, usage, servedBy: 'test-model' }
    return { kind: 'model_answered', ...asked, outcome: answer, durationMs: 1, paths: [] }
  } catch (error) {
    const { code, message, transient } = error as { code: string; message: string; transient: boolean }
    return { kind: 'model_failed', ...asked, error: { code, message, transient } }
  }
}
