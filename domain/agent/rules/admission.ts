import { z } from 'zod'
import { CommandRejected } from '../../calls/errors.ts'
import { canonicalTool } from '../../calls/tools/tool-patterns.ts'
import { wireName } from '../../calls/tools/tool-spec.ts'
import { UNKNOWN_TOOL } from '../../calls/tools/tools.ts'
import { byteLength } from '../../calls/truncate.ts'
import { echo } from '../../log/issues.ts'
import { compilePattern } from '../../secrets/compile-pattern.ts'
import { type AgentSpec, type RoleDefinition, VARIABLE_NAME } from '../../tree/spec.ts'
import { CONTROL_NAMES, CONTROL_TOOLS } from '../control/registry.ts'
import { GATES } from '../definition/roles.ts'
import { contextLimit } from '../window/compression-plan.ts'

// Checks at the start of a run, before anything is recorded.

/** Names that a role or policy may use even if this agent does not have the tool. */
export const KNOWN_NAMES: readonly string[] = [
  'read_file',
  'write_file',
  'list_dir',
  'search_code',
  'run_command',
  'search_web',
  'read_url',
  'list_documents',
  'read_document',
  'create_document',
  'edit_document',
  'list_comments',
  'comment_document',
  'suggest_change',
  ...CONTROL_NAMES,
]

const completing = CONTROL_TOOLS.filter(({ spec }) => spec.control === 'completes').map(({ spec }) => spec.name)

const refuse = (message: string): never => {
  throw new CommandRejected('SPEC_REFUSED', message)
}

/** Validates the spec of a new run. Throws CommandRejected SPEC_REFUSED, naming the faulty key. */
export function admit(spec: AgentSpec): void {
  const { policy, role, models } = spec
  const denied = policy.deniedTools.find((name) => completing.includes(canonicalTool(name)))
  if (denied !== undefined) refuse(`policy.deniedTools: ${denied} is the only way to finish and cannot be denied`)
  for (const key of ['allowedTools', 'deniedTools', 'requiresApproval'] as const) {
    for (const name of policy[key]) checkTool(spec, name, `policy.${key}`)
  }
  if (role !== null) checkRole(spec, role, 'role')
  for (const [name, one] of Object.entries(spec.delegation?.roles ?? {}))
    checkRole(spec, one, `delegation.roles.${name}: role`)
  checkBackends(spec)
  checkTools(spec)
  checkKnowledge(spec)
  checkVariables(spec)
  const known = models.known.map((model) => model.id)
  if (!known.includes(models.safeDefault))
    refuse(`models.safeDefault: "${echo(models.safeDefault)}" is not among the run's models`)
  const unlisted = models.routing?.models.find((id) => !known.includes(id))
  if (unlisted !== undefined) refuse(`routing.models: "${echo(unlisted)}" is not among the run's models`)
  checkBudget(spec)
  for (const source of policy.secretPatterns) checkPattern(source)
}

function checkRole(spec: AgentSpec, role: RoleDefinition, where: string): void {
  for (const phase of role.phases) {
    for (const name of phase.allowedTools) checkTool(spec, name, `${where} phase "${phase.name}"`)
  }
  for (const gate of role.qualityGates) {
    if (gate.argv === undefined && !(GATES as readonly string[]).includes(gate.check))
      refuse(`${where} gate "${echo(gate.check)}" is not known; known are ${GATES.join(', ')}`)
    if (gate.argv !== undefined && spec.workspace === null)
      refuse(`${where} gate "${echo(gate.check)}" runs a command, and the run has no workspace; name one`)
    if (!role.phases.some((phase) => phase.name === gate.after))
      refuse(`${where} gate after "${echo(gate.after)}": there is no such phase`)
  }
}

/** The policy cannot see the actions of external agents, so it must grant each kind by name. */
function checkBackends({ policy, delegation }: AgentSpec): void {
  for (const [role, { kind }] of Object.entries(delegation?.backends ?? {}))
    if (!policy.backends?.includes(kind))
      refuse(`delegation.backends.${role}: policy.backends does not grant "${echo(kind)}"; name it there`)
}

/** Knowledge may fill at most half of the smallest context; otherwise no work would be possible. */
function checkKnowledge({ knowledge = [], models, context }: AgentSpec): void {
  const twice = knowledge.find(({ name }, n) => knowledge.findIndex((one) => one.name === name) < n)
  if (twice !== undefined) refuse(`knowledge: two sources are called "${echo(twice.name)}"; rename one`)
  const bytes = knowledge.reduce((sum, { text }) => sum + byteLength(text), 0)
  const limit = Math.min(...models.known.map((model) => contextLimit({ context }, model)))
  if (bytes / 3 > limit / 2)
    refuse(
      `knowledge: its ${bytes} bytes take more than half of a context of ${limit} tokens; shorten it, or give it to some phases only`,
    )
}

function checkVariables({ contextVariables }: AgentSpec): void {
  const long = Object.keys(contextVariables).find((name) => name.length > VARIABLE_NAME)
  if (long !== undefined)
    refuse(`contextVariables: the name "${echo(long)}" is too long; names have at most ${VARIABLE_NAME} characters`)
}

/** Throws CommandRejected SPEC_REFUSED if there is a money budget and a model has no price. */
export function checkBudget({ budget, models }: Pick<AgentSpec, 'budget' | 'models'>): void {
  if (budget.nanoDollars === null) return
  const unpriced = models.known.find((model) => model.price === null)
  if (unpriced !== undefined)
    refuse(
      `budget: the price of "${unpriced.id}" is not known, so no money budget can be kept; give its price, or a token budget`,
    )
}

function checkTool(spec: AgentSpec, pattern: string, where: string): void {
  const name = canonicalTool(pattern)
  if (name === '*' || KNOWN_NAMES.includes(name)) return
  const served = spec.tools.map((tool) => tool.name)
  if (served.includes(name)) return
  if (name.endsWith(':*') && served.some((tool) => tool.startsWith(name.slice(0, -1)))) return
  refuse(
    `${where}: there is no tool "${echo(pattern)}"; tools are ${[...new Set([...served, ...KNOWN_NAMES])].sort().join(', ')}`,
  )
}

function checkTools({ tools }: AgentSpec): void {
  if (!tools.some(({ control }) => control === 'completes'))
    refuse(`tools: ${completing.join(', ')} is missing; no run could finish`)
  const names = new Set<string>()
  for (const tool of tools) {
    const name = wireName(tool.name)
    if (name === UNKNOWN_TOOL)
      refuse(`tools: "${name}" is what calls of tools that do not exist are recorded as; rename it`)
    if (names.has(name)) refuse(`tools: "${tool.name}" and another one look alike to the model ("${name}"); rename one`)
    names.add(name)
    if (tool.control) continue
    try {
      z.fromJSONSchema(tool.parameters as z.core.JSONSchema.JSONSchema)
    } catch (error) {
      refuse(`tools: the parameters of "${tool.name}" are no usable JSON Schema: ${(error as Error).message}`)
    }
  }
}

/** Throws CommandRejected SPEC_REFUSED for the source of a secret pattern that cannot be used. */
export function checkPattern(source: string): void {
  try {
    compilePattern(source)
  } catch (error) {
    refuse(`policy.secretPatterns: "${echo(source)}" cannot be used: ${(error as Error).message}`)
  }
}
