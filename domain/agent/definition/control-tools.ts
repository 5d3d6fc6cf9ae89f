import { z } from 'zod'
import type { JsonObject } from '../../log/json.ts'
import { RESULT_BYTES } from '../bounded.ts'
import type { RoleDefinition } from './spec.ts'
import type { ToolSpec } from './tools.ts'

// Tools by which an agent steers itself. They are offered in every phase and touch nothing outside the log.

const nonBlank = z.string().trim().min(1)

/** The longest name of a context variable: a key of the tables, whose indexes take no long ones, in characters. */
export const VARIABLE_NAME = 256

/** Seed 000, 5.1. No other key; strings are trimmed, `artifacts` deduplicated. */
export const CompleteTask = z.strictObject({
  summary: nonBlank.describe('The final answer: what was done and what came of it.'),
  artifacts: z
    .array(nonBlank)
    .transform((paths) => [...new Set(paths)])
    .optional()
    .describe('Paths of files that the work produced, relative to the workspace.'),
  nextSteps: nonBlank.optional().describe('What should be done next, if anything.'),
})

export const AdvancePhase = z.strictObject({
  summary: nonBlank.describe('What this phase established.'),
  to: nonBlank.optional().describe('Phase to go to; the next one where absent. An earlier phase is allowed.'),
  artifacts: z
    .array(
      z.strictObject({
        type: z.enum(['plan', 'report', 'diagram', 'file']),
        title: nonBlank,
        content: z.string().min(1),
      }),
    )
    .optional()
    .describe('Plans, reports or diagrams made in this phase.'),
})

export const SetContext = z.strictObject({
  key: nonBlank.max(VARIABLE_NAME).describe('Name of the context variable.'),
  value: z.json().describe('Any JSON value.'),
})

export const AskUser = z.strictObject({
  question: nonBlank.describe('One clear question. The run waits for the answer.'),
})

/** The most that one call shows of a result, in UTF-8 bytes. */
export const READ_BYTES = RESULT_BYTES - 512

export const ReadResult = z.strictObject({
  toolCallId: nonBlank.describe('The id of the call whose result it is, as the note in the cut result names it.'),
  from: z.int().nonnegative().default(0).describe('First byte to read, counted from 0. Default: 0'),
  length: z
    .int()
    .min(4)
    .max(READ_BYTES)
    .default(READ_BYTES)
    .describe(`How many bytes to read. Default, and at most: ${READ_BYTES}`),
})

export type ReadResultInput = z.output<typeof ReadResult>

/** How to read on in a result, in words for the note in what is shown of it. `from`: a byte. */
export const readOnNote = (toolCallId: string, from: number): string =>
  `to read on, call read_result with toolCallId ${JSON.stringify(toolCallId)} and from ${from}`

/** Gates look at the workspace, whose versions take their time: theirs ends before this, so that a gate can say so, ms. */
const CONTROL_LIMIT_MS = 5 * 60_000

const control = (name: string, description: string, schema: z.ZodType): ToolSpec => ({
  name,
  description,
  parameters: z.toJSONSchema(schema, { io: 'input' }) as JsonObject,
  effect: 'pure',
  paths: {},
  barrier: false,
  control: true,
  timeLimitMs: CONTROL_LIMIT_MS,
})

export const COMPLETE_TASK = control(
  'complete_task',
  'Ends the task with its result. The only way to finish. Must be the only call of its turn.',
  CompleteTask,
)
export const ADVANCE_PHASE = control(
  'advance_phase',
  'Moves to another phase of your procedure. Going forward checks the quality gates. Must be the only call of its turn.',
  AdvancePhase,
)
export const SET_CONTEXT = control('set_context', 'Keeps a named JSON value as working memory of this run.', SetContext)
export const ASK_USER = control('ask_user', 'Puts a question to the user and waits for the answer.', AskUser)

export const READ_RESULT = control(
  'read_result',
  'Reads any part of the result of an earlier call that was too long to be shown whole.',
  ReadResult,
)

/** Control tools that are offered only in phases that have other tools. */
export const WITH_TOOLS: ReadonlySet<string> = new Set([READ_RESULT.name])

/** What JSON Schema cannot say of a control tool's arguments (not blank, trimmed) is in these. */
export const CONTROL_ARGUMENTS: Readonly<Record<string, z.ZodType>> = {
  complete_task: CompleteTask,
  advance_phase: AdvancePhase,
  set_context: SetContext,
  ask_user: AskUser,
  read_result: ReadResult,
}

/** The control tools of an agent with this role. */
export function controlTools(role: RoleDefinition | null): readonly ToolSpec[] {
  return [COMPLETE_TASK, ...(role === null ? [] : [ADVANCE_PHASE]), SET_CONTEXT, ASK_USER, READ_RESULT]
}
