import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { erasedFact } from '../../domain/log/erased.ts'
import type { BlobStore, EventLog } from '../../domain/ports.ts'
import { Collapsed } from '../changes/collapse.ts'
import { changesOf } from '../changes/index.ts'
import { ProjectionError } from '../errors.ts'
import { partsOf } from '../parts.ts'
import type { StreamRow } from '../schema/database.ts'
import type { Batch, Progress, Standing, Store } from '../store/store.ts'
import { agentOfStream } from '../text.ts'
import { atHand, type Body, bodyBytes, bodySize } from './body.ts'
import { decode, minReader, type Poison } from './decode.ts'
import { pointsToArguments, withGiven } from './given.ts'
import { Kept } from './kept.ts'
import type { Left } from './left.ts'
import { parking } from './parking.ts'
import type { Refused } from './refused.ts'

export interface Sources {
  readonly log: EventLog
  readonly blobs: BlobStore
  readonly store: Store
  /** The greatest `minReader` that is understood. */
  readonly reader: number
  readonly left: Left
}

/** What a batch comes to, and how far. */
export interface Folded extends Batch {
  readonly to: Progress
  /** The batch ends before this event: its agent is driven by a newer program, whose projector must go on from here. */
  readonly waitsAt: RecordedEvent | null
}

/**
 * Folds events that follow `from` in the log; what was folded before is passed over. `refused`: why none of them can be
 * taken. Rejects with `STREAM_GAP`.
 */
export async function foldBatch(
  sources: Sources,
  from: Progress,
  events: readonly RecordedEvent[],
  refused: Poison | null = null,
): Promise<Folded> {
  const { cursor: after } = from
  const fresh = after ? events.filter((event) => event.position > after.position) : events
  const standing = await sources.store.standing([...new Set(fresh.map(({ header }) => header.stream))])
  const fold = new Fold(sources, standing)
  let count = 0
  while (count < fresh.length && (await fold.take(fresh[count]!, refused))) count++
  await fold.refoldErased()
  const cursor = count > 0 ? sources.log.cursor(fresh[count - 1]!) : after
  return {
    to: { logId: from.logId, cursor, events: from.events + count },
    ...fold.batch(),
    waitsAt: fresh[count] ?? null,
  }
}

/**
 * An agent's rows from the beginning of its stream up to a revision, whatever they were: after a release. `refused`: the
 * event that is known not to be taken.
 */
export async function refolded(sources: Sources, stream: string, upTo: number, refused?: Refused): Promise<Batch> {
  const fold = new Fold(sources, { heads: new Map(), parked: new Set() })
  await fold.refold(stream, upTo, refused)
  return fold.batch()
}

/** What the log says of a stream up to a revision, in parts, for what could not be had when it was kept: before a release. */
export async function* keptAgain({ log, blobs, store }: Sources, stream: string, upTo: number): AsyncGenerator<Batch> {
  if (!store.keepsEvents) return
  for await (const page of log.read(stream, { limit: upTo + 1 })) {
    for (const part of partsOf(page, bodySize)) {
      const kept = new Kept()
      for (const event of part) kept.add(event, await bodyBytes(event, blobs))
      const { events, erased, left } = kept
      yield { streams: [], changes: new Collapsed(), events, erased, left }
    }
  }
}

class Fold {
  readonly #streams = new Map<string, StreamRow>()
  readonly #changes = new Collapsed()
  readonly #kept = new Kept()
  readonly #sources: Sources
  readonly #standing: Standing
  readonly #parked = new Set<string>()
  readonly #seenErased = new Set<string>()
  readonly #refold = new Set<string>()
  constructor(sources: Sources, standing: Standing) {
    this.#sources = sources
    this.#standing = standing
  }

  batch(): Batch {
    const { events, erased, left } = this.#kept
    return { streams: [...this.#streams.values()], changes: this.#changes, events, erased, left }
  }

  /** False: not taken, because a newer program must. */
  async take(event: RecordedEvent, refused: Poison | null): Promise<boolean> {
    const { stream, revision } = event.header
    this.#follows(event)
    const agent = agentOfStream(stream)
    const isParked = agent === null || this.#parked.has(agent) || this.#standing.parked.has(agent)
    if (!isParked && minReader(event, event.body) > this.#sources.reader) return false
    const wanted = !isParked || this.#sources.store.keepsEvents
    const bytes = wanted ? (atHand(event) ?? (await bodyBytes(event, this.#sources.blobs))) : null
    if (this.#sources.store.keepsEvents) this.#kept.add(event, bytes)
    if (!isParked) await this.#project(agent, event, refused ? { poison: refused } : bytes)
    this.#streams.set(stream, { stream, revision, hash: event.hash })
    return true
  }

  async refoldErased(): Promise<void> {
    for (const stream of this.#refold) await this.refold(stream, this.#streams.get(stream)!.revision)
  }

  async refold(stream: string, upTo: number, refused?: Refused): Promise<void> {
    const { log, blobs } = this.#sources
    this.#changes.restart(agentOfStream(stream)!)
    for await (const page of log.read(stream, { limit: upTo + 1 })) {
      for (const event of page) {
        const known = event.header.revision === refused?.revision ? refused : null
        if (await this.#parks(event, known ?? atHand(event) ?? (await bodyBytes(event, blobs)))) return
      }
    }
  }

  #follows({ header: { stream, revision } }: RecordedEvent): void {
    const known = this.#streams.get(stream) ?? this.#standing.heads.get(stream)
    const expected = known ? known.revision + 1 : 0
    if (revision === expected) return
    throw new ProjectionError(
      'STREAM_GAP',
      `stream ${stream} goes on with revision ${revision} where ${expected} must follow: ` +
        'events are missing from the log or out of order. Verify the log, restore it, then rebuild the projections.',
    )
  }

  async #project(agent: string, event: RecordedEvent, bytes: Body): Promise<void> {
    const { stream, revision, type } = event.header
    if (event.erased) this.#seenErased.add(`${agent}@${revision}`)
    if (await this.#parks(event, bytes)) this.#parked.add(agent)
    else if (type === 'erased' && !this.#refold.has(stream) && (await this.#madeWithBody(agent, event)))
      this.#refold.add(stream)
  }

  /** Takes an event's changes; true: it cannot be taken, and parks its stream. */
  async #parks(event: RecordedEvent, bytes: Body): Promise<boolean> {
    const poison = bytes !== null && 'poison' in bytes ? bytes.poison : await this.#changed(event, bytes)
    if (poison) this.#changes.add(event.header.agentId, parking(event, poison))
    return poison !== null
  }

  async #changed(event: RecordedEvent, bytes: Uint8Array | null): Promise<Poison | null> {
    const left = event.erased ? await this.#sources.left.of(event.header) : null
    if (left !== null && 'poison' in left) return left.poison
    if (left !== null && this.#sources.store.keepsEvents) this.#kept.leave(event.header, left.body)
    const taken = decode(event, event.erased ? null : bytes, left?.body)
    if ('poison' in taken) return taken.poison
    const seen = pointsToArguments(taken) ? await withGiven(this.#sources, event, taken) : taken
    this.#changes.add(seen.agentId, changesOf(seen))
    return null
  }

  /** Do the rows still hold what was erased? */
  async #madeWithBody(agent: string, event: RecordedEvent): Promise<boolean> {
    for (const { revision } of erasedFact(event)?.bodies ?? []) {
      if (this.#seenErased.has(`${agent}@${revision}`)) continue
      if (!(await this.#sources.store.erasureSeen(agent, revision))) return true
    }
    return false
  }
}
