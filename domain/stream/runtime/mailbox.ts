import type { SealedEvent } from '../../log/envelope.ts'
import { ConflictError } from '../../log/errors.ts'
import { idOf } from '../../log/owner.ts'
import type { Head } from '../../ports/index.ts'
import type { Aggregate, Decision, StreamContext, StreamEvent } from '../aggregate.ts'
import { unsealed } from '../sealing.ts'
import { outcomeRetry, type Retry, requestRetry } from './append-retry.ts'
import { checkDigest } from './check-digest.ts'
import { Mutex } from './concurrency.ts'
import { ContentionError } from './errors.ts'
import { headOfEvent, history } from './history.ts'
import { RecordedRequests } from './idempotency-keys.ts'
import { record } from './journal.ts'
import { forgetful, type MailboxMemory } from './mailbox-memory.ts'
import type { StreamPorts } from './ports.ts'
import { type Snapshots, Snapshotter } from './snapshots.ts'

const MAX_DECISIONS = 10

/** Approximate memory use of a state and its spec, bytes. */
const STATE_BYTES = 64 * 1024

/** `revision`: the stream's current revision. `recorded` false: the command was recorded before, or changed nothing. */
export interface Submitted {
  readonly revision: number
  readonly recorded: boolean
}

export interface Submitting<State> {
  /** The command reports an outcome. The retry policy for outcomes applies, not the one for requests. */
  readonly fact: boolean
  /** The retry policy of a larger piece of work. The caller must be within its `once` or `repeat`. */
  readonly retry?: Retry
  readonly expected?: number
  /** Throws when the state does not allow the request. Not called for a request that is already recorded. */
  mustAllow?(state: State): void
}

/** A context without the time and randomness of an attempt, and without the values of a memory. */
export type Asking<Context extends StreamContext> = Omit<Context, 'now' | 'salt' | 'jitter' | 'transcript'>

/**
 * One mailbox per stream: it decides commands one after the other on the state of the log. It folds each event of the
 * log once, into the state and into the memory.
 */
export class Mailbox<State, Event extends StreamEvent, Command, Context extends StreamContext = StreamContext> {
  readonly stream: string
  private readonly ports: StreamPorts
  private readonly aggregate: Aggregate<State, Event, Command, Context>
  private readonly snapshots: Snapshots<State, Event>
  private readonly listeners = new Set<(events: readonly SealedEvent[]) => void>()
  private readonly mutex = new Mutex()
  private folded: State | null = null
  private tip: Head | null = null
  protected memory: MailboxMemory<Event, Context>
  private snapshotter: Snapshotter<State, Event> | null = null
  /** The memory contains a body that was erased. */
  private stale = false
  private readonly requests: RecordedRequests

  constructor(
    aggregate: Aggregate<State, Event, Command, Context>,
    snapshots: Snapshots<State, Event>,
    stream: string,
    ports: StreamPorts,
    memory: MailboxMemory<Event, Context> = forgetful(),
  ) {
    this.aggregate = aggregate
    this.snapshots = snapshots
    this.stream = stream
    this.ports = ports
    this.memory = memory
    this.requests = new RecordedRequests(ports.log, stream, aggregate)
  }

  get state(): State | null {
    return this.folded
  }
  get head(): Head | null {
    return this.tip
  }
  /** Approximate memory use, bytes. */
  get bytes(): number {
    return this.memory.bytes + this.requests.bytes + STATE_BYTES
  }

