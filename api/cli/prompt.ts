import { isCancel, type TextOptions, text } from '@clack/prompts'

/** A line feed ends an answer as a carriage return does: some terminals and every pipe send that. */
const asReturn = (_: unknown, key?: { name?: string }): void => {
  if (key?.name === 'enter') key.name = 'return'
}

/** Asks for a text on stderr; stdout belongs to data. Null: Ctrl-C. */
export async function prompt(
  options: Pick<TextOptions, 'message' | 'placeholder' | 'validate'>,
): Promise<string | null> {
  process.stdin.on('keypress', asReturn)
  try {
    const said = await text({ ...options, output: process.stderr })
    return isCancel(said) ? null : (said ?? '')
  } finally {
    process.stdin.off('keypress', asReturn)
  }
}
