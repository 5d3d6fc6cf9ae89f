import { canonicalText } from '../../log/canonical.ts'
import { sha256 } from '../../log/ids.ts'
import { idOf } from '../../log/owner.ts'
import type { Head, SnapshotStore } from '../../ports/index.ts'
import type { Aggregate, StreamEvent } from '../aggregate.ts'
import { headOf } from './history.ts'
import type { Stores, StreamPorts } from './ports.ts'

/** A snapshot is kept about every so many events. */
export const SNAPSHOT_EVERY = 256

/** Raise it where a part of a state gets another shape that its digest does not see. */
const SNAPSHOT = 1

/** How the states of a kind of stream are kept. */
export interface SnapshotForm<State> {
  /** Names of the state's members: a state of other members is of another program. */
  readonly members: readonly string[]
  /** The kept form of a state: plain JSON. */
  keep(state: State): object
  /** A count that grows with the stream, by which a state may be looked up beside its revision. */
  step(state: State): number
  /** The state that was kept, whole again; null: the log does not tell the rest. */
  whole(stores: Stores, stream: string, kept: object): Promise<State | null>
}

type Folding<State, Event extends StreamEvent> = Pick<
  Aggregate<State, Event, unknown>,
  'fold' | 'digest' | 'versions' | 'kind'
>
type Cached = Stores & Pick<StreamPorts, 'snapshots' | 'warn'>
type Found = { readonly revision: number; readonly kept: object }
type UpTo = { revision?: number; step?: number }

/** The snapshots of one kind of stream. */
export class Snapshots<State, Event extends StreamEvent> {
  private readonly aggregate: Folding<State, Event>
  private readonly form: SnapshotForm<State>
  /** The shape of this program's state, and the events that it is folded from. */
  private readonly shape: string

  constructor(aggregate: Folding<State, Event>, form: SnapshotForm<State>) {
    this.aggregate = aggregate
    this.form = form
    const { fold, versions } = aggregate
    this.shape = canonicalText({ snapshot: SNAPSHOT, fold, members: [...form.members].sort(), versions })
  }

  /**
   * The latest usable snapshot of a stream, or null. A snapshot is believed only where it is whole, of this program's shape,
   * and the log holds its very digest at its revision; anything else is left aside, and the fold starts from the beginning.
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
      return state !== null && digestOf(state) === digest.value ? { state, head: headOf(recorded) } : null
    }
    return null
  }

  /** A state that the cache cannot give is folded, however the cache fails; a warning gives the reason for the delay. */
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

  /** Tells damage, and states of other programs, in all that the digest leaves out. It is no proof against malice. */
  private sumOf(stream: string, revision: number, kept: object): string {
    return sha256(`${this.shape}\n${stream}@${revision}\n${canonicalText(kept)}`)
  }

  /** Keeps the state after a revision; a failure loses nothing. */
  keep(store: SnapshotStore, stream: string, state: State, revision: number): void {
    const kept = this.form.keep(state)
    const snapshot = { sum: this.sumOf(stream, revision, kept), state: kept as never }
    const put = async () =>
      store.put(stream, this.aggregate.fold, { revision, step: this.form.step(state), state: snapshot })
    put().catch(() => undefined)
  }
}

/** Keeps a snapshot when enough has been appended since the last one. */
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

  /** `state` is that after the last event of an append, which carries its digest. */
  consider(state: State, revision: number): void {
    if (this.store === undefined || revision - this.last < SNAPSHOT_EVERY) return
    this.last = revision
    this.snapshots.keep(this.store, this.stream, state, revision)
  }
}