  /**
   * Calls back after every append or read that changed the state. Passes sealed events without positions, because an
   * append does not return positions. Returns a function that unsubscribes.
   */
  listen(listener: (events: readonly SealedEvent[]) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /** Reads the whole history once into an empty memory, unless `known` returns true. */
  protected remember(memory: MailboxMemory<Event, Context>, known: () => boolean): Promise<void> {
    return this.enqueue(async () => {
      await this.catchUp()
      if (known() || this.tip === null) return
      for await (const page of this.read({ to: this.tip.revision })) for (const { event } of page) memory.push(event)
      this.memory = memory
    })
  }

  /**
   * Call when a body was erased, here or in an inherited stream. The mailbox then reads the stream again before its
   * next decision or answer. Until then it takes no snapshot.
   */
  forget(): void {
    this.stale = true
  }

  private async readAnew(): Promise<void> {
    const memory = this.memory.fresh()
    let [state, head]: [State | null, Head | null] = [null, null]
    this.stale = false
    try {
      for await (const page of this.read({ to: this.tip?.revision ?? -1 })) {
        for (const { event, recorded } of page) {
          state = this.aggregate.evolve(state, event)
          memory.push(event)
          head = headOfEvent(recorded)
        }
      }
    } catch (error) {
      this.stale = true
      throw error
    }
    this.folded = state
    this.tip = head
    this.memory = memory
  }

  /** Folds events that others have appended; false: there were none. */
  refresh(): Promise<boolean> {
    return this.enqueue(() => this.caughtUp())
  }

  /**
   * Decides and records a command; resolves when it is durable. After a conflict it folds the new events and decides
   * again. Outcomes do so until they are recorded. Requests give up after 10 decisions with {@link ContentionError},
   * and reject with REVISION_CHANGED when the stream is not at the `expected` revision. Outcomes also give up when the
   * log refuses them 10 times without new events, or when the driver stops. Between attempts after a definite refusal
   * other commands take their turn. No attempt starts at or after the limit.
   */
  submit(command: Command, asking: Asking<Context>, options: Submitting<State>): Promise<Submitted> {
    const { fact, retry } = options
    const submitting = (under: Retry) => this.enqueue(() => this.decided(command, asking, options, under))
    if (retry !== undefined) return submitting(retry)
    if (!fact) {
      const own = requestRetry(this.ports)
      return own.once(() => submitting(own))
    }
    const own = outcomeRetry(this.ports, idOf(this.stream), 'the outcome')
    return own.repeat(() => submitting(own))
  }

  private async decided(
    command: Command,
    asking: Asking<Context>,
    { fact, expected, mustAllow }: Submitting<State>,
    retry: Retry,
  ): Promise<Submitted> {
    if (this.folded === null || expected !== undefined || mustAllow !== undefined) await this.caughtUp()
    for (let tries = 1, still = 1; ; tries++) {
      retry.mustGoOn()
      if (!fact) {
        if (await this.hasRecorded(asking)) return { revision: this.tip?.revision ?? -1, recorded: false }
        this.mustBeAt(expected)
        if (this.folded !== null) mustAllow?.(this.folded)
      }
      try {
        return await this.decideOnce(command, asking, retry)
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error
        still = (await this.caughtUp()) ? 1 : still + 1
        const bounded = !fact || retry.stopped
        if (still <= MAX_DECISIONS && (!bounded || tries < MAX_DECISIONS)) continue
        throw new ContentionError(`the log refused what was decided on ${this.stream} ${tries} times; try again`, {
          cause: error,
        })
      }
    }
  }

  private mustBeAt(expected: number | undefined): void {
    const revision = this.tip?.revision ?? -1
    if (expected !== undefined && expected !== revision) throw revisionChanged(this.aggregate, this.stream, revision)
  }

  private async hasRecorded(asking: object): Promise<boolean> {
    const { folded, tip } = this
    if (folded === null || tip === null) return false
    const { commandId } = asking as Pick<StreamContext, 'commandId'>
    return this.requests.has(commandId, this.aggregate.commands(folded), tip.revision)
  }

  private async decideOnce(command: Command, asking: Asking<Context>, retry: Retry): Promise<Submitted> {
    const { aggregate, folded, tip, stream, memory } = this
    const place = { stream, revision: tip?.revision ?? -1 }
    let decision: Decision<State, Event> = { drafts: [], state: folded }
    const sealed = await record(this.ports, stream, tip, retry, (making) => {
      const context = { ...asking, ...memory.context(), ...making } as Context
      decision = aggregate.decide(folded, place, command, context)
      const attached = aggregate.attached?.(decision.drafts, command) ?? []
      return {
        events: unsealed(aggregate, decision.drafts, context),
        attached: attached.map(({ hash, bytes }) => ({ bytes, header: { hash }, repeats: true })),
      }
    })
    const last = sealed.at(-1)
    if (last === undefined) return { revision: place.revision, recorded: false }
    const { drafts, state } = decision
    for (const { event } of drafts) this.noted(event)
    this.folded = state
    this.tip = headOfEvent(last)
    memory.settle()
    if (state !== null && !this.stale) this.snapshotter?.consider(state, this.tip.revision)
    this.announce(sealed.map((event, i) => ({ ...event, body: drafts[i]!.body.bytes })))
    return { revision: this.tip.revision, recorded: true }
  }

  private read(options: { from?: number; to?: number }) {
    return history<Event>(this.ports, this.aggregate, this.stream, options)
  }

  /** As {@link catchUp}, and reads the stream again if a listener called {@link forget} about the new events. */
  private async caughtUp(): Promise<boolean> {
    const news = await this.catchUp()
    if (this.stale) await this.readAnew()
    return news
  }

  /** Folds new events of the log; false: there are none. A page that cannot be read or folded changes nothing. */
  private async catchUp(): Promise<boolean> {
    if (this.tip === null) return this.load()
    const before = this.tip
    for await (const page of this.read({ from: before.revision + 1 })) {
      let state = this.folded
      for (const { event, recorded } of page) {
        const next = this.aggregate.evolve(state, event)
        checkDigest(this.aggregate, next, recorded)
        state = next
      }
      const last = page.at(-1)
      if (last === undefined) continue
      this.folded = state
      this.tip = headOfEvent(last.recorded)
      for (const { event } of page) this.noted(event)
      this.announce(page.map(({ recorded }) => recorded))
    }
    return this.tip !== before
  }

  /** Sets the fields after the whole history: a fork's first pages have revisions of its source. */
  private async load(): Promise<boolean> {
    const snapshot = await this.snapshots.latest(this.ports, this.stream, {})
    let state: State | null = snapshot?.state ?? null
    let tip = snapshot?.head ?? null
    const memory = this.memory.fresh()
    for await (const page of this.read(tip === null ? {} : { from: tip.revision + 1 })) {
      for (const { event, recorded } of page) {
        const next = this.aggregate.evolve(state, event)
        checkDigest(this.aggregate, next, recorded)
        state = next
        tip = headOfEvent(recorded)
        memory.push(event)
      }
    }
    this.snapshotter = new Snapshotter(this.snapshots, this.ports.snapshots, this.stream, snapshot?.head.revision ?? 0)
    this.folded = state
    this.tip = tip
    this.memory = memory
    return tip !== null
  }

  private noted(event: Event): void {
    this.requests.note(event.commandId)
    this.memory.push(event)
  }

  /** The log already contains the events, so a failing listener must not make the append look failed. */
  private announce(events: readonly SealedEvent[]): void {
    for (const listener of this.listeners) {
      try {
        listener(events)
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        this.ports.warn?.(idOf(this.stream), `a listener failed: ${why}`)
      }
    }
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    return this.mutex.run(async () => {
      if (this.stale) await this.readAnew()
      return work()
    })
  }
}

/** The refusal of a request whose `expected` revision differs from the stream's. */
export const revisionChanged = (
  { reject }: Pick<Aggregate<unknown, StreamEvent, unknown>, 'reject'>,
  stream: string,
  revision: number,
): Error => reject('REVISION_CHANGED', `${idOf(stream)} is at revision ${revision}; look again`)
