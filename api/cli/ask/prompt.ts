import type { Writable } from 'node:stream'
import { isCancel, type TextOptions, text } from '@clack/prompts'
import type { CliIo } from '../context.ts'
import { discardTypedAhead } from './discard-typeahead.ts'

/** A line feed ends an answer as a carriage return does: some terminals and every pipe send that. */
const asReturn = (_: unknown, key?: { name?: string }): void => {
  if (key?.name === 'enter') key.name = 'return'
}

/**
 * Asks for a text on stderr, because stdout belongs to data. Only what is typed after the question has appeared counts.
 * Gives null at Ctrl-C, and when `signal` is aborted.
 */
export async function prompt(
  { stdin, stderr }: Pick<CliIo, 'stdin' | 'stderr'>,
  options: Pick<TextOptions, 'message' | 'placeholder' | 'validate'>,
  signal: AbortSignal,
): Promise<string | null> {
  stdin.on('keypress', asReturn)
  try {
    if (!(await discardTypedAhead(stdin, signal)) || signal.aborted) return null
    const said = await text({ ...options, input: stdin, output: stderr as unknown as Writable, signal })
    return isCancel(said) ? null : (said ?? '')
  } finally {
    stdin.off('keypress', asReturn)
    if (stdin.isTTY) stdin.setRawMode(false)
  }
}
