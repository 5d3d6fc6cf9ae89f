import { z } from 'zod'
import { Milliseconds } from '../log/time-span.ts'

/**
 * How safe a second run is. `pure` and `idempotent` run again under the same call id; `reconcilable` has
 * a probe; `irreversible` is never run twice without a person.
 */
export const Effect = z.enum(['pure', 'idempotent', 'reconcilable', 'irreversible'])
export type Effect = z.infer<typeof Effect>

/** The name that the model sees: `server:tool` becomes `server__tool`. */
export const wireName = (name: string): string => name.replace(':', '__')

/** The longest name that every provider takes, of letters, digits, `_` and `-`. */
const MAX_WIRE_NAME = 64

/**
 * How the success of a control tool steers the run: it completes the run, waits for the user's answer, or leaves the course
 * as it is. A tool that reads results is named in the note beside a result that is shown in part. A call that delegates stays
 * open until its child has ended.
 */
export const ControlKind = z.enum(['completes', 'waits', 'reads_results', 'delegates', 'continues'])
export type ControlKind = z.infer<typeof ControlKind>

/**
 * A tool as the log records it: everything that decisions need, as data. `parameters` is a JSON Schema (2020-12).
 * `paths` names arguments that are workspace paths and what the call does there; `barrier`: conflicts with every call.
 * `control` tools (domain/agent/control) are offered in every phase, touch nothing outside the log and are not sensitive;
 * false for every other tool. `timeLimitMs` bounds one attempt.
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
  /** Hex SHA-256 of what an MCP server says of the tool beside its name, description and parameters. */
  definitionHash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
})
export type ToolSpec = z.infer<typeof ToolSpec>

/** What a model, a policy and a person go by: a tool in which one of these is another one is another tool. */
export const ToolMeaning = ToolSpec.pick({ description: true, parameters: true, definitionHash: true }).extend({
  effect: Effect.exclude(['reconcilable']),
})
export type ToolMeaning = z.infer<typeof ToolMeaning>
