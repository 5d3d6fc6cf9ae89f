import { delegateToAgent } from '../../domain/agent/control/delegate-to-agent.ts'
import { controlTools, MESSAGE_TOOLS } from '../../domain/agent/control/registry.ts'
import type { Block } from '../../domain/calls/content.ts'
import { ModelError } from '../../domain/calls/errors.ts'
import type { ModelOutcome, ModelRequest } from '../../domain/ports/index.ts'
import type { AgentSpec, RoleDefinition } from '../../domain/tree/spec.ts'
import { testSpec, toolSpec } from '../support/harness.ts'
import type { Choices } from './choices.ts'
import type { Dialect } from './log.ts'

export const EFFECTS = { look: 'pure', put: 'idempotent', save: 'reconcilable', send: 'irreversible' } as const
export type ToolName = keyof typeof EFFECTS

type Call =
  | { readonly tool: ToolName; readonly key: number }
  | { readonly child: AgentPlan }
  | { readonly says: 'parent' | 'root' | 'nobody'; readonly waits: boolean }
  | { readonly asks: true }

/** One turn of an agent: its calls, or a failure of its model before them. */
interface Turn {
  readonly fails: 'no' | 'network' | 'rate' | 'hang' | 'text'
  readonly calls: readonly Call[]
}

/** The turns of an agent. Afterwards it completes its task. */
interface AgentPlan {
  readonly turns: readonly Turn[]
}

/** One world: its log, its processes, its run, and how often something fails. */
export interface Plan {
  readonly dialect: Dialect
  readonly workers: number
  /** The steps before all faults end. */
  readonly steps: number
  readonly root: AgentPlan
  readonly tokens: number | null
  readonly agents: number
  /** Each answer uses all output tokens of its request. */
  readonly longAnswers: boolean
  readonly requiresApproval: readonly string[]
  readonly mode: 'interactive' | 'batch'
  readonly maxParallel: number
  readonly maxTurns: number
  readonly wallClockMs: number | null
  readonly maxRetries: number
  readonly backoffMs: number
  /** People and tools edit a document, and people set and erase variables. */
  readonly texts: boolean
  /** Rates in 1,024 choices or steps. */
  readonly rates: Readonly<Record<Rate, number>>
}

const RATES = {
  crash: [0, 5, 20, 60],
  freeze: [0, 3, 10],
  jump: [0, 2, 8],
  haste: [0, 5, 40, 150],
  person: [15, 0, 60, 200],
  fork: [0, 0, 6],
  lost: [0, 6, 25, 90],
  slow: [0, 5, 30],
  tool: [0, 20, 120],
  tables: [0, 10, 60],
  leases: [0, 10, 60],
} as const
export type Rate = keyof typeof RATES

/** Draws a world. Each history has its own rates, so that some faults are frequent where others are absent. */
export function planOf(choices: Choices): Plan {
  const rates = Object.fromEntries(Object.entries(RATES).map(([rate, values]) => [rate, choices.of(...values)]))
  const dialect = choices.of<Dialect>('embedded', 'servers', 'servers')
  return {
    rates: rates as Plan['rates'],
    dialect,
    workers: dialect === 'embedded' ? 1 : choices.of(2, 1, 2, 3),
    steps: 100 + choices.below(800),
    root: agentOf(choices, choices.of(0, 1, 1, 2)),
    tokens: choices.of(null, null, 60_000, 150_000, 30_000),
    agents: choices.of(8, 3, 2, 5),
    longAnswers: choices.of(false, true),
    requiresApproval: choices.of<string[]>([], [], ['save'], ['send'], ['put', 'send']),
    mode: choices.of('batch', 'batch', 'interactive'),
    maxParallel: 1 + choices.below(4),
    maxTurns: 3 + choices.below(8),
    wallClockMs: choices.of(null, null, null, 20_000),
    maxRetries: choices.below(4),
    backoffMs: choices.of(100, 1_000, 20_000),
    // Bits of a choice that nothing else uses: a further choice would change the histories of all seeds.
    texts: (choices.made[0]! >>> 8) % 3 === 1,
  }
}

function agentOf(choices: Choices, depth: number): AgentPlan {
  const turns = Array.from({ length: choices.of(1, 2, 3, 4, 0) }, (): Turn => {
    const fails = choices.of<Turn['fails']>('no', 'no', 'no', 'no', 'no', 'network', 'rate', 'hang', 'text')
    return { fails, calls: Array.from({ length: 1 + choices.below(3) }, () => callOf(choices, depth)) }
  })
  return { turns }
}

function callOf(choices: Choices, depth: number): Call {
  const kind = choices.below(14)
  if (kind >= 8 && depth > 0) return { child: agentOf(choices, depth - 1) }
  if (kind === 7) return { says: choices.of('root', 'parent', 'nobody'), waits: choices.of(false, false, true) }
  if (kind === 6) return { asks: true }
  return { tool: choices.of<ToolName>('send', 'look', 'put', 'save'), key: choices.below(3) }
}

