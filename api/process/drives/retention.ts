import { alarm } from '../../../domain/stream/runtime/time-limit.ts'
import { sweepRetention } from '../../operations/keeping/sweep.ts'
import { operatorText, type Tell } from '../../operations/notices.ts'
import type { Services } from '../../operations/services.ts'

/** The time between two sweeps, in ms. */
const EVERY_MS = 3_600_000
/** The time to the first sweep, and to the next one of a sweep that had to stop at its limit, in ms. */
const SOON_MS = 60_000
/** The most subjects that one sweep erases, so that it never holds up other writes for long. */
const LIMIT = 100

/** Erases by policy once an hour, until closed. A failed sweep is tried again an hour later. */
export class RetentionSweeps {
  readonly #services: Services
  readonly #tell: Tell
  readonly #empty = new Set<string>()
  readonly #over = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #cancel = () => {}

  constructor(services: Services, tell: Tell) {
    this.#services = services
    this.#tell = tell
    this.#after(SOON_MS)
  }

  /** Waits for the subject that a running sweep erases. */
  async close(): Promise<void> {
    this.#over.abort()
    this.#cancel()
    await this.#running
  }

  #after(ms: number): void {
    if (this.#over.signal.aborted) return
    this.#cancel = alarm(this.#services.clock, ms, () => {
      this.#running = this.#sweep().then((more) => this.#after(more ? SOON_MS : EVERY_MS))
    })
  }

  /** True: the limit left others. */
  async #sweep(): Promise<boolean> {
    try {
      const done = await sweepRetention(this.#services, {
        dryRun: false,
        limit: LIMIT,
        signal: this.#over.signal,
        empty: this.#empty,
      })
      const { length } = done.erased
      if (length > 0) this.#tell(`retention: the texts of ${length} subjects were erased (keepup access report)`)
      return done.more
    } catch (error) {
      this.#tell(`retention: nothing is erased by policy: ${operatorText(error)}`)
      return false
    }
  }
}
