import { forget } from '../agent/control/forget.ts'
import { recall } from '../agent/control/recall.ts'
import { remember } from '../agent/control/remember.ts'
import type { AgentSpec, RoleDefinition } from '../agent/definition/spec.ts'
import { canonicalTool, covers, matches } from '../agent/definition/tool-patterns.ts'
import type { ToolSpec } from '../agent/definition/tools.ts'

// The tools of keepup's that another agent reaches while it works (CONTRACTS 13): those that a child of keepup's own would have,
// without what makes no sense from outside.

/** An agent of another kind has its own, which its options govern; doubled, they would be bound by two rules at once. */
const ITS_OWN: ReadonlySet<string> = new Set(['read_file', 'write_file', 'list_dir', 'search_code', 'run_command'])

/**
 * Other control tools steer an agent of keepup's: its turns, phases, plan, context and children. A message would be answered in
 * a turn, of which another agent has none.
 */
const MEMORY: ReadonlySet<string> = new Set([remember, recall, forget].map(({ spec }) => spec.name))

interface Asked {
  /** The role of the child; null: it is not known here, which narrows nothing. */
  readonly role: RoleDefinition | null
  /** Patterns of the phase that the parent is in; null: nothing narrows it. */
  readonly here: readonly string[] | null
}

/**
 * The names of the tools that a child of another kind may call. `within`: those that its parent may use and the call's constraints
 * leave. A built-in tool counts where any phase of the role has it, because the child comes to each of them by itself. The tools of
 * servers and users have names that the built-in roles cannot know: the policy alone decides on them.
 */
export function toolsForOther(
  { policy, tools }: Pick<AgentSpec, 'policy' | 'tools'>,
  within: readonly ToolSpec[],
  { role, here }: Asked,
): readonly string[] {
  const inSome = (name: string) =>
    role === null || name.includes(':') || role.phases.some((phase) => covers(phase.allowedTools, name))
  const ofParent = (name: string) => here === null || covers(here, name)
  const own = within.filter(({ name }) => !ITS_OWN.has(name) && inSome(name) && ofParent(name))
  const denied = (name: string) => policy.deniedTools.some((pattern) => canonicalTool(pattern) === name)
  const memory = tools.filter(({ name, control }) => control && MEMORY.has(name) && !denied(name))
  return [...memory, ...own].map(({ name }) => name)
}

/** The spec by which calls of these tools are judged: that of the child, without what steers an agent of keepup's. */
export function outsideSpec(spec: AgentSpec, names: readonly string[]): AgentSpec {
  const tools = spec.tools.filter(({ name }) => names.includes(name))
  const concerns = (pattern: string) => tools.some(({ name }) => matches(pattern, name))
  const { delegation: _, instructions: __, knowledge: ___, ...rest } = spec
  return {
    ...rest,
    role: null,
    tools,
    contextVariables: {},
    policy: {
      ...spec.policy,
      allowedTools: tools.filter(({ control }) => !control).map(({ name }) => name),
      deniedTools: spec.policy.deniedTools.filter(concerns),
      requiresApproval: spec.policy.requiresApproval.filter(concerns),
    },
  }
}
