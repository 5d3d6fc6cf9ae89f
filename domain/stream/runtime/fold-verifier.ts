import type { Header, RecordedEvent } from '../../log/envelope.ts'
import type { Aggregate, Inherited, StreamEvent } from '../aggregate.ts'
import { digestUnder, newerFold } from './check-digest.ts'
import { history } from './history.ts'
import type { Stores } from './ports.ts'
import type { ProofProblem } from './stream-proof.ts'

/** Folds a stream again and compares each recorded digest. Stops after it has reported the first event that differs. */
export class FoldVerifier<State, Event extends StreamEvent, Command> {
  readonly problems: ProofProblem[] = []
  digests = 0
  recorded = 0
  private newer = false
  private readonly stores: Stores
  private readonly aggregate: Aggregate<State, Event, Command>
  private state: State | null = null
  private stopped = false

  constructor(stores: Stores, aggregate: Aggregate<State, Event, Command>) {
    this.stores = stores
    this.aggregate = aggregate
  }

  /**
   * Folds the next event. `body`: without its salt; null: erased, or missing. `left`: the event rebuilt from its residue after an erasure. Returns a promise only for the
   * first event of a stream that continues another one, because the source is folded first; otherwise null.
   */
  next(recorded: RecordedEvent, body: Uint8Array | null, left: Event | null): Promise<void> | null {
    if (recorded.header.digest !== undefined) this.recorded++
    if (this.stopped) return null
    if (left === null && (recorded.erased || body === null)) {
      // Without a body or a residue, this event and all later ones cannot be folded; the chain still proves them.
      this.stopped = true
      return null
    }
    const { header } = recorded
    const { aggregate } = this
    try {
      const event = left ?? aggregate.decode(header, body!)
      const fault = aggregate.fault(event)
      if (fault !== null)
        this.report(header.revision, 'SHAPE', `the body of ${event.type} has not its recorded shape: ${fault}`)
      const source = aggregate.inherited?.(event)
      if (source) {
        const linked = this.startFromSource(source).then(() => this.fold(header, event))
        return linked.catch((error: unknown) => this.stopAt(header, error))
      }
      this.fold(header, event)
    } catch (error) {
      this.stopAt(header, error)
    }
    return null
  }

  private fold(header: Header, event: Event): void {
    const state = this.aggregate.evolve(this.state, event)
    this.state = state
    const digest = header.digest && this.recomputed(header.revision, header.digest.fold, state)
    if (digest === undefined || digest === null) return
    this.digests++
    if (digest === header.digest!.value) return
    this.stopped = true
    this.report(header.revision, 'DIGEST', `the state folded here is not the one that was recorded at ${header.type}`)
  }

  /** The digest of a state under a fold; null: this program cannot compute it. Reports the first of a newer fold. */
  private recomputed(revision: number, fold: number, state: State): string | null {
    const known = this.aggregate.fold
    if (fold > known && !this.newer) this.report(revision, 'DIGEST', newerFold(fold, known))
    this.newer ||= fold > known
    return digestUnder(this.aggregate, fold, state)
  }

  private stopAt(header: Header, error: unknown): void {
    this.stopped = true
    this.report(header.revision, 'SHAPE', error instanceof Error ? error.message : String(error))
  }

  private async startFromSource({ stream, revision, hash, digest }: Inherited): Promise<void> {
    let state: State | null = null
    let last = ''
    for await (const page of history<Event>(this.stores, this.aggregate, stream, { to: revision })) {
      for (const { event, recorded } of page) {
        state = this.aggregate.evolve(state, event)
        last = recorded.hash
      }
    }
    if (state === null) throw new Error(`the log has no stream ${stream}, which this one goes on from`)
    if (last !== hash) this.report(0, 'CHAIN', `the source ${stream}@${revision} is not the one that was forked`)
    const folded = this.recomputed(0, digest.fold, state)
    if (folded !== null && folded !== digest.value)
      this.report(0, 'DIGEST', 'the state at the fork point is not the one that was recorded')
    this.state = state
  }

  private report(revision: number, code: ProofProblem['code'], message: string): void {
    this.problems.push({ revision, code, message })
  }
}