const HAND: RoleDefinition = {
  name: 'Hand',
  profile: 'does what it is told',
  goal: 'do it',
  phases: [{ name: 'work', allowedTools: Object.keys(EFFECTS) }],
  qualityGates: [],
  maxReactLoop: 8,
}

export const TOOL_SPECS = Object.entries(EFFECTS).map(([name, effect]) =>
  toolSpec(name, {
    effect,
    timeLimitMs: 30_000,
    parameters: {
      type: 'object',
      properties: { key: { type: 'integer' } },
      required: ['key'],
      additionalProperties: false,
    },
  }),
)

export function specOf(plan: Plan): AgentSpec {
  return testSpec({
    policy: { mode: plan.mode, maxParallel: plan.maxParallel, requiresApproval: plan.requiresApproval },
    limits: { maxTurns: plan.maxTurns, wallClockMs: plan.wallClockMs },
    recovery: { graceTurns: 1, graceTimeoutMs: 20_000 },
    retry: { maxRetries: plan.maxRetries, backoffMs: plan.backoffMs },
    budget: { tokens: plan.tokens, nanoDollars: null },
    tools: [...controlTools(null), delegateToAgent.spec, ...MESSAGE_TOOLS.map(({ spec }) => spec), ...TOOL_SPECS],
    delegation: { maxDepth: 3, agents: plan.agents, roles: { coder: HAND } },
  })
}

const use = (name: string, input: object, id: string): Block => ({ type: 'tool_use', id, name, input: input as never })
const usage = { input: 300, output: 40, cacheRead: 0, cacheWrite: 0 }
const says = (content: readonly Block[], stopReason: ModelOutcome['stopReason'] = 'tool_use'): ModelOutcome => ({
  ...{ content, stopReason, servedBy: 'test-model', usage },
})
/** As many output tokens as the request allows. */
const long = (answer: ModelOutcome, { maxOutputTokens }: ModelRequest): ModelOutcome => ({
  ...answer,
  usage: { ...usage, output: maxOutputTokens },
})
const done = (summary: string) => says([use('complete_task', { summary }, 'c')])

/**
 * The planned answer of an agent's model. Each agent finds its part of the plan by the path in its task. `attempt`:
 * from 0, of this turn. `hastens`: complete now.
 */
export function answerOf(
  plan: Plan,
  request: ModelRequest,
  attempts: Map<string, number>,
  hastens: boolean,
): ModelOutcome | 'hang' {
  const answer = plannedAnswer(plan, request, attempts, hastens)
  return plan.longAnswers && answer !== 'hang' ? long(answer, request) : answer
}

function plannedAnswer(
  plan: Plan,
  { messages, tools }: ModelRequest,
  attempts: Map<string, number>,
  hastens: boolean,
): ModelOutcome | 'hang' {
  if (tools.length === 1 || hastens) return done('so far')
  const task = textOf(messages[0]?.content)
  const path = /^\d+:\d+/.test(task) ? task.split('.').map((part) => part.split(':').map(Number)) : []
  let agent: AgentPlan | undefined = plan.root
  for (const [turn, index] of path) {
    const call: Call | undefined = agent?.turns[turn!]?.calls[index!]
    agent = call !== undefined && 'child' in call ? call.child : undefined
  }
  const turn = messages.filter(({ role }) => role === 'assistant').length
  const next = agent?.turns[turn]
  if (next === undefined) return done('done')
  const key = `${task} ${turn}`
  const attempt = attempts.get(key) ?? 0
  attempts.set(key, attempt + 1)
  if (attempt === 0 && next.fails === 'network') throw new ModelError('NETWORK', 'reset', { transient: true })
  if (attempt === 0 && next.fails === 'rate')
    throw new ModelError('RATE_LIMITED', 'slow down', { transient: true, retryAfterMs: 5_000 })
  if (attempt === 0 && next.fails === 'hang') return 'hang'
  if (next.fails === 'text') return says([{ type: 'text', text: 'a thought' }], 'end_turn')
  return says(
    next.calls.map((call, i) => {
      if ('child' in call) {
        const below = [...path, [turn, i]].map((part) => part.join(':')).join('.')
        return use('delegate_to_agent', { role: 'coder', task: below }, `p${i}`)
      }
      if ('says' in call)
        return use('send_message', { to: call.says, payload: i, ...(call.waits ? { expectReply: true } : {}) }, `p${i}`)
      if ('asks' in call) return use('ask_user', { question: 'Which?' }, `p${i}`)
      return use(call.tool, { key: call.key }, `p${i}`)
    }),
  )
}

const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : ((content as { text?: string }[] | undefined)?.[0]?.text ?? '')
