import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'

/** How long the keyboard must be silent before a question is shown, in ms. */
const SILENCE_MS = 20

const CTRL_C = 0x03

/**
 * Discards what was typed before a question is shown: it answers something that was not on the screen. Resolves when the
 * terminal has been silent for a moment, false where Ctrl-C was among what came. Leaves the terminal in raw mode, because a
 * terminal that still collects lines keeps an unfinished line back, which would arrive after the question.
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
      // The timer may be over before the terminal was read at all: let one reading pass.
      await turn()
    }
  } finally {
    stdin.off('data', discard)
    stdin.pause()
  }
  return !cancelled
}
