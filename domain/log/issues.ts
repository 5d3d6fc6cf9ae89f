import type { z } from 'zod'

/** The most of a name or value from outside that a message repeats, in characters. */
export const ECHOED = 64

/** Text from outside as a message may repeat it: cut, so that what was refused does not fill logs and screens. */
export const echo = (text: string): string =>
  text.length <= ECHOED ? text : `${text.slice(0, ECHOED).toWellFormed()}… (${text.length} characters)`

/** The text of an issue, without the value that it is about; names of unknown keys are cut. */
export function issueText(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
    return `is missing; expected ${TYPES[issue.expected] ?? issue.expected}`
  }
  if (issue.code === 'invalid_key') {
    const [first] = issue.issues
    return `this name cannot be used: ${first === undefined ? issue.message : issueText(first)}`
  }
  if (issue.code !== 'unrecognized_keys') return OF_ZOD.test(issue.message) ? plainText(issue) : issue.message
  const more = issue.keys.length > ECHOED_KEYS ? ` and ${issue.keys.length - ECHOED_KEYS} more` : ''
  const keys = issue.keys.slice(0, ECHOED_KEYS).map((key) => `"${echo(key)}"`)
  // A schema that knows what may have been meant says so.
  const hint = issue.message.startsWith('did you mean ') ? `; ${issue.message}` : ''
  return `unknown key ${keys.join(', ')}${more}${hint}`
}
const ECHOED_KEYS = 5

/** So begin the messages that zod writes itself; a schema's own are plain already. */
const OF_ZOD = /^(?:Invalid |Too (?:big|small): )/

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

/** The expectation of an issue with zod's own message. */
function plainText(issue: Exclude<z.core.$ZodIssue, { code: 'unrecognized_keys' | 'invalid_key' }>): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${TYPES[issue.expected] ?? issue.expected}`
    case 'invalid_value': {
      const values = issue.values.map((value) => (typeof value === 'string' ? `"${value}"` : String(value)))
      return values.length === 1 ? `expected ${values[0]}` : `expected one of ${values.join(', ')}`
    }
    case 'too_small':
      if (issue.minimum === 1 && issue.origin !== 'number' && issue.origin !== 'int') return 'may not be empty'
      return `expected ${issue.inclusive === false ? 'more than' : 'at least'} ${amount(issue.minimum, issue.origin)}`
    case 'too_big':
      return `expected ${issue.inclusive === false ? 'less than' : 'at most'} ${amount(issue.maximum, issue.origin)}`
    case 'not_multiple_of':
      return `expected a multiple of ${issue.divisor}`
    case 'invalid_union':
      return 'it has none of the allowed forms'
    case 'invalid_format':
      return `expected another form of text (${issue.format})`
    default:
      return 'it cannot be used'
  }
}

function amount(count: number | bigint, origin: string): string {
  const unit = origin === 'string' ? 'character' : origin === 'array' || origin === 'set' ? 'item' : null
  return unit === null ? String(count) : `${count} ${unit}${Number(count) === 1 ? '' : 's'}`
}

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
