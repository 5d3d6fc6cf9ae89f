import { canonicalBytes } from '../../../domain/log/canonical.ts'
import type { Cursor } from '../../../domain/log/cursor.ts'
import type { DamagedEvent, OnDamage } from '../../../domain/log/damage.ts'
import type { Header, RecordedEvent } from '../../../domain/log/envelope.ts'
import { erasuresOf } from '../../../domain/log/erased.ts'
import { ConflictError, cursorError, LogError } from '../../../domain/log/errors.ts'
import { ownerOf } from '../../../domain/log/owner.ts'
import { GENESIS, saltBody, seal } from '../../../domain/log/seal.ts'
import type { EventLog, Head, ReadAllOptions, ReadOptions } from '../../../domain/ports/index.ts'
import { MemoryBlobs } from '../harness.ts'

/** Members of an event that a test sets. The log adds the rest. */
export interface Draft {
  readonly stream: string
  readonly type: string
  readonly body: unknown
  readonly runId: string
  readonly turn?: number
  readonly at: number
  readonly toolCallId?: string
  readonly commandId?: string
  readonly actor?: Header['actor']
  readonly version?: number
  readonly blob?: boolean
  readonly erases?: readonly number[]
  readonly wakeAt?: number | null
  readonly minReader?: number
}

/** An in-memory event log with the part of the port that projections need. `pages` returns the length of each page. */
export class MemoryLog implements EventLog {
  readonly logId: string
  readonly erases = true
  readonly events: RecordedEvent[] = []
  /** The sealed events, before any erasure. */
  readonly originals: RecordedEvent[] = []
  readonly blobs = new MemoryBlobs()
  /** Events planted with {@link damage}. Their streams cannot be read by name. */
  readonly damaged: DamagedEvent[] = []
  pages: () => number = () => 100
  /** The number of events that a reader of the whole log sees. */
  visible = Number.MAX_SAFE_INTEGER
  /** How many events before its position a page of the whole log starts, like a log with repeated delivery. */
  overlap: () => number = () => 0
  readonly #streams = new Map<string, number[]>()
  #wake: (() => void)[] = []
  constructor(logId = 'log0') {
    this.logId = logId
  }

  floor() {
    return 0
  }

