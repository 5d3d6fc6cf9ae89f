import { MEMORY_TOOLS } from '../calls/memory/memory-tools.ts'
import { canonicalTool, covers, matches } from '../calls/tools/tool-patterns.ts'
import type { ToolSpec } from '../calls/tools/tool-spec.ts'
import type { AgentSpec, RoleDefinition } from './spec.ts'

// The keepup tools that an external agent can call while it works (CONTRACTS 13): the tools of a keepup child, without
// those that make no sense outside keepup.

/**
 * An external agent has its own versions of these tools, governed by its options. Offering both would apply two sets of
 * rules.
 */
const ITS_OWN: ReadonlySet<string> = new Set(['read_file', 'write_file', 'list_dir', 'search_code', 'run_command'])

/**
 * The only control tools for an external agent. The others control turns, phases, plan, context and children of a
 * keepup agent. A message would need a turn to answer it, and an external agent has no turns.
 */
const MEMORY: ReadonlySet<string> = new Set(MEMORY_TOOLS.map(({ name }) => name))

interface Asked {
  /** The role of the child; null: the role is not known here, so it narrows nothing. */
  readonly role: RoleDefinition | null
  /** Tool patterns of the parent's current phase; null: no phase narrows the tools. */
  readonly here: readonly string[] | null
}

/**
 * The names of the tools that an external child may call. `within`: the parent's permitted tools, narrowed by the
 * constraints of the call. A built-in tool is included if any phase of the role allows it, because the child passes
 * through all phases. Built-in roles cannot know the names of tools from servers and users, so only the policy decides
 * on those.
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

/** The spec that governs calls of these tools: the child's spec without the parts that control a keepup agent. */
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
