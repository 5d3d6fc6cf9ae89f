import type { RecordedEvent } from '../../domain/log/envelope.ts'
import type { BlobStore, EventLog } from '../../domain/ports.ts'
import { put, set } from '../changes/change.ts'
import { Collapsed } from '../changes/collapse.ts'
import { changesOf } from '../changes/index.ts'
import { ProjectionError } from '../errors.ts'
import type { StreamRow } from '../schema/database.ts'
import type { Progress, Store } from '../store/store.ts'
import { agentOfStream, millis } from '../text.ts'
import { bodyBytes } from './body.ts'
import { decode, minReader, type Poison } from './decode.ts'
import { pointsToArguments, withGiven } from './given.ts'

export interface Sources {
  readonly log: EventLog
  readonly blobs: BlobStore
  readonly store: Store
  /** The greatest `minReader` that is understood. */
  readonly reader: number
}

/** What a batch comes to: everything that one transaction writes. */
export interface Folded {
  readonly to: Progress
  readonly streams: readonly StreamRow[]
  readonly changes: Collapsed
  /** The batch ends before this event: its agent is driven by a newer program, whose projector must go on from here. */
  readonly waitsAt: RecordedEvent | null
}

/** Folds events that follow `from` in the log; what was folded before is passed over. Rejects with `STREAM_GAP`. */
export async function foldBatch(sources: Sources, from: Progress, events: readonly RecordedEvent[]): Promise<Folded> {
  const batch = new Batch(sources)
  let last: RecordedEvent | null = null
  let count = 0
  let waitsAt: RecordedEvent | null = null
  for (const event of events) {
    if (from.cursor && event.position <= from.cursor.position) continue
    if (!(await batch.take(event))) {
      waitsAt = event
      break
    }
    last = event
    count++
  }
  await batch.refoldErased()
  const cursor = last ? sources.log.cursor(last) : from.cursor
  const to = { logId: from.logId, cursor, events: from.events + count }
  return { to, streams: [...batch.streams.values()], changes: batch.changes, waitsAt }
}

/** An agent's rows from the beginning of its stream up to a revision, whatever they were: after an erasure or a release. */
export async function refold(sources: Sources, stream: string, upTo: number, changes: Collapsed): Promise<void> {
  const agent = agentOfStream(stream)!
  changes.restart(agent)
  for await (const page of sources.log.read(stream, { limit: upTo + 1 })) {
    for (const event of page) {
      const poison = await seen(sources, event, changes)
      if (poison) return park(event, poison, changes)
    }
  }
}

async function seen(sources: Sources, event: RecordedEvent, changes: Collapsed): Promise<Poison | null> {
  const bytes = event.body ?? (await bodyBytes(event, sources.blobs))
  if (bytes !== null && 'poison' in bytes) return bytes.poison
  const taken = decode(event, event.erased ? null : bytes)
  if ('poison' in taken) return taken.poison
  changes.add(taken.agentId, changesOf(pointsToArguments(taken) ? await withGiven(sources, event, taken) : taken))
  return null
}

function park(event: RecordedEvent, poison: Poison, changes: Collapsed): void {
  const { agentId, runId, revision, stream, type, version, timestamp } = event.header
  const at = millis(timestamp) ?? 0
  changes.add(agentId, [
    put(
      'parked',
      { agent_id: agentId },
      {
        stream,
        run_id: runId,
        revision,
        position: event.position,
        event_id: event.id,
        type,
        version,
        code: poison.code,
        message: poison.message,
        at: timestamp,
      },
    ),
    set('agents', { id: agentId }, { incomplete_from: revision }),
    put('due', { agent_id: agentId, cause: 'parked' }, { run_id: runId, wake_at: at, reason: 'parked' }),
  ])
}

class Batch {
  readonly streams = new Map<string, StreamRow>()
  readonly changes = new Collapsed()
  readonly #sources: Sources
  readonly #parked = new Map<string, boolean>()
  readonly #seenErased = new Set<string>()
  readonly #refold = new Set<string>()
  constructor(sources: Sources) {
    this.#sources = sources
  }

  /** False: not taken, because a newer program must. */
  async take(event: RecordedEvent): Promise<boolean> {
    const { stream, revision } = event.header
    await this.#follows(event)
    const agent = agentOfStream(stream)
    if (agent !== null && !(await this.#isParked(agent))) {
      if (minReader(event, event.body) > this.#sources.reader) return false
      await this.#project(agent, event)
    }
    this.streams.set(stream, { stream, revision, hash: event.hash })
    return true
  }

  async refoldErased(): Promise<void> {
    for (const stream of this.#refold)
      await refold(this.#sources, stream, this.streams.get(stream)!.revision, this.changes)
  }

  async #follows({ header: { stream, revision } }: RecordedEvent): Promise<void> {
    const known = this.streams.get(stream) ?? (await this.#sources.store.stream(stream))
    const expected = known ? known.revision + 1 : 0
    if (revision === expected) return
    throw new ProjectionError(
      'STREAM_GAP',
      `stream ${stream} goes on with revision ${revision} where ${expected} must follow: ` +
        'events are missing from the log or out of order. Verify the log, restore it, then rebuild the projections.',
    )
  }

  async #isParked(agent: string): Promise<boolean> {
    let parked = this.#parked.get(agent)
    if (parked === undefined) {
      parked = (await this.#sources.store.parked(agent)) !== null
      this.#parked.set(agent, parked)
    }
    return parked
  }

  async #project(agent: string, event: RecordedEvent): Promise<void> {
    const { stream, revision, type } = event.header
    if (event.erased) this.#seenErased.add(`${agent}@${revision}`)
    const poison = await seen(this.#sources, event, this.changes)
    if (poison) {
      this.#parked.set(agent, true)
      park(event, poison, this.changes)
    } else if (type === 'erased' && (await this.#madeWithBody(agent, event))) {
      this.#refold.add(stream)
    }
  }

  /** Do the rows still hold what was erased? */
  async #madeWithBody(agent: string, event: RecordedEvent): Promise<boolean> {
    const taken = decode(event, event.body)
    if ('poison' in taken || taken.type !== 'erased') return false
    // The fact itself was erased: which body it meant is not known any more.
    if (!taken.body) return true
    const target = taken.body.revision
    if (this.#seenErased.has(`${agent}@${target}`)) return false
    return !(await this.#sources.store.erasureSeen(agent, target))
  }
}