  /** Seals and records one event. Positions have gaps, like real ones. */
  add(draft: Draft): RecordedEvent {
    const places = this.#places(draft.stream)
    const previous = places.length > 0 ? this.events[places.at(-1)!]!.hash : GENESIS
    const { bytes, header: body } = saltBody(canonicalBytes(draft.body), Buffer.alloc(16, this.events.length % 251))
    const agentId = draft.stream.replace(/^[a-z]+-/, '')
    const header: Header = {
      format: 1,
      stream: draft.stream,
      type: draft.type,
      version: draft.version ?? 1,
      runId: draft.runId,
      agentId,
      turn: draft.turn ?? 0,
      revision: places.length,
      timestamp: new Date(draft.at).toISOString(),
      commandId: draft.commandId ?? `c${this.events.length}`,
      actor: draft.actor ?? { kind: 'driver', id: 'd1' },
      ...(draft.toolCallId === undefined ? {} : { toolCallId: draft.toolCallId }),
      ...(draft.wakeAt === undefined ? {} : { wakeAt: draft.wakeAt }),
      ...(draft.minReader === undefined ? {} : { minReader: draft.minReader }),
      body: { ...body, place: draft.blob ? 'blob' : 'inline' },
    }
    if (draft.blob) this.blobs.held.set(`${ownerOf(header)}/${header.body.hash}`, bytes)
    for (const revision of draft.erases ?? []) this.#erase(places[revision]!)
    const event = { ...seal(previous, header, draft.blob ? null : bytes), position: this.events.length * 3 + 1 }
    places.push(this.events.length)
    this.events.push(event)
    this.originals.push(event)
    for (const wake of this.#wake.splice(0)) wake()
    return event
  }

  /** Plants a damaged event after an event, by default after the last one. */
  damage(
    stream: string,
    {
      code = 'FOREIGN',
      revision = null,
      behind = this.events.at(-1),
    }: Partial<DamagedEvent> & { behind?: RecordedEvent } = {},
  ): DamagedEvent {
    const after = behind?.position ?? -2
    const position = after + 1 + this.damaged.filter((one) => one.position > after && one.position < after + 3).length
    if (position > after + 2) throw new Error('no more than two of them between two events')
    const [id, at] = [`damaged-${position}`, new Date(Date.UTC(2026, 0, 1) + position).toISOString()]
    const found = { stream, revision, position, id, type: 'noted', at, code, message: `${code} in ${stream}; mend it` }
    this.damaged.push(found)
    this.damaged.sort((one, other) => one.position - other.position)
    for (const wake of this.#wake.splice(0)) wake()
    return found
  }

  async append(stream: string, expected: number, batch: readonly RecordedEvent[]) {
    const places = this.#places(stream)
    if (places.length - 1 !== expected) throw new ConflictError(stream, expected, places.length - 1)
    for (const { revision } of erasuresOf(batch)) this.#erase(places[revision]!)
    for (const event of batch) {
      places.push(this.events.length)
      this.events.push({ ...event, position: this.events.length * 3 + 1 })
    }
    for (const wake of this.#wake.splice(0)) wake()
    return { position: this.events.at(-1)!.position }
  }

  async head(stream: string): Promise<Head | null> {
    const event = this.events[this.#places(stream).at(-1) ?? -1]
    if (!event) return null
    return { revision: event.header.revision, hash: event.hash, timestamp: Date.parse(event.header.timestamp) }
  }

  async *read(stream: string, { from = 0, limit = Number.MAX_SAFE_INTEGER, onDamage }: ReadOptions = {}) {
    const damaged = this.damaged.filter((found) => found.stream === stream)
    if (damaged.length > 0 && !onDamage) throw new LogError('LOG_CORRUPT', `${stream} is damaged`)
    const all = [...this.events.keys()].filter((place) => this.events[place]!.header.stream === stream)
    const places = all.filter((place) => this.events[place]!.header.revision >= from).slice(0, limit)
    for (let i = 0; i < places.length || damaged.length > 0; ) {
      const page = places.slice(i, i + this.pages()).map((place) => this.events[place]!)
      i += page.length
      const before = i < places.length ? this.events[places[i]!]!.position : Number.POSITIVE_INFINITY
      while (damaged.length > 0 && damaged[0]!.position < before) onDamage!(damaged.shift()!)
      yield page
    }
  }

  async *readAll(after: Cursor | null, { onDamage }: ReadAllOptions = {}) {
    let next = this.#after(after)
    const end = Math.min(this.events.length, this.visible)
    this.#tell(next, next, onDamage)
    while (next < end) {
      const stop = Math.min(end, next + this.pages())
      const begin = Math.max(0, next - this.overlap())
      this.#tell(begin, stop, onDamage)
      yield this.events.slice(begin, stop)
      next = stop
    }
  }

  async *subscribe(after: Cursor | null, signal: AbortSignal, { onDamage }: Pick<ReadAllOptions, 'onDamage'> = {}) {
    let next = this.#after(after)
    let told = 0
    while (!signal.aborted) {
      const page = this.events.slice(next, next + this.pages())
      const damaged = this.#tell(next, next + page.length, onDamage)
      next += page.length
      if (page.length > 0 || damaged > told) yield page
      else {
        await new Promise<void>((resolve) => {
          this.#wake.push(resolve)
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
      }
      told = page.length > 0 ? 0 : damaged
    }
  }

  /** Reports the damaged events after place `from` - 1, up to place `to`. Returns their number. */
  #tell(from: number, to: number, onDamage: OnDamage | undefined): number {
    const after = this.events[from - 1]?.position ?? Number.NEGATIVE_INFINITY
    const before = this.events[to]?.position ?? Number.POSITIVE_INFINITY
    const found = this.damaged.filter(({ position }) => position > after && position < before)
    for (const one of found) onDamage?.(one)
    return found.length
  }

  cursor(event: RecordedEvent): Cursor {
    return { logId: this.logId, position: event.position, hash: event.hash }
  }

  async headCursor(): Promise<Cursor> {
    return this.cursor(this.events.at(-1)!)
  }

  async *streams(prefix: string) {
    yield [...this.#streams.keys()].filter((name) => name.startsWith(prefix))
  }

  async close() {}

  #places(stream: string): number[] {
    const places = this.#streams.get(stream) ?? []
    this.#streams.set(stream, places)
    return places
  }

  #erase(place: number): void {
    this.events[place] = { ...this.events[place]!, body: null, erased: true }
  }

  #after(cursor: Cursor | null): number {
    if (cursor === null) return 0
    const place = this.events.findIndex((event) => event.position === cursor.position)
    if (cursor.logId !== this.logId || this.events[place]?.hash !== cursor.hash) {
      throw cursorError('CURSOR_MISMATCH', 'the cursor is of another log')
    }
    return place + 1
  }
}
