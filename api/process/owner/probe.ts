import { setTimeout as wait } from 'node:timers/promises'
import { socketFetch } from './socket-fetch.ts'

type Found = 'answers' | 'absent' | 'silent'

/** The time limit of a question passes at once where it was this process that had been stopped. */
const QUESTIONS = 2
/** Where more connections wait to be accepted than may, the next one is tried after this, ms. */
const CROWDED_MS = 25

/**
 * Whether a process answers at a socket: `absent` where none listens, `silent` where nothing comes back in `timeoutMs`,
 * though it was asked more than once.
 */
export async function probe(socketPath: string, timeoutMs: number): Promise<Found> {
  for (let nth = 1; ; nth++) {
    const found = await ask(socketPath, timeoutMs / QUESTIONS)
    if (found !== 'silent' || nth === QUESTIONS) return found
  }
}

async function ask(socketPath: string, timeoutMs: number): Promise<Found> {
  const signal = AbortSignal.timeout(Math.ceil(timeoutMs))
  for (;;) {
    try {
      const response = await socketFetch(socketPath, new Request('http://localhost/v1/health', { signal }))
      await response.body?.cancel()
      return response.ok ? 'answers' : 'silent'
    } catch (error) {
      const { code, name } = error as NodeJS.ErrnoException
      if (name === 'AbortError' || name === 'TimeoutError' || code === 'ABORT_ERR') return 'silent'
      if (code !== 'EAGAIN') return 'absent'
      await wait(CROWDED_MS)
      if (signal.aborted) return 'silent'
    }
  }
}
