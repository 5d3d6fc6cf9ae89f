import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { Json } from '../../../domain/log/json.ts'
import { parseDollars } from '../../../domain/tree/money.ts'
import { type Deprecation, deprecationText } from '../../operations/deprecation.ts'
import { isNear } from '../../operations/text/spelling.ts'
import type { CliIo, Context, GlobalOptions } from '../context.ts'
import { UsageError } from '../exit.ts'
import { showProgress } from '../output/progress.ts'

/** Registers commands. Each action gets a context, which is always closed afterwards, and returns an exit code. */
export interface Kit {
  readonly io: CliIo
  /** The commands with a name similar to a word. */
  readonly likeIt: (word: string) => string[]
  /** Runs another command line. Returns its exit code. */
  readonly runCli: (argv: readonly string[]) => Promise<number>
  /** Wraps an action. `flags`: options of the command that are also settings. */
  action<O extends object = Record<string, never>>(
    act: (ctx: Context, args: string[], options: O) => Promise<number>,
    flags?: readonly string[],
  ): (...args: unknown[]) => Promise<void>
}

/** The most commands that an error suggests. */
export const SUGGESTIONS = 3

/** Commands that drive a run, wait for events, or write from their beginning to their end. */
const TALKS: ReadonlySet<string> = new Set(
  (
    'run resume continue step input approve reject resolve fork serve worker demo tail consume acp mcp ' +
    'open call tree messages transcript completion man'
  ).split(' '),
)

/** The words of a command, without the program's name. */
const pathOf = (command: Command): string[] =>
  command.parent === null ? [] : [...pathOf(command.parent), command.name()]

type Given = Pick<Kit, 'io' | 'likeIt' | 'runCli'>

export function kitOf({ io, likeIt, runCli }: Given, done: (code: number) => void): Kit {
  return {
    io,
    likeIt,
    runCli,
    action:
      (act, flags = []) =>
      async (...all) => {
        const command = all.at(-1) as Command
        const options = command.optsWithGlobals() as GlobalOptions & Record<string, unknown>
        const settings = Object.fromEntries(flags.map((f) => [f, options[f]]))
        const [{ Context }, { unknownVariables }] = await Promise.all([
          import('../context.ts'),
          import('../../process/config/settings.ts'),
        ])
        const ctx = new Context(io, options, settings)
        for (const name of unknownVariables(io.env)) ctx.note(`${name} is no setting and is passed over`)
        for (const text of ctx.config.deprecations ?? []) ctx.note(text)
        const path = pathOf(command)
        const isQuiet = options.quiet === true || ctx.isJson || TALKS.has(path[0] ?? '')
        if (!isQuiet) ctx.progress = showProgress(io.stderr, path.join(' '))
        const args = all
          .slice(0, -2)
          .flat()
          .filter((a): a is string => typeof a === 'string')
        try {
          // The declaration of the command defines the types of its options.
          done(await act(ctx, args, options as never))
        } finally {
          ctx.progress?.stop()
          await ctx.leave()
        }
      },
  }
}

/**
 * Keeps the former name of an option for one minor version after the one that deprecates it: the help does not show it,
 * and a note on stderr reports its use. `use`: the present option of the command. Throws a UsageError for a command line
 * with both.
 */
export function formerOption(
  command: Command,
  io: Pick<CliIo, 'stderr'>,
  flags: string,
  deprecation: Deprecation,
): void {
  const now = command.options.find(({ long }) => long === deprecation.use)
  if (now === undefined) throw new Error(`${command.name()} has no option ${deprecation.use}`)
  const former = new Option(flags).hideHelp()
  if (now.parseArg !== undefined) former.argParser(now.parseArg)
  command.addOption(former).hook('preAction', (_, called) => {
    if (called.getOptionValueSource(former.attributeName()) !== 'cli') return
    if (called.getOptionValueSource(now.attributeName()) === 'cli')
      throw new UsageError(`${former.long} is the former name of ${now.long}; take it away`)
    called.setOptionValueWithSource(now.attributeName(), called.getOptionValue(former.attributeName()), 'cli')
    io.stderr.write(`${deprecationText(String(former.long), deprecation)}\n`)
  })
}

