import { isStreamDamage } from '../../../domain/log/damage.ts'
import { FORMAT, type RecordedEvent } from '../../../domain/log/envelope.ts'
import { erasedFact } from '../../../domain/log/erased.ts'
import { kindOf, runOf } from '../../../domain/log/owner.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import type { StreamKinds } from '../../kinds.ts'
import { Collapsed } from '../changes/collapse.ts'
import type { Poison } from '../changes/poison.ts'
import { due, erasures } from '../changes/stream.ts'
import type { StreamKind } from '../changes/stream-kind.ts'
import { partsOf } from '../chunks.ts'
import type { StreamRow } from '../schema/database.ts'
import type { Batch, Progress, Store, StreamStates } from '../store/store.ts'
import { millis } from '../text.ts'
import { asItIs, type Body, bodyBytes, bodySize, sealedInlineBody } from './body.ts'
import { isDamaged, type LogEntry, streamOf, withDamage } from './damage.ts'
import { KeptEvents } from './kept-events.ts'
import { parking } from './parking.ts'
import type { RefusedEvent } from './refused.ts'
import type { ResidueCache } from './residue-cache.ts'

export interface Sources {
  readonly log: EventLog
  readonly blobs: BlobStore
  readonly store: Store
  readonly kinds: StreamKinds
  /** The greatest `minReader` that this program supports. */
  readonly reader: number
  readonly residues: ResidueCache
}

/** The part of {@link Sources} that folds one stream from its beginning. */
export type StreamSources = Omit<Sources, 'store'> & {
  readonly store: Pick<Store, 'keepsEvents' | 'erasureSeen'>
}

export interface Folded extends Batch {
  readonly to: Progress
  /** The batch ends before this event: a newer program writes its stream and must project it. */
  readonly waitsAt: RecordedEvent | null
}

/**
 * Folds the entries after `from`; earlier entries are skipped. `refused`: the reason why the database refuses the rows
 * of these entries. A damaged event does not move the position.
 */
export async function foldBatch(
  sources: Sources,
  from: Progress,
  entries: readonly LogEntry[],
  refused: Poison | null = null,
): Promise<Folded> {
  const { cursor: after } = from
  const fresh = after ? entries.filter(({ position }) => position > after.position) : entries
  const states = await sources.store.statesOf([...new Set(fresh.map(streamOf))])
  const fold = new Fold(sources, states)
  let count = 0
  let last: RecordedEvent | null = null
  let waitsAt: RecordedEvent | null = null
  for (const entry of fresh) {
    if (isDamaged(entry)) {
      await fold.damaged(entry)
      continue
    }
    if (!(await fold.take(entry, refused))) {
      waitsAt = entry
      break
    }
    last = entry
    count++
  }
  await fold.refoldErased()
  const cursor = last ? sources.log.cursor(last) : after
  return { to: { logId: from.logId, cursor, events: from.events + count }, ...fold.batch(), waitsAt }
}

/**
 * Makes a stream's rows again from its first event up to a revision, for a release. `refused`: the event whose rows the
 * database refuses.
 * Null: the log lacks the first or the last of these events, so their rows cannot be rebuilt.
 */
export async function refolded(
  sources: StreamSources,
  stream: string,
  upTo: number,
  refused?: RefusedEvent,
): Promise<Batch | null> {
  const fold = new Fold(sources, { heads: new Map(), parked: new Set() })
  return (await fold.refold(stream, upTo, refused)) ? fold.batch() : null
}

/** The kept events of a stream up to a revision, in parts, with bodies that were unreadable before: for a release. */
export async function* keptAgain(sources: StreamSources, stream: string, upTo: number): AsyncGenerator<Batch> {
  const { log, store, kinds } = sources
  if (!store.keepsEvents) return
  const kind = kinds.get(kindOf(stream))
  for await (const page of withDamage((onDamage) => log.read(stream, { onDamage }))) {
    for (const part of partsOf(page, bodySize)) {
      const kept = new KeptEvents()
      for (const event of part)
        if (!isDamaged(event) && event.header.revision <= upTo) kept.add(event, await bodyBytes(event, sources), kind)
      const { events, erased, residues } = kept
      yield { streams: [], changes: new Collapsed(), events, erased, residues }
    }
  }
}

