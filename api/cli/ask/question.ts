import { CliError, EXIT } from '../exit.ts'

/**
 * Does what asks a person, with a signal that a SIGINT, SIGTERM or SIGHUP of this process aborts: no question outlives it.
 * A SIGINT means what Ctrl-C means at a question. Rejects after the other two: this process was told to end.
 */
export async function asking<T>(act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController()
  let told: NodeJS.Signals | null = null
  const end = (signal: NodeJS.Signals) => {
    if (signal !== 'SIGINT') told ??= signal
    over.abort()
  }
  for (const signal of SIGNALS) process.on(signal, end)
  try {
    const answer = await act(over.signal)
    if (told !== null) throw new CliError(`ended by ${told}; the question stays open`, EXIT.interrupted)
    return answer
  } finally {
    for (const signal of SIGNALS) process.off(signal, end)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
