import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

type Found = 'answers' | 'absent' | 'silent'

/**
 * Requests before the process counts as silent. If this process itself was suspended, the first time limit passes at
 * once.
 */
const QUESTIONS = 2
/** The pause before a retry when the socket's backlog is full, in ms. */
const CROWDED_MS = 25

/**
 * Whether a process answers at a socket. `absent`: no process listens. `silent`: an error answer, or no answer to several
 * requests within `timeoutMs`.
 */
export async function probe(socketPath: string, timeoutMs: number): Promise<Found> {
  if (!existsSync(socketPath)) return 'absent'
  for (let nth = 1; ; nth++) {
    const found = await ask(socketPath, timeoutMs / QUESTIONS)
    if (found !== 'silent' || nth === QUESTIONS) return found
  }
}

async function ask(socketPath: string, timeoutMs: number): Promise<Found> {
  // Loads Node's HTTP client, which a command without an owner does not need.
  const { socketFetch } = await import('./socket-fetch.ts')
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
