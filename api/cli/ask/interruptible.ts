import { CliError, EXIT } from '../exit.ts'

/**
 * Runs an interactive question with a signal. SIGINT, SIGTERM and SIGHUP abort the signal, so no question outlives the
 * process. SIGINT acts like Ctrl-C at a question. After SIGTERM or SIGHUP the promise rejects.
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