class Fold {
  readonly #streams = new Map<string, StreamRow>()
  readonly #changes = new Collapsed()
  readonly #kept = new KeptEvents()
  readonly #sources: StreamSources
  readonly #states: StreamStates
  readonly #parked = new Set<string>()
  /** `<stream>@<revision>` of erased events that this batch has folded without their bodies. */
  readonly #seenErased = new Set<string>()
  readonly #refold = new Set<string>()
  constructor(sources: StreamSources, states: StreamStates) {
    this.#sources = sources
    this.#states = states
  }

  batch(): Batch {
    const { events, erased, residues } = this.#kept
    return { streams: [...this.#streams.values()], changes: this.#changes, events, erased, residues }
  }

  /** False: this program cannot read the event, and a newer one must take it. */
  async take(read: RecordedEvent, refused: Poison | null): Promise<boolean> {
    const { stream, revision } = read.header
    const { store, reader } = this.#sources
    const kind = this.#kindOf(stream)
    const gap = this.#isParked(stream) ? null : gapAt(read, this.#headOf(stream))
    const makesRows = gap === null && !this.#isParked(stream)
    if (makesRows && minReader(read, kind) > reader) return false
    const wanted = makesRows || store.keepsEvents
    const bytes = wanted ? (sealedInlineBody(read) ?? (await bodyBytes(read, this.#sources))) : null
    const event = wanted ? asItIs(read, bytes) : read
    if (store.keepsEvents) this.#kept.add(event, bytes, kind)
    if (gap !== null) this.#park(event, gap, this.#headOf(stream))
    else if (makesRows) await this.#project(event, refused ? { poison: refused } : bytes)
    this.#streams.set(stream, { stream, run_id: runOf(event.header), revision, hash: event.hash })
    return true
  }

  /** Parks the stream of a damaged event, unless it is already parked. */
  async damaged(entry: LogEntry & Poison): Promise<void> {
    const stream = streamOf(entry)
    if (!this.#isParked(stream)) this.#park(entry, entry, this.#headOf(stream))
  }

  async refoldErased(): Promise<void> {
    for (const stream of this.#refold) await this.refold(stream, this.#streams.get(stream)!.revision)
  }

  /**
   * Folds a stream again from its first event. False: the log no longer has the first event, or ends before `upTo`, so
   * the rows of the lost events cannot be rebuilt.
   */
  async refold(stream: string, upTo: number, refused?: RefusedEvent): Promise<boolean> {
    const { log } = this.#sources
    this.#changes.restart(stream)
    let head: StreamRow | undefined
    for await (const page of withDamage((onDamage) => log.read(stream, { onDamage }))) {
      for (const entry of page) {
        const revision = isDamaged(entry) ? null : entry.header.revision
        if (revision !== null && revision > upTo) return true
        const fault = isDamaged(entry) ? entry : gapAt(entry, head)
        if (fault !== null) {
          this.#park(entry, fault, head)
          return head !== undefined
        }
        if (isDamaged(entry)) continue
        head = { stream, run_id: runOf(entry.header), revision: entry.header.revision, hash: entry.hash }
        const known = revision === refused?.revision ? refused : null
        const bytes = known ?? sealedInlineBody(entry) ?? (await bodyBytes(entry, this.#sources))
        if (await this.#parks(asItIs(entry, bytes), bytes)) return true
      }
    }
    return (head?.revision ?? -1) >= upTo
  }

  #kindOf(stream: string): StreamKind | undefined {
    return this.#sources.kinds.get(kindOf(stream))
  }

  #headOf(stream: string): StreamRow | undefined {
    return this.#streams.get(stream) ?? this.#states.heads.get(stream)
  }

  #isParked(stream: string): boolean {
    return this.#parked.has(stream) || this.#states.parked.has(stream)
  }

  /** `head`: the event before a damaged entry. */
  #park(entry: LogEntry, poison: Poison, head: StreamRow | undefined): void {
    const stream = streamOf(entry)
    const runId = (isDamaged(entry) ? head?.run_id : runOf(entry.header)) ?? null
    this.#changes.add(stream, parking(entry, poison, (head?.revision ?? -1) + 1, runId, this.#kindOf(stream)))
    this.#parked.add(stream)
  }

  async #project(event: RecordedEvent, bytes: Body): Promise<void> {
    const { stream, revision } = event.header
    if (event.erased) this.#seenErased.add(`${stream}@${revision}`)
    if (await this.#parks(event, bytes)) return
    if (!this.#refold.has(stream) && (await this.#showsErased(event))) this.#refold.add(stream)
  }

  /** Adds an event's changes; true: the event cannot be projected and parks its stream. */
  async #parks(event: RecordedEvent, bytes: Body): Promise<boolean> {
    const poison = bytes !== null && 'poison' in bytes ? bytes.poison : await this.#changed(event, bytes)
    if (poison) this.#park(event, poison, undefined)
    return poison !== null
  }

  async #changed(event: RecordedEvent, bytes: Uint8Array | null): Promise<Poison | null> {
    const problem = headerProblem(event)
    if (problem !== null) return problem
    const { stream } = event.header
    const kind = this.#kindOf(stream)
    if (kind !== undefined) {
      const poison = await this.#byRules(kind, event, bytes)
      if (poison !== null) return poison
    }
    this.#changes.add(stream, [...due(event), ...erasures(event)])
    return null
  }

  async #byRules(kind: StreamKind, event: RecordedEvent, bytes: Uint8Array | null): Promise<Poison | null> {
    const residue = event.erased ? await this.#sources.residues.of(kind, event.header) : null
    if (residue !== null && 'poison' in residue) return residue.poison
    if (residue !== null && this.#sources.store.keepsEvents) this.#kept.addResidue(event.header, residue.body)
    const decoded = kind.decode(event, event.erased ? null : bytes, residue?.body)
    if (isPoison(decoded)) return decoded.poison
    const revision = kind.referenceOf(decoded)
    const complete = revision === null ? decoded : await this.#withReferred(kind, event, decoded, revision)
    this.#changes.add(event.header.stream, kind.changes(complete))
    return null
  }

  /**
   * Adds the content of the earlier event that an event refers to. If the stream cannot be read by name, the log is
   * read with its damaged events, so a rebuild gives the same rows as the first projection.
   */
  async #withReferred(kind: StreamKind, { header }: RecordedEvent, event: unknown, revision: number): Promise<unknown> {
    const { log } = this.#sources
    const at = { from: revision, limit: 1 }
    const earlier = await firstOf(log.read(header.stream, at)).catch((error: unknown) => {
      if (!isStreamDamage(error)) throw error
      return firstOf(log.read(header.stream, { ...at, onDamage: () => undefined }))
    })
    const bytes = earlier && (await bodyBytes(earlier, this.#sources))
    if (earlier === null || bytes === null || 'poison' in bytes) return kind.withReferred(event, null)
    const decoded = kind.decode(earlier, bytes, null)
    return kind.withReferred(event, isPoison(decoded) ? null : decoded)
  }

  /** Whether the rows still show a body that the event erases. */
  async #showsErased(event: RecordedEvent): Promise<boolean> {
    const { stream } = event.header
    for (const { revision } of erasedFact(event)?.bodies ?? []) {
      if (this.#seenErased.has(`${stream}@${revision}`)) continue
      if (!(await this.#sources.store.erasureSeen(stream, revision))) return true
    }
    return false
  }
}

const isPoison = (decoded: unknown): decoded is { readonly poison: Poison } =>
  typeof decoded === 'object' && decoded !== null && 'poison' in decoded

async function firstOf(pages: AsyncIterable<readonly RecordedEvent[]>): Promise<RecordedEvent | null> {
  for await (const page of pages) if (page[0]) return page[0]
  return null
}

function headerProblem({ header }: RecordedEvent): Poison | null {
  if ((header.format as number) > FORMAT)
    return { code: 'FORMAT_NEWER', message: `format ${header.format}; this program reads up to ${FORMAT}` }
  if (millis(header.timestamp) === null) return { code: 'SHAPE', message: 'the timestamp is not a time' }
  return null
}

const minReader = (event: RecordedEvent, kind: StreamKind | undefined): number =>
  Math.max(event.header.minReader ?? 1, kind?.minReader(event, event.body && unsalted(event.body)) ?? 1)

/** Null: the event directly follows the one before it. */
function gapAt({ header: { stream, revision } }: RecordedEvent, before: StreamRow | undefined): Poison | null {
  const expected = before ? before.revision + 1 : 0
  if (revision === expected) return null
  const message =
    `stream ${stream} goes on with revision ${revision} where ${expected} must follow: events are missing from the log, or are ` +
    'in it twice; restore the log from a backup, then release'
  return { code: 'GAP', message }
}
