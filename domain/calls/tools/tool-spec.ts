import { z } from 'zod'
import { Milliseconds } from '../../log/time-span.ts'

/**
 * Whether a second run of a tool is safe. `pure` and `idempotent` calls run again under the same call id; a
 * `reconcilable` call has a probe; an `irreversible` call never runs twice without a person's decision.
 */
export const Effect = z.enum(['pure', 'idempotent', 'reconcilable', 'irreversible'])
export type Effect = z.infer<typeof Effect>

/** The tool's name for the model: `server:tool` becomes `server__tool`. */
export const wireName = (name: string): string => name.replace(':', '__')

/** The longest tool name that every provider accepts. Names consist of letters, digits, `_` and `-`. */
const MAX_WIRE_NAME = 64

/**
 * The effect of a successful control tool on the run: it completes the run, waits for the user's answer, or continues.
 * The note in a truncated result names the tool that reads results. A delegating call stays open until its child has
 * ended.
 */
export const ControlKind = z.enum(['completes', 'waits', 'reads_results', 'delegates', 'continues'])
export type ControlKind = z.infer<typeof ControlKind>

/**
 * A tool as the log records it: all data that decisions need. `parameters`: JSON Schema (2020-12). `paths`: the
 * arguments that are workspace paths, and the access of the call to them. `barrier`: the call conflicts with every
 * other call. `control` tools (domain/agent/control) are offered in every phase, touch nothing outside the log and are
 * not sensitive; false for every other tool. `timeLimitMs`: limit of one attempt.
 */
export const ToolSpec = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9_]*(:[a-zA-Z0-9_-]+)?$/, {
      error: 'expected tool or server:tool; models take letters, digits, "_" and "-" only',
    })
    .refine((name) => wireName(name).length <= MAX_WIRE_NAME, {
      error: `a model takes names of at most ${MAX_WIRE_NAME} characters; ":" counts as two`,
    }),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  effect: Effect,
  paths: z.record(z.string(), z.enum(['read', 'list', 'write'])),
  barrier: z.boolean(),
  control: z.union([z.literal(false), ControlKind]),
  timeLimitMs: Milliseconds,
  /** Hex SHA-256 of an MCP server's definition of the tool, without name, description and parameters. */
  definitionHash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  /** The host that every call sends its arguments to, as grants of secrets name it. */
  sendsTo: z.string().min(1).optional(),
})
export type ToolSpec = z.infer<typeof ToolSpec>

/** The members that models, policies and people rely on. A tool with a change in any of them counts as another tool. */
export const ToolMeaning = ToolSpec.pick({ description: true, parameters: true, definitionHash: true }).extend({
  effect: Effect.exclude(['reconcilable']),
})
export type ToolMeaning = z.infer<typeof ToolMeaning>
