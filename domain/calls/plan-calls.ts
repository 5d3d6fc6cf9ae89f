import { z } from 'zod'
import { canonicalBytes } from '../log/canonical.ts'
import { saltedHash } from '../log/ids.ts'
import { echo, firstIssue } from '../log/issues.ts'
import type { Json, JsonObject } from '../log/json.ts'
import { wellFormed } from '../log/well-formed.ts'
import { destinationOf, destinationText, grantsFor } from '../secrets/destinations.ts'
import { failureKey } from './call.ts'
import type { Caller } from './caller.ts'
import { commandInRoot, sameCommand } from './command-line.ts'
import type { Failure, PlannedCall, ResolvedPaths } from './events/event-parts.ts'
import { type Permission, withoutPermission } from './permissions.ts'
import type { PolicyEngine } from './policy-engine.ts'
import type { RequestedCall } from './requested-calls.ts'
import { type Effect, type ToolSpec, wireName } from './tools/tool-spec.ts'
import { askedName, toolNamed, UNKNOWN_TOOL } from './tools/tools.ts'

// The tool execution contract (seed 000, 5.3 and 5.12). Each requested call is checked in this order: turn as a whole →
// known tool → well formed → schema → policy → duplicate of a failed call. Later steps (approval, secrets, run) have
// their own events.

/** The rules of one kind of agent that calls tools. */
export interface Planning {
  readonly policy: PolicyEngine
  /** Why none of the calls may run, or null. `tool`: of the judged call. */
  wholeTurn?(calls: readonly RequestedCall[], tool: ToolSpec | undefined): Failure | null
  /** The arguments of a control tool, and why the agent's state refuses them; undefined: no such tool. */
  control(name: string): ControlArguments | undefined
}
interface ControlArguments {
  readonly schema: z.ZodType
  refusal(input: unknown): string | null
}

/** Judges the calls of one answer, in order. */
export function planCalls(
  state: Caller,
  calls: readonly RequestedCall[],
  paths: readonly ResolvedPaths[],
  planning: Planning,
): PlannedCall[] {
  const { policy, wholeTurn } = planning
  // A permission for one call applies to only one call of the answer.
  let judging = state
  return calls.map((call, index) => {
    const tool = toolNamed(state.spec.tools, call.name)
    const args = call.arguments ?? {}
    const resolved = paths[index] ?? {}
    const refused =
      wholeTurn?.(calls, tool) ??
      unknownTool(state, call, tool) ??
      malformed(call, resolved) ??
      breaksSchema(planning, tool as ToolSpec, args) ??
      policy.denial(judging, tool as ToolSpec) ??
      duplicate(state, tool as ToolSpec, args)
    const permission = refused === null ? permissionOf(policy, judging, tool as ToolSpec) : undefined
    if (permission?.scope === 'call')
      judging = { ...judging, permissions: withoutPermission(judging.permissions, permission.id) }
    const places = touched(tool, resolved)
    const asked = askedName(call.name)
    const secrets = refused === null && tool !== undefined ? secretsIn(state, tool, args, places.writes) : []
    return {
      block: call.block,
      toolName: tool?.name ?? UNKNOWN_TOOL,
      ...(tool === undefined && asked !== null ? { askedName: asked } : {}),
      argumentsHash: argumentsHash(state.hashSalt, args),
      ...places,
      effect: tool === undefined ? 'pure' : effectOf(state, tool, args, places.reads),
      ...(refused === null ? {} : { refused }),
      ...(secrets.length === 0 ? {} : { secrets }),
      ...(permission === undefined ? {} : { permission: permission.id }),
    }
  })
}

/** The permission that a tool needs because the policy refuses it; undefined: none needed. */
function permissionOf(policy: PolicyEngine, state: Caller, tool: ToolSpec): Permission | undefined {
  const refused = policy.refusedByPolicy(state, tool)
  return refused === null ? undefined : policy.liftedBy(state, tool, refused)
}

/** Control tools receive no values. */
function secretsIn(
  { spec }: Caller,
  tool: ToolSpec,
  args: JsonObject,
  writes: readonly string[],
): NonNullable<PlannedCall['secrets']> {
  if (spec.secrets.length === 0 || tool.control) return []
  const destination = destinationOf(tool, args)
  const text = JSON.stringify(args)
  const to = destinationText(destination, tool.name, writes)
  return grantsFor(spec.secrets, destination).flatMap(({ name, reference }) =>
    text.includes(reference) ? [{ name, reference, to }] : [],
  )
}

/** Hash and salt by argument object. Argument objects are immutable. */
const hashed = new WeakMap<JsonObject, { readonly salt: string; readonly hash: string }>()

/**
 * Hex SHA-256 of the run's salt (hex) and the canonical arguments; approvals are bound to it. Cached per object, so
 * that a caller can hash large arguments one by one before the decision.
 */
