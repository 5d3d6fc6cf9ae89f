import type { JsonObject } from '../log/json.ts'

/** Words that a shell interprets when they come first and are unquoted. */
const RESERVED = new Set(
  '! { } case do done elif else esac fi for if in then until while [[ function select time'.split(' '),
)

/** Characters that make unquoted text more than plain words: operators, expansions, patterns, comments. */
const SPECIAL = new Set('|&;<>()$`*?[]{}#~\n\r!'.split(''))

/**
 * The argv of a shell command that consists of one simple command of plain words, quoted as in POSIX sh. Null for any
 * command that a shell would expand, redirect or chain. Gates compare the result with an argv, so any doubtful command
 * must yield null.
 */
export function parseCommand(command: string): string[] | null {
  const words: string[] = []
  let word: string | null = null
  let quotedFirst = false
  for (let at = 0; at < command.length; ) {
    const c = command[at] as string
    if (c === '\0') return null
    if (c === ' ' || c === '\t') {
      if (word !== null) words.push(word)
      word = null
      at++
      continue
    }
    const part = c === "'" ? single(command, at) : c === '"' ? double(command, at) : bare(command, at)
    if (part === null) return null
    // A word with a quoted part is neither a keyword nor an assignment.
    if (words.length === 0) quotedFirst ||= c === "'" || c === '"' || c === '\\'
    word = (word ?? '') + part.text
    at = part.end
  }
  if (word !== null) words.push(word)
  const first = words[0]
  if (first === undefined || first === '') return null
  return !quotedFirst && (RESERVED.has(first) || /^[A-Za-z_]\w*\+?=/.test(first)) ? null : words
}

const OPERATOR = /^(?:&&|\|\||[;|])/

/**
 * The programs that a shell command starts: the first words of simple commands that `&&`, `||`, `;` and `|` join. Null
 * for any command that is not made of plain words (see {@link parseCommand}), because it could start other programs.
 */
export function programsOf(command: string): string[] | null {
  const commands: string[] = []
  let begun = 0
  for (let at = 0; at < command.length; ) {
    const c = command[at] as string
    const operator = OPERATOR.exec(command.slice(at, at + 2))?.[0]
    if (operator !== undefined) {
      commands.push(command.slice(begun, at))
      at += operator.length
      begun = at
    } else if (c === "'" || c === '"' || c === '\\') {
      const part = c === "'" ? single(command, at) : c === '"' ? double(command, at) : bare(command, at)
      if (part === null) return null
      at = part.end
    } else at++
  }
  const parsed = [...commands, command.slice(begun)].map(parseCommand)
  return parsed.some((argv) => argv === null) ? null : parsed.map((argv) => argv![0] as string)
}

type Part = { readonly text: string; readonly end: number } | null

function single(command: string, at: number): Part {
  const end = command.indexOf("'", at + 1)
  return end < 0 ? null : { text: command.slice(at + 1, end), end: end + 1 }
}

function double(command: string, at: number): Part {
  let text = ''
  for (let i = at + 1; i < command.length; i++) {
    const c = command[i] as string
    if (c === '"') return { text, end: i + 1 }
    if (c === '$' || c === '`') return null
    if (c !== '\\') text += c
    else {
      const next = command[++i]
      if (next === undefined) return null
      if (next !== '\n') text += '$`"\\'.includes(next) ? next : `\\${next}`
    }
  }
  return null
}

function bare(command: string, at: number): Part {
  const c = command[at] as string
  if (c !== '\\') return SPECIAL.has(c) ? null : { text: c, end: at + 1 }
  const next = command[at + 1]
  return next === undefined || next === '\n' ? null : { text: next, end: at + 2 }
}

/** A shell command that {@link parseCommand} parses back to the same argv. */
export function quoteCommand(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
}

/**
 * The argv of a `run_command` call that runs in the workspace root; null for any other call, because in another folder
 * the same words may have another meaning. `reads`: the resolved folder of the call.
 */
export function commandInRoot(toolName: string, args: JsonObject, reads: readonly string[]): string[] | null {
  if (toolName !== 'run_command' || typeof args.command !== 'string') return null
  return reads.every((folder) => folder === '' || folder === '.') ? parseCommand(args.command) : null
}

/** Whether both are the same command, word for word. False if one is null. */
export const sameCommand = (a: readonly string[] | null, b: readonly string[] | null): boolean =>
  a !== null && b !== null && a.length === b.length && a.every((word, i) => word === b[i])
