import { toModelError } from './failures.ts'

/** How a network provider is reached. `apiKey` null: the server wants none. */
export interface Access {
  readonly apiKey: string | null
  /** The SDK's own default where it is absent. */
  readonly baseUrl?: string
}

/** Time limits are the caller's, by signal; an SDK wants a number, so it gets the longest one. */
export const NO_TIMEOUT_MS = 2_147_483_647

/**
 * Runs one exchange with a provider under a controller of its own, which follows the caller's signal. Rejects with the
 * signal's reason once it has aborted (SDK streams just end then), else with a ModelError.
 */
export async function exchange<T>(
  provider: string,
  signal: AbortSignal,
  secrets: readonly string[],
  run: (controller: AbortController) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const controller = new AbortController()
  const follow = () => controller.abort(signal.reason)
  signal.addEventListener('abort', follow, { once: true })
  try {
    return await run(controller)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    controller.abort()
    throw toModelError(provider, error, secrets)
  } finally {
    signal.removeEventListener('abort', follow)
  }
}
