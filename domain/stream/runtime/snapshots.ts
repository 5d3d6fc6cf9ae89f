import { canonicalText } from '../../log/canonical.ts'
import { sha256 } from '../../log/ids.ts'
import { idOf } from '../../log/owner.ts'
import type { Head, SnapshotStore } from '../../ports/index.ts'
import type { Aggregate, StreamEvent } from '../aggregate.ts'
import { headOfEvent } from './history.ts'
import type { Stores, StreamPorts } from './ports.ts'

/** The approximate number of events between two snapshots. */
export const SNAPSHOT_EVERY = 256

/** Increase this number when the shape of a state changes and its digest does not. */
const SNAPSHOT = 1

/** How to store and restore the states of a kind of stream. */
export interface SnapshotForm<State> {
  /** Names of the state's members. A state with other members comes from another program. */
  readonly members: readonly string[]
  /** The stored form of a state: plain JSON. */
  keep(state: State): object
  /** A count that grows with the stream. A state can be looked up by it, as well as by revision. */
  step(state: State): number
  /** Restores a stored state; null: the log lacks the remaining parts. */
  whole(stores: Stores, stream: string, kept: object): Promise<State | null>
}

type Folding<State, Event extends StreamEvent> = Pick<
  Aggregate<State, Event, unknown>,
  'fold' | 'digest' | 'versions' | 'kind'
>
type Cached = Stores & Pick<StreamPorts, 'snapshots' | 'warn'>
type Found = { readonly revision: number; readonly kept: object }
type UpTo = { revision?: number; step?: number }

export class Snapshots<State, Event extends StreamEvent> {
  private readonly aggregate: Folding<State, Event>
  private readonly form: SnapshotForm<State>
  /** The shape of this program's state, and the versions of the events that it is folded from. */
  private readonly shape: string

  constructor(aggregate: Folding<State, Event>, form: SnapshotForm<State>) {
    this.aggregate = aggregate
    this.form = form
    const { fold, versions } = aggregate
    this.shape = canonicalText({ snapshot: SNAPSHOT, fold, members: [...form.members].sort(), versions })
  }

  /**
   * The latest usable snapshot of a stream, or null. A snapshot is usable only if its checksum is right, its shape is
   * this program's, and its digest is the one that the log recorded at its revision. Otherwise the caller folds from
   * the first event.
   */
  async latest(ports: Cached, stream: string, upTo: UpTo): Promise<{ state: State; head: Head } | null> {
    const { fold, digest: digestOf } = this.aggregate
    const found = await this.fromCache(ports, stream, upTo)
    if (found === null) return null
    for await (const page of ports.log.read(stream, { from: found.revision, limit: 1, bodies: false })) {
      const recorded = page[0]
      const digest = recorded?.header.digest
      if (recorded === undefined || digest?.fold !== fold) return null
      const state = await this.form.whole(ports, stream, found.kept)
      return state !== null && digestOf(state) === digest.value ? { state, head: headOfEvent(recorded) } : null
    }
    return null
  }

  /** If the cache fails, returns null and warns. The caller then folds all events. */
  private async fromCache({ snapshots, warn }: Cached, stream: string, upTo: UpTo): Promise<Found | null> {
    try {
      const found = await snapshots?.latest(stream, this.aggregate.fold, upTo)
      const { sum, state } = (found?.state ?? {}) as { readonly sum?: string; readonly state?: object }
      if (found == null || state === undefined || sum !== this.sumOf(stream, found.revision, state)) return null
      return { revision: found.revision, kept: state }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      warn?.(idOf(stream), `no snapshot could be had, so all events are read: ${why}`)
      return null
    }
  }

  /** A checksum that detects damage and states of other programs, but not malice. */
  private sumOf(stream: string, revision: number, kept: object): string {
    return sha256(`${this.shape}\n${stream}@${revision}\n${canonicalText(kept)}`)
  }

  /** Stores the state after a revision. Errors are ignored, because a missing snapshot loses nothing. */
  keep(store: SnapshotStore, stream: string, state: State, revision: number): void {
    const kept = this.form.keep(state)
    const snapshot = { sum: this.sumOf(stream, revision, kept), state: kept }
    const put = async () =>
      store.put(stream, this.aggregate.fold, { revision, step: this.form.step(state), state: snapshot })
    put().catch(() => undefined)
  }
}

/** Stores a snapshot when enough events were appended since the last one. */
export class Snapshotter<State, Event extends StreamEvent> {
  private readonly snapshots: Snapshots<State, Event>
  private readonly store: SnapshotStore | undefined
  private readonly stream: string
  private last: number

  constructor(snapshots: Snapshots<State, Event>, store: SnapshotStore | undefined, stream: string, last: number) {
    this.snapshots = snapshots
    this.store = store
    this.stream = stream
    this.last = last
  }

  /** `state`: the state after the last event of an append, which has a digest. */
  consider(state: State, revision: number): void {
    if (this.store === undefined || revision - this.last < SNAPSHOT_EVERY) return
    this.last = revision
    this.snapshots.keep(this.store, this.stream, state, revision)
  }
}
