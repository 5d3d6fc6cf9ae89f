import { z } from 'zod'
import { ToolError } from '../../../domain/calls/errors.ts'
import { type Effect, ToolSpec } from '../../../domain/calls/tools/tool-spec.ts'
import { issuesOf, issuesText } from '../../../domain/log/issues.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { Probe, Tool, ToolContext, ToolResult, Workspace } from '../../../domain/ports/index.ts'

/** A tool's definition: the schema of its arguments, its effect class, and its functions. */
export interface ToolDefinition<T> {
  readonly name: string
  readonly description: string
  readonly parameters: z.ZodType<T>
  readonly effect: Effect
  readonly paths?: ToolSpec['paths']
  readonly barrier?: boolean
  readonly timeLimitMs: number
  readonly sendsTo?: ToolSpec['sendsTo']
  run(args: T, context: ToolContext): Promise<ToolResult>
  probe?(args: T, context: ToolContext): Promise<Probe>
}

/** Makes a Tool from a definition. Checks the arguments before the call: ToolError INVALID_ARGUMENTS. */
export function defineTool<T>(definition: ToolDefinition<T>): Tool {
  const { $schema: _, ...parameters } = z.toJSONSchema(definition.parameters, { io: 'input' })
  const spec = ToolSpec.parse({
    name: definition.name,
    description: definition.description,
    parameters,
    effect: definition.effect,
    paths: definition.paths ?? {},
    barrier: definition.barrier ?? false,
    control: false,
    timeLimitMs: definition.timeLimitMs,
    ...(definition.sendsTo !== undefined && { sendsTo: definition.sendsTo }),
  })
  const checked = (args: JsonObject): T => {
    const parsed = definition.parameters.safeParse(args)
    if (parsed.success) return parsed.data
    throw new ToolError('INVALID_ARGUMENTS', explain(parsed.error), { beforeEffect: true })
  }
  const { probe } = definition
  return {
    spec,
    run: async (args, context) => definition.run(checked(args), context),
    ...(probe && { probe: async (args: JsonObject, context: ToolContext) => probe(checked(args), context) }),
  }
}

/** Names the argument and the expectation, but never the value, which may be a secret. */
const explain = (error: z.ZodError): string => issuesText(issuesOf(error), 'arguments')

/** Text without NUL and lone surrogates, which not every store can represent. */
export const wellFormedText = z
  .string()
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'expected well-formed text without NUL')

export function workspaceOf(context: ToolContext): Workspace {
  if (context.workspace) return context.workspace
  throw new ToolError('RESOURCE_NOT_FOUND', 'this run has no workspace', { beforeEffect: true })
}
