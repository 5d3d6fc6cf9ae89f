import { toModelError } from './failures.ts'

/** Access to a network provider. `apiKey` null: the server needs no key. */
export interface Access {
  readonly apiKey: string | null
  /** Default: the default of the SDK. */
  readonly baseUrl?: string
}

/** The longest timeout of an SDK, in ms. The caller sets time limits by its signal. */
export const NO_TIMEOUT_MS = 2_147_483_647

/**
 * Runs one exchange with a provider under a separate controller, which follows the caller's signal. After an abort,
 * rejects with the signal's reason, because an SDK's stream then just ends. Other errors become a ModelError.
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
