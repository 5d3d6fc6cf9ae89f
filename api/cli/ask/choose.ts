import type { Context } from '../context.ts'
import { UsageError } from '../exit.ts'
import { asking } from './interruptible.ts'
import { prompt } from './prompt.ts'

/** One choice: the accepted words (the question shows the first), a description, and the value. */
export interface Choice<T> {
  readonly keys: readonly [string, ...string[]]
  readonly does: string
  readonly value: T
}

/**
 * Asks at the terminal, on stderr, because stdout is for data. There is no default: Enter alone or Ctrl-C returns null.
 * `open` describes the effect of null.
 */
export async function choose<T>(
  ctx: Context,
  { question, choices, open }: { question: string; choices: readonly Choice<T>[]; open: string },
  signal: AbortSignal,
): Promise<T | null> {
  const find = (typed: string | undefined) =>
    choices.find(({ keys }) => keys.includes(typed?.trim().toLowerCase() ?? ''))
  const options = {
    message: `${question} ${choices.map(({ keys, does }) => `${keys[0]}: ${does}`).join(', ')}; Enter alone: ${open}`,
    validate: (typed: string | undefined) =>
      !typed?.trim() || find(typed) ? undefined : `type ${choices.map(({ keys }) => keys[0]).join(' or ')}`,
  }
  const said = await prompt(ctx, options, signal)
  return said === null ? null : (find(said)?.value ?? null)
}

/**
 * Whether a person confirms an action that is hard to undo: `--yes`, or an answer at the terminal. `onlyLook`: the
 * option that only shows the effect.
 */
export async function agreed(
  ctx: Context,
  yes: boolean | undefined,
  question: string,
  onlyLook = '--dry-run',
): Promise<boolean> {
  if (yes === true) return true
  if (!ctx.interactive) throw new UsageError(`nothing was changed: say --yes to do it, or ${onlyLook} only to look`)
  const choices = [
    { keys: ['y', 'yes'], does: 'yes', value: true },
    { keys: ['n', 'no'], does: 'no', value: false },
  ] as const
  return (await asking((signal) => choose<boolean>(ctx, { question, choices, open: 'no' }, signal))) === true
}
