import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'

/** The terminal must be silent for this time before a question appears, in ms. */
const SILENCE_MS = 20

const CTRL_C = 0x03

/**
 * Discards input typed before a question appears, because it cannot be an answer to it. Resolves when the terminal has
 * been silent for {@link SILENCE_MS}; false: the discarded input contained Ctrl-C. Leaves the terminal in raw mode: in
 * line mode the terminal would keep an incomplete line and deliver it after the question.
 */
export async function discardTypedAhead(stdin: NodeJS.ReadStream, signal: AbortSignal): Promise<boolean> {
  let typed = true
  let cancelled = false
  const discard = (chunk: Buffer | string) => {
    typed = true
    cancelled ||= Buffer.from(chunk as string).includes(CTRL_C)
  }
  if (stdin.isTTY) stdin.setRawMode(true)
  stdin.on('data', discard)
  stdin.resume()
  try {
    while (typed && !cancelled && !signal.aborted) {
      typed = false
      await wait(SILENCE_MS)
      // The timer may fire before the first read of the terminal. Allow one read.
      await turn()
    }
  } finally {
    stdin.off('data', discard)
    stdin.pause()
  }
  return !cancelled
}