/** The text of a file that a command names. `what` names it in the error. Throws a UsageError. */
export function readText(what: string, path: string, cwd: string): string {
  try {
    return readFileSync(resolve(cwd, path), 'utf8')
  } catch (error) {
    throw new UsageError(`${what}: cannot be read: ${(error as Error).message}`)
  }
}

/** Makes a command the default of its group. An unknown word after the group's name throws a UsageError. */
export function alone(command: Command): Command {
  return command.allowExcessArguments().hook('preAction', (_, called) => {
    const [word] = called.args
    const group = called.parent
    if (word === undefined || group === null) return
    const there = group.commands.map((c) => `"${group.name()} ${c.name()}"`).join(', ')
    const meant = group.commands.find((c) => mayMean(word, c.name()))
    const hint = meant === undefined ? '' : ` (did you mean "${group.name()} ${meant.name()}"?)`
    throw new UsageError(`unknown command "${group.name()} ${word}"${hint}; there are ${there}`)
  })
}

/** Whether a word may mean a command: a misspelling of its name, or a prefix of it, or the name with a suffix. */
export const mayMean = (word: string, name: string): boolean =>
  word.startsWith(name) || name.startsWith(word) || isNear(word, name)

/** Parses a whole number of an option. Throws a UsageError. */
export function whole(name: string, min = 0): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min) throw new UsageError(`${name}: expected a whole number from ${min}`)
    return value
  }
}

/** Parses dollars of an option into nano-dollars. Throws a UsageError. */
export function moneyOption(name: string): (text: string) => number {
  return (text) => {
    try {
      const nano = parseDollars(text)
      if (nano > 0) return nano
    } catch (error) {
      throw new UsageError(`${name}: ${(error as RangeError).message}`)
    }
    throw new UsageError(`${name}: expected more than no dollars`)
  }
}

/** The defined members only. Undefined if there are none. */
export function some<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } | undefined {
  const entries = Object.entries(value).filter(([, v]) => v !== undefined)
  return entries.length > 0 ? (Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }) : undefined
}

/** Parses one of the given words. Throws a UsageError. */
export function choice<T extends string>(name: string, of: readonly T[]): (text: string) => T {
  return (text) => {
    const found = of.find((v) => v === text)
    if (found === undefined) throw new UsageError(`${name}: expected ${of.join(', ')}`)
    return found
  }
}

/** Parses {@link names} and throws a UsageError for unknown ones. */
export function known(option: string, of: readonly string[]): (text: string, before?: string[]) => string[] {
  return (text, before) => {
    const all = names(text, before)
    const unknown = all.filter((name) => !of.includes(name))
    if (unknown.length > 0)
      throw new UsageError(`${option}: there is no ${unknown.join(', ')}; there are ${of.join(', ')}`)
    return all
  }
}

/** A model id. The file of a scripted model becomes an absolute path, so that drivers in any folder find it. */
export const modelId = (text: string, cwd: string): string =>
  text.startsWith(SCRIPTED) ? SCRIPTED + resolve(cwd, text.slice(SCRIPTED.length)) : text
const SCRIPTED = 'scripted:'

/** Parses `a,b` and repeated options into one list. */
export const names = (text: string, before: string[] = []): string[] => [
  ...before,
  ...text
    .split(',')
    .map((t) => t.trim())
    .filter((t) => t !== ''),
]

/** Parses JSON. Text that is not JSON is returned unchanged. */
export function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Reads all of standard input as UTF-8. */
export async function readAll({ io: { stdin }, progress }: Pick<Context, 'io' | 'progress'>): Promise<string> {
  // A person can type it.
  progress?.stop()
  const parts: Buffer[] = []
  for await (const part of stdin) parts.push(Buffer.from(part as Uint8Array))
  return Buffer.concat(parts).toString('utf8')
}
