import { z } from 'zod'
import { ModelError } from '../../../domain/calls/errors.ts'
import { issueText } from '../../../domain/log/issues.ts'

// The format of a scripted model. A script is a JSON file:
//
//   { "script": 1, "model": "demo", "summary": "…", "turns": [ … ], "parts": [ { "name", "when", "turns": [ … ] } ] }
//
// Each turn is one answer: `text`, `calls`, or both. Which turn comes next is read off the conversation, so a resumed or
// forked run plays on where it was. From the turn after the last one played, the first whose `when` holds is played.
// `goto` names the turn (by `label`) to look on from instead, which makes loops. `parts` are scripts for other
// conversations, such as those of children: the first part whose `when` holds at the beginning is the one that is played;
// none: `turns`. A request that offers no tools is answered with `summary`.
//
// `text` and strings in `arguments` may hold ${lastResult}, ${lastInput}, ${firstInput} and ${turn}; `$${` is a plain `${`.
// ${lastResult/blocks/0/hash} is a value of the JSON in the last result (a JSON pointer), or of the line of it that is JSON.
//
// `calls` name tools as they are written to the model; which there are, and what they take: api/docs/tools.md.
//
// `fail` makes the turn fail `times` times first. This count is the one thing not read off the conversation (failed
// attempts leave no trace there): it is kept in memory, so a new process counts anew.

const text = z.string()

/** Every condition given must hold. Texts are compared as they are. */
const When = z
  .strictObject({
    /** In the results since the last answer, joined by newlines. */
    lastResultContains: text.optional(),
    lastResultIsError: z.boolean().optional(),
    /** In the newest input of a person. */
    lastInputContains: text.optional(),
    /** In the first input: the task. */
    firstInputContains: text.optional(),
    systemContains: text.optional(),
    /** A tool that is, or is not, offered. */
    offered: text.optional(),
    notOffered: text.optional(),
  })
  .refine((when) => Object.keys(when).length > 0, 'expected at least one condition')
export type When = z.infer<typeof When>

const FAILURES = ['RATE_LIMITED', 'OVERLOADED', 'NETWORK', 'TIMEOUT', 'AUTHENTICATION', 'INVALID_REQUEST'] as const

const count = z.int().nonnegative()
const Turn = z
  .strictObject({
    label: text.min(1).optional(),
    when: When.optional(),
    text: text.optional(),
    /** `argumentsText` stands for what a model sends that is no JSON object. */
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
    /** Tokens; what is left out is estimated from the lengths of the texts. */
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

/** A script, checked. */
export const Script = z.strictObject({
  script: z.literal(1),
  model: text.min(1).default('scripted'),
  summary: text.min(1).default('Summary of the conversation so far.'),
  turns: Turns,
  parts: z.array(z.strictObject({ name: text.min(1), when: When, turns: Turns })).default([]),
})
export type Script = z.infer<typeof Script>
/** A script as it is written. */
export type ScriptInput = z.input<typeof Script>

export const PLACEHOLDERS = ['lastResult', 'lastInput', 'firstInput', 'turn'] as const
/** The text before a JSON pointer into the last result. */
export const IN_RESULT = 'lastResult/'
export const PLACEHOLDER = /(\$?)\$\{([^}]*)\}/g

const placeholders = (value: string): string[] =>
  [...value.matchAll(PLACEHOLDER)].flatMap(([, escaped, name]) => (escaped ? [] : [name ?? '']))

/** A value as a script. Throws ModelError SCRIPT_INVALID, naming each place and what is expected there. */
export function parseScript(value: unknown, source: string): Script {
  const result = Script.safeParse(value)
  if (result.success) return result.data
  const problems = result.error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.map(String).join('.') || '(the whole)'}: ${issueText(issue)}`)
  throw new ModelError('SCRIPT_INVALID', `the script ${source} is not valid: ${problems.join('; ')}`)
}
