import { type AccessCommand, dayOf, MAX_ADDRESSES, type Read } from '../../../domain/access/decide.ts'
import type { AccessEvent } from '../../../domain/access/events.ts'
import type { Unidentified } from '../../../domain/access/runtime/access-gate.ts'
import type { AccessState } from '../../../domain/access/state.ts'
import type { TokenFault } from '../../../domain/access/token-errors.ts'
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

/** Why a request or a login is not valid. */
export type LoginFailure =
  | Unidentified
  | `session_${Unidentified}`
  | `jwt_${TokenFault}`
  | `oidc_${TokenFault}`
  | 'issuer_unavailable'
  | 'no_key'
  /** A principal with the name of the person exists, and no admin linked it to the issuer. */
  | 'not_linked'
  /** The browser did not begin this login here, or not within ten minutes. */
  | 'oidc_state'
  | 'oidc_repeated'
  | 'token_over_network'

interface Failed {
  readonly key: string | null
  readonly reason: LoginFailure
  readonly address: string | null
}

/** A session that began or ended. */
type Signed = Omit<Recorded['signedIn'][number], 'count'>

interface UsesPorts {
  readonly clock: Clock
  readonly random: Random
  readonly mailbox: Mailbox<AccessState, AccessEvent, AccessCommand, CausedContext>
  /** False: this process only reads, so it records nothing. */
  readonly writes: boolean
  readonly onFault: (error: unknown) => void
}

/**
 * Counts reads, refused requests, logins and sessions, and records them once a minute, so that a busy reader does not fill
 * the log. A crash loses the uses of the last minute.
 */
export class AccessUses {
  readonly #ports: UsesPorts
  readonly #reads = new Map<string, Read>()
  readonly #refused = new Map<string, Read & { readonly code: string }>()
  readonly #failed = new Map<string, Failed & Counted>()
  readonly #signedIn = new Map<string, Signed & Counted>()
  readonly #signedOut = new Map<string, Signed & Counted>()
  readonly #keyUses = new Map<string, { readonly key: string; readonly address: string } & Counted>()
  /** The addresses of failed logins in this minute. */
  readonly #failedFrom = new Set<string>()
  /** The addresses from which this process saw each key. */
  readonly #seenFrom = new Map<string, Set<string>>()
  /** The time of the last recorded use of each key. */
  readonly #usedAt = new Map<string, number>()
  readonly #used = new Set<string>()
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

  /** Failures from further addresses in a minute are counted together. */
  failed({ key, reason, address }: Failed): void {
    if (address !== null && this.#failedFrom.size < MAX_ADDRESSES) this.#failedFrom.add(address)
    const isKept = address !== null && this.#failedFrom.has(address)
    this.#count(this.#failed, { key, reason, address: isKept ? address : null })
  }

  signedIn(one: Signed): void {
    this.#count(this.#signedIn, one)
  }

  signedOut(one: Signed): void {
    this.#count(this.#signedOut, one)
  }

  /** A request with a valid key. Its first use in a day and its first use from an address are recorded. */
  keyUsed(key: string, address: string | null): void {
    this.used(key)
    if (address === null) return
    const seen = this.#seenFrom.get(key) ?? new Set()
    this.#seenFrom.set(key, seen)
    if (seen.has(address) || seen.size >= MAX_ADDRESSES) return
    seen.add(address)
    this.#count(this.#keyUses, { key, address })
  }

  /** A valid use of a key. The first one in a day is recorded. */
  used(key: string): void {
    const { clock, writes } = this.#ports
    const last = this.#usedAt.get(key)
    if (!writes || (last !== undefined && dayOf(clock.now()) === dayOf(last))) return
    this.#usedAt.set(key, clock.now())
    this.#used.add(key)
    this.#waiting ??= this.#later()
  }

  /** Records a request before it is performed. Durable on return. */
  async requested(one: { readonly principal: string; readonly operation: string; readonly target: string | null }) {
    await this.#submit({ kind: 'record_request', ...one })
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

  async #submit(command: AccessCommand): Promise<void> {
    const { mailbox, random } = this.#ports
    const by = { kind: 'system', id: 'access' } as const
    await mailbox.submit(command, { by, commandId: `uses:${hex(random.bytes(16))}` }, { fact: false })
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
    const counts = {
      ...{ reads: this.#reads, refused: this.#refused, failed: this.#failed },
      ...{ signedIn: this.#signedIn, signedOut: this.#signedOut, keyUses: this.#keyUses },
    }
    const all = {
      ...{ reads: taken(this.#reads), refused: taken(this.#refused), failed: taken(this.#failed) },
      ...{ signedIn: taken(this.#signedIn), signedOut: taken(this.#signedOut), keyUses: taken(this.#keyUses) },
    }
    this.#perPrincipal.clear()
    this.#failedFrom.clear()
    const used = [...this.#used]
    this.#used.clear()
    if (used.length === 0 && Object.values(all).every((uses) => uses.length === 0)) return
    try {
      await this.#submit({ kind: 'record_uses', ...all, used })
    } catch (error) {
      // Record them with the next ones.
      for (const key of used) this.#used.add(key)
      for (const [name, uses] of Object.entries(all))
        for (const { count, ...one } of uses)
          this.#count(counts[name as keyof typeof counts] as Map<string, Counted>, one, count)
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