export function argumentsHash(salt: string, args: JsonObject): string {
  const known = hashed.get(args)
  if (known?.salt === salt) return known.hash
  const hash = saltedHash(salt, canonicalBytes(wellFormed(args)))
  hashed.set(args, { salt, hash })
  return hash
}

function unknownTool(state: Caller, call: RequestedCall, tool: ToolSpec | undefined): Failure | null {
  if (tool !== undefined) return null
  const names = state.spec.tools.map((spec) => wireName(spec.name)).join(', ')
  if (state.spec.withheld?.some((name) => wireName(name) === call.name || name === call.name))
    return {
      code: 'PERMISSION_DENIED',
      rule: 'constraints',
      message: `the constraints of your task do not allow "${echo(call.name)}"; tools are ${names}`,
    }
  return {
    code: 'RESOURCE_NOT_FOUND',
    rule: 'unknown_tool',
    message: `there is no tool "${echo(call.name)}"; tools are ${names}`,
  }
}

const invalid = (message: string): Failure => ({ code: 'INVALID_ARGUMENTS', message })

function malformed(call: RequestedCall, paths: ResolvedPaths): Failure | null {
  if (call.beyond !== undefined) return invalid(call.beyond)
  if (call.arguments === null) return invalid('the arguments are not a JSON object, or a key stands twice in one')
  const flaw = flawIn(call.arguments, '')
  if (flaw !== null) return invalid(flaw)
  for (const path of Object.values(paths)) if (typeof path !== 'string') return path
  return null
}

/** The first disallowed content of a tool input (5.12.4), or null. */
function flawIn(value: Json, path: string): string | null {
  if (typeof value === 'string') {
    if (value.includes('\0')) return `${echo(path) || 'value'}: contains a NUL character`
    return value.isWellFormed() ? null : `${echo(path) || 'value'}: contains half of a surrogate pair`
  }
  if (value === null || typeof value !== 'object') return null
  for (const [key, member] of Object.entries(value)) {
    const at = path === '' ? key : `${path}.${key}`
    if (key === '__proto__' || key === 'constructor' || key === 'prototype')
      return `${echo(at)}: this key is not allowed`
    const flaw = flawIn(key, 'a key') ?? flawIn(member as Json, at)
    if (flaw !== null) return flaw
  }
  return null
}

const schemas = new WeakMap<ToolSpec, z.ZodType>()

/** Checks the arguments against the schema. For a control tool, also checks whether the state allows the call. */
function breaksSchema({ control: controlOf }: Planning, tool: ToolSpec, args: JsonObject): Failure | null {
  const control = tool.control ? controlOf(tool.name) : undefined
  let schema = control?.schema ?? schemas.get(tool)
  if (schema === undefined) {
    schema = schemaOf(tool.parameters)
    schemas.set(tool, schema)
  }
  const parsed = schema.safeParse(args)
  if (!parsed.success) return invalid(firstIssue(parsed.error, 'arguments'))
  const refusal = control?.refusal(parsed.data) ?? null
  return refusal === null ? null : invalid(refusal)
}

export const takes = (parameters: ToolSpec['parameters'], args: JsonObject): boolean =>
  schemaOf(parameters).safeParse(args).success

const schemaOf = (parameters: ToolSpec['parameters']) => z.fromJSONSchema(parameters as z.core.JSONSchema.JSONSchema)

function duplicate(state: Caller, tool: ToolSpec, args: JsonObject): Failure | null {
  if (!state.failedCalls?.includes(failureKey(tool.name, argumentsHash(state.hashSalt, args)))) return null
  return {
    code: 'DUPLICATE_FAILED_ACTION',
    message: 'this same call has failed and nothing has changed since; try a different approach',
  }
}

/** The workspace paths of a call, from its resolved path arguments. */
export function touched(tool: ToolSpec | undefined, paths: ResolvedPaths): { reads: string[]; writes: string[] } {
  const reads: string[] = []
  const writes: string[] = []
  for (const [name, use] of Object.entries(tool?.paths ?? {})) {
    const path = paths[name]
    if (typeof path === 'string') (use === 'write' ? writes : reads).push(path)
  }
  return { reads, writes }
}

/** The effect of a call. The test command and the role's idempotent commands may run again. */
function effectOf(state: Caller, tool: ToolSpec, args: JsonObject, reads: readonly string[]): Effect {
  const argv = commandInRoot(tool.name, args, reads)
  if (argv === null) return tool.effect
  const prefixes = state.spec.role?.idempotentCommands ?? []
  const prefixed = prefixes.some((prefix) => prefix.every((word, i) => word === argv[i]))
  return sameCommand(argv, state.spec.testCommand) || prefixed ? 'idempotent' : tool.effect
}
