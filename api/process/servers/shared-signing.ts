import type { LogSigner } from '../../../domain/proof/runtime/log-signer.ts'
import { isUnavailable } from '../../../domain/stream/runtime/append-retry.ts'
import { withinOr } from '../../operations/concurrency/within-or.ts'
import { type LeaseOptions, takeLease } from './lease.ts'

export interface SharedSigningOptions extends LeaseOptions {
  /** The name of this process among the signers. */
  readonly holder: string
  readonly signer: LogSigner
  /** Why the log takes no events now, so that it is not signed either; null: it does. */
  readonly refusal: () => Error | null
  warn(text: string): void
}

/** The name of the lease for the signatures. No agent can have this name. */
const SIGNER = '.signer'
/** The longest pause before the next attempt, in ms: after failures, and while this machine does not have the key. */
const LONGEST_PAUSE_MS = 30_000
/** The time limit for the last signature of a process, in ms. The next process signs the rest. */
const CLOSE_WITHIN_MS = 5_000

/**
 * The process with the lease follows the log and signs it. The lease only spares work: what each signature continues is
 * decided by compare-and-set in the tree's store, so every process with the key also signs on demand. A process without
 * the key leaves the lease to others.
 */
export class SharedSigning {
  readonly #options: SharedSigningOptions
  readonly #end = new AbortController()
  readonly #serving: Promise<void>
  #holds = false
  #isKeyless = false
  #failed = 0
  #said = ''

  constructor(options: SharedSigningOptions) {
    this.#options = options
    this.#serving = this.#serve(this.#end.signal)
  }

  /** Whether this process has the lease. */
  get holds(): boolean {
    return this.#holds
  }

  /** Signs the rest if this process has the lease, and gives the lease to others. */
  async close(): Promise<void> {
    this.#end.abort(new Error('the signatures were ended'))
    await withinOr(this.#options.clock, CLOSE_WITHIN_MS, this.#serving, undefined)
  }

  async #serve(signal: AbortSignal): Promise<void> {
    const { refusal, clock, holder, ttlMs } = this.#options
    for (let first = true; !signal.aborted; first = false) {
      try {
        if (first) await this.#look()
        const lease = refusal() === null ? await takeLease(this.#options, SIGNER, holder) : null
        if (lease !== null)
          try {
            await this.#sign(AbortSignal.any([signal, lease.lost]), lease.lost)
          } finally {
            await lease.release()
          }
        this.#failed = 0
      } catch (error) {
        if (signal.aborted) return
        this.#failed += 1
        // Other parts report servers that do not answer.
        if (!isUnavailable(error)) this.#tell((error as Error).message)
      }
      const growing = Math.min((ttlMs / 4) * 2 ** Math.min(this.#failed, 8), LONGEST_PAUSE_MS)
      const pause = this.#isKeyless ? LONGEST_PAUSE_MS : growing
      await clock.sleep(pause, signal).catch(() => undefined)
    }
  }

  async #sign(end: AbortSignal, lost: AbortSignal): Promise<void> {
    const { signer } = this.#options
    if (!(await this.#look())) return
    this.#holds = true
    try {
      await signer.follow(end)
      if (!lost.aborted) await signer.close()
    } finally {
      this.#holds = false
    }
  }

  /** Whether this machine has the key, or the log was never signed. */
  async #look(): Promise<boolean> {
    const missing = await this.#options.signer.missingKey()
    if (missing !== null) this.#tell(missing)
    this.#isKeyless = missing !== null
    return missing === null
  }

  /** Reports a condition once. */
  #tell(text: string): void {
    if (text !== this.#said) this.#options.warn(`the signed heads: ${text}`)
    this.#said = text
  }
}
