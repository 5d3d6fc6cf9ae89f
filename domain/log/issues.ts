import type { z } from 'zod'

/** The maximum length of a foreign name or value in a message, in characters. */
export const ECHOED = 64

/** Truncates foreign text for a message, so that a refused value does not fill logs and screens. */
export const echo = (text: string): string =>
  text.length <= ECHOED ? text : `${text.slice(0, ECHOED).toWellFormed()}… (${text.length} characters)`

/** The most names of a list in a message. */
const ECHOED_NAMES = 5

/** Truncates a list of foreign names for a message: a request can have thousands of them. `as`: the form of each name. */
export function echoList(names: readonly string[], as = echo): string {
  const more = names.length > ECHOED_NAMES ? ` and ${names.length - ECHOED_NAMES} more` : ''
  return `${names.slice(0, ECHOED_NAMES).map(as).join(', ')}${more}`
}

/** The text of an issue, without the refused value; names of unknown keys are truncated. */
export function issueText(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
    return `is missing; expected ${TYPES[issue.expected] ?? issue.expected}`
  }
  if (issue.code === 'invalid_key') {
    const [first] = issue.issues
    return `this name cannot be used: ${first === undefined ? issue.message : issueText(first)}`
  }
  if (issue.code !== 'unrecognized_keys') return OF_ZOD.test(issue.message) ? plainText(issue) : issue.message
  // Some schemas suggest the key that the caller may have meant.
  const hint = issue.message.startsWith('did you mean ') ? `; ${issue.message}` : ''
  return `unknown key ${echoList(issue.keys, (key) => `"${echo(key)}"`)}${hint}`
}

/** The beginnings of zod's own messages. Messages of our schemas are already plain. */
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

/** Replaces zod's own message. */
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
      return formatText(issue)
    default:
      return 'it cannot be used'
  }
}

/** The expected form of a text, with the pattern, because zod's message says no more either. */
function formatText({ format, pattern, ...issue }: z.core.$ZodIssueInvalidStringFormat): string {
  const part = 'prefix' in issue ? issue.prefix : 'suffix' in issue ? issue.suffix : undefined
  if (format === 'starts_with') return `expected a text that begins with "${String(part)}"`
  if (format === 'ends_with') return `expected a text that ends with "${String(part)}"`
  return format === 'regex' ? `expected a text of the form ${pattern}` : `expected another form of text (${format})`
}

function amount(count: number | bigint, origin: string): string {
  const unit = origin === 'string' ? 'character' : origin === 'array' || origin === 'set' ? 'item' : null
  return unit === null ? String(count) : `${count} ${unit}${Number(count) === 1 ? '' : 's'}`
}

/** The issues of a refused value, at most {@link SHOWN_ISSUES}, for its caller. `at`: prefix of each path. */
export function issuesOf(error: z.ZodError, at: readonly string[] = []): { path: string; message: string }[] {
  const shown = error.issues.slice(0, SHOWN_ISSUES).map((issue) => ({
    path: echo([...at, ...issue.path.map(String)].join('.')),
    message: issueText(issue),
  }))
  const more = error.issues.length - shown.length
  return more === 0 ? shown : [...shown, { path: '', message: `and ${more} more` }]
}
const SHOWN_ISSUES = 20

/** Joins {@link issuesOf} to one sentence; `root` names the value itself. */
export const issuesText = (issues: readonly { path: string; message: string }[], root = ''): string =>
  issues.map(({ path, message }) => (path || root ? `${path || root}: ${message}` : message)).join('; ')

/** The first issue of a refused value, on one line: its path, and the expected value. */
export function firstIssue(error: z.ZodError, root: string): string {
  return issuesText(issuesOf(error).slice(0, 1), root)
}
