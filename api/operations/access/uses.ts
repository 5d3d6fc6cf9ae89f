import type { AccessCommand, Read } from '../../../domain/access/decide.ts'
import type { AccessEvent } from '../../../domain/access/events.ts'
import type { AccessState } from '../../../domain/access/state.ts'
import { hex } from '../../../domain/log/ids.ts'
import type { Clock, Random } from '../../../domain/ports/index.ts'
import type { CausedContext } from '../../../domain/stream/emitter.ts'
import type { Mailbox } from '../../../domain/stream/runtime/mailbox.ts'

/** The time between two records, in ms. */
const RECORD_MS = 60_000
/** The most runs that are recorded for one principal in a minute. Uses of further runs are counted together. */
const MAX_RUNS = 200
/** The form of a run's id. Anything else in a path is text of a stranger. */
const RUN_ID = /^[\w.+-]{1,64}$/

type Recorded = Extract<AccessCommand, { kind: 'record_uses' }>
type Failed = Recorded['failed'][number]

interface UsesPorts {
  readonly clock: Clock
  readonly random: Random
  readonly mailbox: Mailbox<AccessState, AccessEvent, AccessCommand, CausedContext>
  /** False: this process only reads, so it records nothing. */
  readonly writes: boolean
  readonly onFault: (error: unknown) => void
}

/**
 * Counts reads, refused requests and failed logins, and records them once a minute, so that a busy reader does not fill
 * the log. A crash loses the uses of the last minute.
 */
export class AccessUses {
  readonly #ports: UsesPorts
  readonly #reads = new Map<string, Read>()
  readonly #refused = new Map<string, Read & { readonly code: string }>()
  readonly #failed = new Map<string, Failed>()
  readonly #perPrincipal = new Map<string, Set<string>>()
  readonly #over = new AbortController()
  #waiting: Promise<void> | null = null
  #recording: Promise<void> = Promise.resolve()

  constructor(ports: UsesPorts) {
    this.#ports = ports
  }

  read(one: Omit<Read, 'count'>): void {
    this.#count(this.#reads, this.#bounded(one))
  }

  refused(one: Omit<Read, 'count'> & { readonly code: string }): void {
    this.#count(this.#refused, this.#bounded(one))
  }

  failed(one: { readonly key: string | null; readonly reason: string; readonly address?: string | null }): void {
    this.#count(this.#failed, { address: null, ...one })
  }

  /** Records everything that was counted until now. */
  record(): Promise<void> {
    this.#recording = this.#recording.then(() => this.#record()).catch(this.#ports.onFault)
    return this.#recording
  }

  /** The run of a use: null for a text that cannot be an id, and for further runs of one principal in this minute. */
  #bounded<T extends Omit<Read, 'count'>>(one: T): T {
    if (one.run === null) return one
    const runs = this.#perPrincipal.get(one.principal) ?? new Set()
    this.#perPrincipal.set(one.principal, runs)
    if (!RUN_ID.test(one.run) || (runs.size >= MAX_RUNS && !runs.has(one.run))) return { ...one, run: null }
    runs.add(one.run)
    return one
  }

  async close(): Promise<void> {
    this.#over.abort()
    await this.#waiting
    await this.record()
  }

  #count<T extends Counted>(counts: Map<string, T>, one: Omit<T, 'count'>, more = 1): void {
    if (!this.#ports.writes) return
    const name = JSON.stringify(one)
    counts.set(name, { ...one, count: (counts.get(name)?.count ?? 0) + more } as T)
    this.#waiting ??= this.#later()
  }

  async #later(): Promise<void> {
    await this.#ports.clock.sleep(RECORD_MS, this.#over.signal).catch(() => undefined)
    this.#waiting = null
    await this.record()
  }

  async #record(): Promise<void> {
    const counted = [this.#reads, this.#refused, this.#failed] as const
    const [reads, refused, failed] = [taken(this.#reads), taken(this.#refused), taken(this.#failed)]
    this.#perPrincipal.clear()
    if (reads.length + refused.length + failed.length === 0) return
    const { mailbox, random } = this.#ports
    const by = { kind: 'system', id: 'access' } as const
    const command: Recorded = { kind: 'record_uses', reads, refused, failed }
    try {
      await mailbox.submit(command, { by, commandId: `uses:${hex(random.bytes(16))}` }, { fact: false })
    } catch (error) {
      // Record them with the next ones.
      for (const [at, all] of [reads, refused, failed].entries())
        for (const { count, ...one } of all) this.#count(counted[at] as Map<string, Counted>, one, count)
      throw error
    }
  }
}

interface Counted {
  readonly count: number
}

/** Empties a map and returns its values. */
function taken<T>(counts: Map<string, T>): T[] {
  const all = [...counts.values()]
  counts.clear()
  return all
}
