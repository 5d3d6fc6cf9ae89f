import type { DamagedEvent } from '../../domain/log/damage.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { erasedFact } from '../../domain/log/erased.ts'
import { runOf } from '../../domain/log/owner.ts'
import type { BlobStore, EventLog } from '../../domain/ports.ts'
import { Collapsed } from '../changes/collapse.ts'
import { changesOf } from '../changes/index.ts'
import { partsOf } from '../parts.ts'
import type { StreamRow } from '../schema/database.ts'
import type { Batch, Progress, Standing, Store } from '../store/store.ts'
import { agentOfStream, parkedIdOf } from '../text.ts'
import { atHand, type Body, bodyBytes, bodySize } from './body.ts'
import { type Given, isDamaged, withDamage } from './damage.ts'
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
 * Folds what follows `from` in the log; what was folded before is passed over. `refused`: why none of it can be taken. What
 * is damaged moves the position no further than the event before it.
 */
export async function foldBatch(
  sources: Sources,
  from: Progress,
  given: readonly Given[],
  refused: Poison | null = null,
): Promise<Folded> {
  const { cursor: after } = from
  const fresh = after ? given.filter(({ position }) => position > after.position) : given
  const standing = await sources.store.standing([...new Set(fresh.map(streamOf))])
  const fold = new Fold(sources, standing)
  let count = 0
  let last: RecordedEvent | null = null
  let waitsAt: RecordedEvent | null = null
  for (const one of fresh) {
    if (isDamaged(one)) {
      await fold.damaged(one)
      continue
    }
    if (!(await fold.take(one, refused))) {
      waitsAt = one
      break
    }
    last = one
    count++
  }
  await fold.refoldErased()
  const cursor = last ? sources.log.cursor(last) : after
  return { to: { logId: from.logId, cursor, events: from.events + count }, ...fold.batch(), waitsAt }
}

const streamOf = (given: Given): string => (isDamaged(given) ? given.stream : given.header.stream)

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
  for await (const page of withDamage((onDamage) => log.read(stream, { onDamage }))) {
    for (const part of partsOf(page, bodySize)) {
      const kept = new Kept()
      for (const event of part)
        if (!isDamaged(event) && event.header.revision <= upTo) kept.add(event, await bodyBytes(event, blobs))
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
  /** By the id that their stream is parked under. */
  readonly #parked = new Set<string>()
  /** Runs of the streams that events were taken of. */
  readonly #runs = new Map<string, string>()
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
    const agent = agentOfStream(stream)
    const gap = this.#gap(event)
    const makesNoRows = agent === null || gap !== null || this.#isParked(stream)
    if (!makesNoRows && minReader(event, event.body) > this.#sources.reader) return false
    const wanted = !makesNoRows || this.#sources.store.keepsEvents
    const bytes = wanted ? (atHand(event) ?? (await bodyBytes(event, this.#sources.blobs))) : null
    if (this.#sources.store.keepsEvents) this.#kept.add(event, bytes)
    if (gap !== null) await this.#park(event, gap)
    else if (!makesNoRows) await this.#project(agent, event, refused ? { poison: refused } : bytes)
    this.#streams.set(stream, { stream, revision, hash: event.hash })
    this.#runs.set(stream, runOf(event.header))
    return true
  }

  /** Parks the stream of what is damaged, unless it is parked already. */
  async damaged(found: DamagedEvent): Promise<void> {
    if (!this.#isParked(found.stream)) await this.#park(found, found)
  }

  async refoldErased(): Promise<void> {
    for (const stream of this.#refold) await this.refold(stream, this.#streams.get(stream)!.revision)
  }

  async refold(stream: string, upTo: number, refused?: Refused): Promise<void> {
    const { log, blobs } = this.#sources
    const isAgent = agentOfStream(stream) !== null
    this.#changes.restart(parkedIdOf(stream))
    let head: StreamRow | undefined
    for await (const page of withDamage((onDamage) => log.read(stream, { onDamage }))) {
      for (const given of page) {
        if (isDamaged(given)) return this.#park(given, given, head)
        const { revision } = given.header
        if (revision > upTo) return
        this.#runs.set(stream, runOf(given.header))
        const gap = gapAt(given, head)
        if (gap !== null) return this.#park(given, gap, head)
        head = { stream, revision, hash: given.hash }
        if (!isAgent) continue
        const known = revision === refused?.revision ? refused : null
        if (await this.#parks(given, known ?? atHand(given) ?? (await bodyBytes(given, blobs)))) return
      }
    }
  }

  #headOf(stream: string): StreamRow | undefined {
    return this.#streams.get(stream) ?? this.#standing.heads.get(stream)
  }

  #isParked(stream: string): boolean {
    const id = parkedIdOf(stream)
    return this.#parked.has(id) || this.#standing.parked.has(id)
  }

  /** Null: the event follows the one before it, or its stream is parked already. */
  #gap(event: RecordedEvent): Poison | null {
    const { stream } = event.header
    return this.#isParked(stream) ? null : gapAt(event, this.#headOf(stream))
  }

  async #park(given: Given, poison: Poison, head = this.#headOf(streamOf(given))): Promise<void> {
    const stream = streamOf(given)
    const id = parkedIdOf(stream)
    const known = isDamaged(given) ? this.#runs.get(stream) : runOf(given.header)
    const runId = known ?? (await this.#sources.store.runOf(id)) ?? id
    this.#changes.add(id, parking(given, poison, (head?.revision ?? -1) + 1, runId))
    this.#parked.add(id)
  }

  async #project(agent: string, event: RecordedEvent, bytes: Body): Promise<void> {
    const { stream, revision, type } = event.header
    if (event.erased) this.#seenErased.add(`${agent}@${revision}`)
    if (await this.#parks(event, bytes)) return
    if (type === 'erased' && !this.#refold.has(stream) && (await this.#madeWithBody(agent, event)))
      this.#refold.add(stream)
  }

  /** Takes an event's changes; true: it cannot be taken, and parks its stream. */
  async #parks(event: RecordedEvent, bytes: Body): Promise<boolean> {
    const poison = bytes !== null && 'poison' in bytes ? bytes.poison : await this.#changed(event, bytes)
    if (poison) await this.#park(event, poison)
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

/** Null: the event follows the one before it. */
function gapAt({ header: { stream, revision } }: RecordedEvent, before: StreamRow | undefined): Poison | null {
  const expected = before ? before.revision + 1 : 0
  if (revision === expected) return null
  const message =
    `stream ${stream} goes on with revision ${revision} where ${expected} must follow: events are missing from the log, or ` +
    'stand there twice; restore the log from a backup, then release'
  return { code: 'GAP', message }
}
