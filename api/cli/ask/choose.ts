import type { Context } from '../context.ts'
import { UsageError } from '../exit.ts'
import { prompt } from './prompt.ts'
import { asking } from './question.ts'

/** One choice: the words that may be typed (the first is shown), their meaning as a text, and the value. */
export interface Choice<T> {
  readonly keys: readonly [string, ...string[]]
  readonly does: string
  readonly value: T
}

/**
 * Asks at the terminal, on stderr; stdout belongs to data. Nothing is chosen beforehand: an answer is typed, and Enter
 * alone, or Ctrl-C, gives null, which does what `open` says.
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
  const said = await prompt(ctx.io, options, signal)
  return said === null ? null : (find(said)?.value ?? null)
}

/**
 * Whether a person wants what cannot be taken back lightly: `--yes`, or an answer at the terminal. `onlyLook`: what shows it
 * without doing it.
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
