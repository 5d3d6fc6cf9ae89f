import type { z } from 'zod'

/** The most of a name or value from outside that a message repeats, in characters. */
export const ECHOED = 64

/** Text from outside as a message may repeat it: cut, so that what was refused does not fill logs and screens. */
export const echo = (text: string): string =>
  text.length <= ECHOED ? text : `${text.slice(0, ECHOED).toWellFormed()}… (${text.length} characters)`

/** What an issue says, without the value that it is about; names of unknown keys are cut. */
export function issueText(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
    return `is missing; expected ${issue.expected}`
  }
  if (issue.code === 'too_small' && issue.origin === 'string' && issue.minimum === 1) return 'may not be empty'
  if (issue.code === 'invalid_key') return `this name cannot be used: ${issue.issues[0]?.message ?? issue.message}`
  if (issue.code !== 'unrecognized_keys') return issue.message
  const more = issue.keys.length > ECHOED_KEYS ? ` and ${issue.keys.length - ECHOED_KEYS} more` : ''
  const keys = issue.keys.slice(0, ECHOED_KEYS).map((key) => `"${echo(key)}"`)
  // A schema that knows what may have been meant says so.
  const hint = issue.message.startsWith('did you mean ') ? `; ${issue.message}` : ''
  return `unknown key ${keys.join(', ')}${more}${hint}`
}
const ECHOED_KEYS = 5

/** The issues of a refused value for its caller, at most {@link SHOWN_ISSUES}; `at` is put before each path. */
export function issuesOf(error: z.ZodError, at: readonly string[] = []): { path: string; message: string }[] {
  const shown = error.issues.slice(0, SHOWN_ISSUES).map((issue) => ({
    path: echo([...at, ...issue.path.map(String)].join('.')),
    message: issueText(issue),
  }))
  const more = error.issues.length - shown.length
  return more === 0 ? shown : [...shown, { path: '', message: `and ${more} more` }]
}
const SHOWN_ISSUES = 20

/** One sentence of {@link issuesOf}; `root` names the value itself. */
export const issuesText = (issues: readonly { path: string; message: string }[], root = ''): string =>
  issues.map(({ path, message }) => (path || root ? `${path || root}: ${message}` : message)).join('; ')

/** The first issue of a refused value, on one line: where, and what was expected there. */
export function firstIssue(error: z.ZodError, root: string): string {
  return issuesText(issuesOf(error).slice(0, 1), root)
}
