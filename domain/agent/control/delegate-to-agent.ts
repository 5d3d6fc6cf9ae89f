import { z } from 'zod'
import type { Call } from '../../calls/call.ts'
import type { Failure } from '../../calls/events/event-parts.ts'
import { phaseTools } from '../../calls/tools/phase-tools.ts'
import { covers, matches } from '../../calls/tools/tool-patterns.ts'
import { childAgentId } from '../../log/ids.ts'
import { REFERENCE } from '../../secrets/reference.ts'
import type { Amounts, Grant } from '../../tree/events.ts'
import type { Nullable } from '../../tree/family.ts'
import { toolsForOther } from '../../tree/outside-tools.ts'
import { levelFor, rightsOf, shared } from '../../tree/rights.ts'
import { type AgentSpec, DELEGABLE } from '../../tree/spec.ts'
import type { BodyOf } from '../events/events.ts'
import { grantFor, lacking, topUpOf } from '../state/child-budget.ts'
import type { AgentState } from '../state/state.ts'
import { controlTool, nonBlank } from './control-tool.ts'

/** Seed 000, 5.4; CONTRACTS 4. Strings are trimmed. */
const schema = z.strictObject({
  role: z.enum(DELEGABLE).describe('What the new agent is.'),
  task: nonBlank.describe('What it is to do. It knows nothing of your conversation: say all that it needs.'),
  constraints: z
    .array(nonBlank)
    .optional()
    .describe('Tools that it may use, as patterns without white space; anything with white space is a rule in words.'),
  expectedOutput: nonBlank.optional().describe('What its summary must contain.'),
})
type Input = z.infer<typeof schema>
/** The arguments of the tool `delegate_to_agent` (seed 000, 5.5). */
export type DelegateToAgentInput = z.input<typeof schema>

/** A constraint without white space is a tool pattern; any other constraint is text. */
export const isPattern = (constraint: string): boolean => !/\s/.test(constraint)

/**
 * Starts a child and waits for its end. The call runs like other control tools, so that a driver reads the arguments:
 * one append for the intent, the next for the birth. Nothing has happened until the birth is recorded, so another
 * driver may decide again.
 */
export const delegateToAgent = controlTool({
  name: 'delegate_to_agent',
  description:
    'Gives a task to a new agent and waits for its result. The agent has its own context and at most your rights. In batch mode several delegations of one turn run side by side.',
  schema,
  kind: 'delegates',
  needsTools: true,
  refusal: (state, { role, constraints = [] }) => {
    if (state.spec.delegation?.roles[role] === undefined) return `role: there is no role "${role}" in this run`
    const lost = constraints.findIndex((one) => isPattern(one) && !namesTool(state, one))
    return lost < 0
      ? null
      : `constraints.${lost}: matches no tool that you may use; a rule in words needs white space in it`
  },
  decide: (state, call, input) => {
    const error = depthFault(state)
    if (error !== null) return { events: [], end: { error } }
    const grant = grantFor(state, call)
    const backend = backendFor(state, input)
    if (backend === null) return { events: [], end: { error: unmapped(state.spec, input) } }
    const secret = backend === undefined ? null : secretIn(state.spec, input)
    if (secret !== null) return { events: [], end: { error: untold(secret) } }
    const short = lacking(state, grant)
    if (short === null)
      return { events: [{ type: 'child_delegated', body: birth(state, call, input, grant, backend) }], end: null }
    const mayAsk = state.parent !== null && topUpOf(call) === undefined && state.cancel === null
    if (mayAsk) return { events: [{ type: 'budget_requested', body: { want: short } }], end: null }
    return { events: [], end: { error: refusal(short) } }
  },
})

/** Tools that the agent's policy allows in some phase. */
export const permitted = ({ policy, tools }: Pick<AgentState['spec'], 'policy' | 'tools'>) =>
  tools.filter(
    ({ name, control }) => !control && covers(policy.allowedTools, name) && !covers(policy.deniedTools, name),
  )

