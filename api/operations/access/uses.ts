import type { AccessCommand, Read } from '../../../domain/access/decide.ts'
import { access, USES_ID } from '../../../domain/access/kind.ts'
import { hex } from '../../../domain/log/ids.ts'
import type { Clock, Random } from '../../../domain/ports/index.ts'
import type { Streams } from '../../../domain/stream/runtime/streams.ts'

/** The time between two records, in ms. */
const RECORD_MS = 60_000
/** The most different uses that wait for a record. More are recorded at once. */
const MAX_WAITING = 1_000

type Recorded = Extract<AccessCommand, { kind: 'record_uses' }>
type Failed = Recorded['failed'][number]

interface UsesPorts {
  readonly clock: Clock
  readonly random: Random
  readonly streams: Streams
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
  readonly #over = new AbortController()
  #waiting: Promise<void> | null = null
  #recording: Promise<void> = Promise.resolve()

  constructor(ports: UsesPorts) {
    this.#ports = ports
  }

  read(one: Omit<Read, 'count'>): void {
    this.#count(this.#reads, one)
  }

  refused(one: Omit<Read, 'count'> & { readonly code: string }): void {
    this.#count(this.#refused, one)
  }

  failed(one: { readonly key: string | null; readonly reason: string; readonly address?: string | null }): void {
    this.#count(this.#failed, { address: null, ...one })
  }

  /** Records everything that was counted until now. */
  record(): Promise<void> {
    this.#recording = this.#recording.then(() => this.#record()).catch(this.#ports.onFault)
    return this.#recording
  }

  async close(): Promise<void> {
    this.#over.abort()
    await this.#waiting
    await this.record()
  }

  #count<T extends { readonly count: number }>(counts: Map<string, T>, one: Omit<T, 'count'>): void {
    if (!this.#ports.writes) return
    const name = JSON.stringify(one)
    counts.set(name, { ...one, count: (counts.get(name)?.count ?? 0) + 1 } as T)
    if (counts.size >= MAX_WAITING) void this.record()
    this.#waiting ??= this.#later()
  }

  async #later(): Promise<void> {
    await this.#ports.clock.sleep(RECORD_MS, this.#over.signal).catch(() => undefined)
    this.#waiting = null
    await this.record()
  }

  async #record(): Promise<void> {
    const [reads, refused, failed] = [taken(this.#reads), taken(this.#refused), taken(this.#failed)]
    if (reads.length + refused.length + failed.length === 0) return
    const { streams, random } = this.#ports
    const by = { kind: 'system', id: 'access' } as const
    const command: Recorded = { kind: 'record_uses', reads, refused, failed, usedFrom: [] }
    await streams.submit(access, USES_ID, command, { by, commandId: `uses:${hex(random.bytes(16))}` })
  }
}

/** Empties a map and returns its values. */
function taken<T>(counts: Map<string, T>): T[] {
  const all = [...counts.values()]
  counts.clear()
  return all
}
