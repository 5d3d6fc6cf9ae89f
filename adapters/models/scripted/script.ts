import { z } from 'zod'
import { ModelError } from '../../../domain/calls/errors.ts'
import { issueText } from '../../../domain/log/issues.ts'

// The format of a scripted model. A script is a JSON file:
//
// { "script": 1, "model": "demo", "summary": "…", "turns": [ … ], "parts": [ { "name", "when", "turns": [ … ] } ] }
//
// Each turn is one answer: `text`, `calls`, or both. The conversation determines the next turn, so a resumed or forked
// run continues at its place. The next turn is the first after the last played turn whose `when` is true. `goto` names
// the turn (by `label`) from which to search instead, which allows loops. `parts` are scripts for other conversations,
// such as those of children. The first part whose `when` is true at the beginning is played; without one, `turns` is
// played. A request without tools gets `summary` as its answer.
//
// `text` and the strings in `arguments` may contain ${lastResult}, ${lastInput}, ${firstInput} and ${turn}; `$${` is a
// plain `${`. ${lastResult/blocks/0/hash} is a value in the JSON of the last result (a JSON pointer), or in a line of
// the result that is JSON.
//
// `calls` use the names that models see. The tools and their arguments: api/docs/tools.md.
//
// `fail` makes the turn fail `times` times first. Only this count is not in the conversation, which has no trace of
// failed attempts. The count is in memory, so a new process starts at zero.

const text = z.string()

/** Every given condition must be true. Texts are compared exactly. */
const When = z
  .strictObject({
    /** Text in the results since the last answer, joined by newlines. */
    lastResultContains: text.optional(),
    lastResultIsError: z.boolean().optional(),
    /** Text in the newest input of a person. */
    lastInputContains: text.optional(),
    /** Text in the first input, which is the task. */
    firstInputContains: text.optional(),
    systemContains: text.optional(),
    /** A tool that must be, or must not be, offered. */
    offered: text.optional(),
    notOffered: text.optional(),
  })
  .refine((when) => Object.keys(when).length > 0, 'expected at least one condition')
export type When = z.infer<typeof When>

export const FAILURES = [
  'RATE_LIMITED',
  'OVERLOADED',
  'NETWORK',
  'TIMEOUT',
  'AUTHENTICATION',
  'INVALID_REQUEST',
] as const

const count = z.int().nonnegative()
const Turn = z
  .strictObject({
    label: text.min(1).optional(),
    when: When.optional(),
    text: text.optional(),
    /** `argumentsText`: for arguments that are not a JSON object. */
    calls: z
      .array(
        z
          .strictObject({
            tool: text.min(1),
            arguments: z.record(z.string(), z.json()).optional(),
            argumentsText: text.optional(),
          })
          .refine(
            (c) => !(c.arguments && c.argumentsText !== undefined),
            'expected arguments or argumentsText, not both',
          ),
      )
      .optional(),
    /** Default: `tool_use` with calls, else `end_turn`. */
    stop: z.enum(['tool_use', 'end_turn', 'max_tokens', 'pause_turn', 'refusal']).optional(),
    /** Tokens. Missing members are estimated from the lengths of the texts. */
    usage: z
      .strictObject({
        input: count.optional(),
        output: count.optional(),
        cacheRead: count.optional(),
        cacheWrite: count.optional(),
      })
      .optional(),
    delayMs: count.max(600_000).optional(),
    fail: z.strictObject({ code: z.enum(FAILURES), times: z.int().positive().default(1) }).optional(),
    goto: text.min(1).optional(),
  })
  .superRefine((turn, context) => {
    const strings = [turn.text ?? '', JSON.stringify(turn.calls ?? [])].join('\n')
    for (const name of placeholders(strings)) {
      if (!(PLACEHOLDERS as readonly string[]).includes(name) && !name.startsWith(IN_RESULT)) {
        context.addIssue({ code: 'custom', message: `\${${name}} is unknown; known are ${PLACEHOLDERS.join(', ')}` })
      }
    }
  })
export type Turn = z.infer<typeof Turn>

const Turns = z
  .array(Turn)
  .min(1)
  .superRefine((turns, context) => {
    const labels = new Set<string>()
    turns.forEach(({ label }, i) => {
      if (label !== undefined && labels.has(label)) {
        context.addIssue({
          code: 'custom',
          path: [i, 'label'],
          message: `expected a label of its own, not "${label}" again`,
        })
      }
      if (label !== undefined) labels.add(label)
    })
    turns.forEach(({ goto }, i) => {
      if (goto !== undefined && !labels.has(goto)) {
        context.addIssue({ code: 'custom', path: [i, 'goto'], message: `expected the label of a turn, not "${goto}"` })
      }
    })
  })

/** A checked script. */
export const Script = z.strictObject({
  script: z.literal(1),
  model: text.min(1).default('scripted'),
  summary: text.min(1).default('Summary of the conversation so far.'),
  turns: Turns,
  parts: z.array(z.strictObject({ name: text.min(1), when: When, turns: Turns })).default([]),
})
export type Script = z.infer<typeof Script>
/** A script as its author writes it. */
export type ScriptInput = z.input<typeof Script>

export const PLACEHOLDERS = ['lastResult', 'lastInput', 'firstInput', 'turn'] as const
/** The text before a JSON pointer into the last result. */
export const IN_RESULT = 'lastResult/'
export const PLACEHOLDER = /(\$?)\$\{([^}]*)\}/g

const placeholders = (value: string): string[] =>
  [...value.matchAll(PLACEHOLDER)].flatMap(([, escaped, name]) => (escaped ? [] : [name ?? '']))

/** Checks that a value is a script. Throws ModelError SCRIPT_INVALID with each place and the expected value. */
export function parseScript(value: unknown, source: string): Script {
  const result = Script.safeParse(value)
  if (result.success) return result.data
  const problems = result.error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.map(String).join('.') || '(the whole)'}: ${issueText(issue)}`)
  throw new ModelError('SCRIPT_INVALID', `the script ${source} is not valid: ${problems.join('; ')}`)
}
