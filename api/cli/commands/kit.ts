import { resolve } from 'node:path'
import type { Command } from 'commander'
import { parseDollars } from '../../../domain/agent/routing/money.ts'
import type { Json } from '../../../domain/log/json.ts'
import { isNear } from '../../operations/text/spelling.ts'
import type { CliIo, Context, GlobalOptions } from '../context.ts'
import { UsageError } from '../exit.ts'

/** Registers commands: each action gets a context, which is left again whatever happens, and gives an exit code. */
export interface Kit {
  readonly io: CliIo
  /** The commands that may have been meant by a word. */
  readonly likeIt: (word: string) => string[]
  /** Wraps an action. `flags`: options of the command that are settings too. */
  action<O extends object = Record<string, never>>(
    act: (ctx: Context, args: string[], options: O) => Promise<number>,
    flags?: readonly string[],
  ): (...args: unknown[]) => Promise<void>
}

export function kitOf(io: CliIo, likeIt: Kit['likeIt'], done: (code: number) => void): Kit {
  return {
    io,
    likeIt,
    action:
      (act, flags = []) =>
      async (...all) => {
        const command = all.at(-1) as Command
        const options = command.optsWithGlobals() as GlobalOptions & Record<string, unknown>
        const settings = Object.fromEntries(flags.map((f) => [f, options[f]]))
        const [{ Context }, { unknownVariables }] = await Promise.all([
          import('../context.ts'),
          import('../../process/config/config.ts'),
        ])
        const ctx = new Context(io, options, settings)
        for (const name of unknownVariables(io.env)) ctx.note(`${name} is no setting and is passed over`)
        const args = all
          .slice(0, -2)
          .flat()
          .filter((a): a is string => typeof a === 'string')
        try {
          // The declaration of the command has the types of its options.
          done(await act(ctx, args, options as never))
        } finally {
          await ctx.leave()
        }
      },
  }
}

/** Makes a command what its group does when called alone; what follows the group's name and is none of its is told. */
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

/** Whether a word was meant as a command's name: misspelt, cut short, or with more behind it. */
export const mayMean = (word: string, name: string): boolean =>
  word.startsWith(name) || name.startsWith(word) || isNear(word, name)

/** A whole number of an option. */
export function whole(name: string, min = 0): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min) throw new UsageError(`${name}: expected a whole number from ${min}`)
    return value
  }
}

/** Dollars of an option, in nano-dollars. */
export function money(name: string): (text: string) => number {
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

/** Only the members that are set; undefined where none is. */
export function some<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } | undefined {
  const entries = Object.entries(value).filter(([, v]) => v !== undefined)
  return entries.length > 0 ? (Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }) : undefined
}

/** One of some words. */
export function choice<T extends string>(name: string, of: readonly T[]): (text: string) => T {
  return (text) => {
    const found = of.find((v) => v === text)
    if (found === undefined) throw new UsageError(`${name}: expected ${of.join(', ')}`)
    return found
  }
}

/** {@link names} out of those there are. */
export function known(option: string, of: readonly string[]): (text: string, before?: string[]) => string[] {
  return (text, before) => {
    const all = names(text, before)
    const unknown = all.filter((name) => !of.includes(name))
    if (unknown.length > 0)
      throw new UsageError(`${option}: there is no ${unknown.join(', ')}; there are ${of.join(', ')}`)
    return all
  }
}

/** A model's id, in which the file of a script is named for any driver, in any folder. */
export const modelId = (text: string, cwd: string): string =>
  text.startsWith(SCRIPTED) ? SCRIPTED + resolve(cwd, text.slice(SCRIPTED.length)) : text
const SCRIPTED = 'scripted:'

/** `a,b` and repeated options, collected. */
export const names = (text: string, before: string[] = []): string[] => [
  ...before,
  ...text
    .split(',')
    .map((t) => t.trim())
    .filter((t) => t !== ''),
]

/** JSON where it is JSON, else the text itself. */
export function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** All of standard input, as text. */
export async function readAll(stdin: NodeJS.ReadStream): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of stdin) parts.push(Buffer.from(part as Uint8Array))
  return Buffer.concat(parts).toString('utf8')
}