/** The tools that a child with these constraints may use at most. */
export function toolsWithin(spec: Pick<AgentSpec, 'policy' | 'tools'>, constraints: readonly string[]) {
  const patterns = constraints.filter(isPattern)
  return patterns.length === 0 ? permitted(spec) : permitted(spec).filter(({ name }) => covers(patterns, name))
}

type ChildBackend = BodyOf<'child_delegated'>['backend']

/**
 * The external agent for children of the role, started with no right beyond the child's. Undefined: the role has no
 * external agent; null: the agent has no start level within those rights.
 */
function backendFor(state: AgentState, { role, constraints = [] }: Input): ChildBackend | null {
  const { delegation, ...spec } = state.spec
  const known = delegation?.backends?.[role]
  if (known === undefined) return undefined
  const within = toolsWithin(spec, constraints)
  const policy = { ...spec.policy, allowedTools: within.map(({ name }) => name) }
  const here = phaseTools(state)
  const own = rightsOf({ policy, role: here === null ? null : { phases: [{ allowedTools: here }] } })
  const level = levelFor(shared(own, rightsOf({ policy, role: delegation?.roles[role] ?? null })), known.levels)
  if (level === null) return null
  const model = known.model === undefined ? {} : { 'agent_api.config.model.v1': known.model }
  const asked = { role: delegation?.roles[role] ?? null, here }
  const tools = known.takesTools ? [...toolsForOther(spec, within, asked)] : []
  return {
    kind: known.kind,
    extensions: { ...level.extensions, ...model },
    ...(tools.length === 0 ? {} : { tools }),
  }
}

const unmapped = ({ delegation }: AgentSpec, { role }: Input): Failure => ({
  code: 'PERMISSION_DENIED',
  rule: 'backend_rights',
  message: `the role ${role} is given to ${delegation?.backends?.[role]?.kind}, which cannot be held to the rights that such an agent would have; do the task yourself, or give it to another role`,
})

/** The first secret that a task refers to, by name if the run has it, else by reference; null: none. */
function secretIn({ secrets }: AgentSpec, { task, constraints = [], expectedOutput = '' }: Input): string | null {
  const [reference] = [task, ...constraints, expectedOutput].join('\n').match(REFERENCE) ?? []
  if (reference === undefined) return null
  return secrets.find((one) => one.reference === reference)?.name ?? reference
}

/** A secret in the task would be shown to the external agent's model, and its own tools cannot resolve references. */
const untold = (secret: string): Failure => ({
  code: 'SECRET_UNAVAILABLE',
  message: `another agent is told no secret, and the task holds ${secret}; leave it out, or do that part yourself`,
})

const namesTool = ({ spec }: AgentState, pattern: string) => permitted(spec).some(({ name }) => matches(pattern, name))

function depthFault({ depth, spec }: AgentState): Failure | null {
  const most = spec.delegation?.maxDepth ?? 0
  if (depth < most) return null
  return { code: 'DEPTH_LIMIT', message: `an agent at depth ${most} delegates to no other; do the task yourself` }
}

function refusal(short: Amounts): Failure {
  if (short.agents > 0)
    return { code: 'AGENT_LIMIT', message: 'the run has no agent left to start; do the task yourself' }
  return { code: 'BUDGET_EXCEEDED', message: 'the budget has no room for another agent; do the task yourself' }
}

function birth(state: AgentState, call: Call, input: Input, grant: Nullable, backend: ChildBackend) {
  const { role, task, constraints = [], expectedOutput } = input
  return {
    childId: childAgentId(call.id),
    ...{ role, task, constraints },
    ...(expectedOutput === undefined ? {} : { expectedOutput }),
    grant: (backend === undefined ? grant : { ...grant, agents: 1 }) as Grant,
    tree: state.tree,
    ...(backend === undefined ? {} : { backend }),
  }
}
