import type { Writable } from 'node:stream'
import type { TextOptions } from '@clack/prompts'
import type { Context } from '../context.ts'
import { discardTypedAhead } from './discard-typeahead.ts'

/** Treat a line feed like a carriage return: pipes and some terminals send line feeds. */
const asReturn = (_: unknown, key?: { name?: string }): void => {
  if (key?.name === 'enter') key.name = 'return'
}

/**
 * Asks for a text on stderr, because stdout is for data. Ignores input typed before the question. Null: Ctrl-C, or
 * `signal` was aborted.
 */
export async function prompt(
  { io: { stdin, stderr }, progress }: Pick<Context, 'io' | 'progress'>,
  options: Pick<TextOptions, 'message' | 'placeholder' | 'validate'>,
  signal: AbortSignal,
): Promise<string | null> {
  progress?.stop()
  const { isCancel, text } = await import('@clack/prompts')
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
