import type { Actor } from '../../log/envelope.ts'
import type { Json } from '../../log/json.ts'
import { kindOf } from '../../log/owner.ts'
import type { Aggregate, AnyAggregate, StreamEvent } from '../aggregate.ts'
import type { CausedContext } from '../emitter.ts'
import { StreamError } from '../errors.ts'
import { erasable, erase } from './erasure/erase.ts'
import type { Asker, ErasableBody, ErasureChoice, ErasureReason } from './erasure/types.ts'
import { type Asking, Mailbox, type Submitted } from './mailbox.ts'
import type { StreamPorts } from './ports.ts'
import { Snapshots } from './snapshots.ts'
import type { StreamProof } from './stream-proof.ts'
import { verifyChain, verifyStream } from './verify.ts'

export interface StreamsPorts extends StreamPorts {
  /** Replaces all secret values of this installation with references. Resolves when the references are durable. */
  hide(value: Json): Promise<Json>
}

/** The streams of any kind: written, read, verified and erased through their aggregates alone. */
export class Streams {
  readonly #ports: StreamsPorts
  readonly #kinds: ReadonlyMap<string, AnyAggregate>

  constructor(ports: StreamsPorts, kinds: ReadonlyMap<string, AnyAggregate>) {
    this.#ports = ports
    this.#kinds = kinds
  }

  /**
   * Decides and records a command to a stream without a driver, without the values of secrets. Rejects with the
   * kind's refusal, and with REVISION_CHANGED when the stream is not at the `expected` revision.
   */
  async submit<State, Event extends StreamEvent, Command, Context extends CausedContext>(
    aggregate: Aggregate<State, Event, Command, Context>,
    id: string,
    command: Command,
    asking: Asking<Context>,
    expected?: number,
  ): Promise<Submitted> {
    const { hide, snapshots: _, ...ports } = this.#ports
    const hidden = (await hide(command as Json)) as Command
    const mailbox = new Mailbox(aggregate, withoutSnapshots(aggregate), `${aggregate.kind}-${id}`, ports)
    return mailbox.submit(hidden, asking, { fact: false, ...(expected === undefined ? {} : { expected }) })
  }

  /** A value without those of secrets, for a command to a {@link mailbox}. */
  async hide<T extends Json>(value: T): Promise<T> {
    return (await this.#ports.hide(value)) as T
  }

  /** The folded state of a stream; null: the stream does not exist. */
  async state<State, Event extends StreamEvent, Command>(
    aggregate: Aggregate<State, Event, Command>,
    id: string,
  ): Promise<State | null> {
    const mailbox = this.mailbox(aggregate, id)
    await mailbox.refresh()
    return mailbox.state
  }

  /** A mailbox that keeps the state of a stream, for frequent commands. It does not replace the values of secrets. */
  mailbox<State, Event extends StreamEvent, Command, Context extends CausedContext>(
    aggregate: Aggregate<State, Event, Command, Context>,
    id: string,
  ): Mailbox<State, Event, Command, Context> {
    const { hide: _, ...ports } = this.#ports
    return new Mailbox(aggregate, withoutSnapshots(aggregate), `${aggregate.kind}-${id}`, ports)
  }

  /** Verifies the chain and bodies of a stream, and the digests if this program knows its kind. */
  verify(stream: string): Promise<StreamProof> {
    const aggregate = this.#kinds.get(kindOf(stream))
    return aggregate === undefined ? verifyChain(this.#ports, stream) : verifyStream(this.#ports, aggregate, stream)
  }

  /** The bodies that {@link erase} would empty now. Rejects as {@link erase} does; without `by`, not with NOT_YOUR_OWN. */
  async erasable(
    stream: string,
    which: ErasureChoice,
    by: Actor | null = null,
  ): Promise<{ readonly revision: number; readonly bodies: readonly ErasableBody[] }> {
    const aggregate = this.#mustKnow(stream)
    const found = await erasable(this.#ports, aggregate, stream, which, by)
    // Without a rule for its residue, the whole body would be copied into the residue and stay in the log.
    const kept = found.bodies.find(({ type }) => !aggregate.erasing.says(type))
    if (kept !== undefined)
      throw aggregate.reject(
        'NOT_ERASABLE',
        `${kept.type} contains no text of people, agents or tools; nothing was erased`,
      )
    return found
  }

  /**
   * Empties bodies of a stream permanently. Only for kinds whose bodies no service keeps in memory. Repeating the call
   * is safe. Rejects with STREAM_UNKNOWN, and as the function `erase` does.
   */
  async erase(stream: string, which: ErasureChoice, why: ErasureReason, asker: Asker): Promise<Submitted> {
    await this.erasable(stream, which)
    const what = { ...which, ...why, reason: (await this.#ports.hide(why.reason)) as string }
    return erase(this.#ports, this.#mustKnow(stream), stream, what, asker, { forget: async () => {} })
  }

  #mustKnow(stream: string): AnyAggregate {
    const aggregate = this.#kinds.get(kindOf(stream))
    if (aggregate !== undefined) return aggregate
    const what = `streams such as ${stream} are not known here; use the keepup that wrote it`
    throw new StreamError('STREAM_UNKNOWN', what, { why: 'absent' })
  }
}

/** The states are small, so loading folds all events. */
const withoutSnapshots = <State, Event extends StreamEvent>(
  aggregate: Pick<Aggregate<State, Event, unknown>, 'fold' | 'digest' | 'versions' | 'kind'>,
) =>
  new Snapshots<State, Event>(aggregate, {
    members: [],
    keep: () => ({}),
    step: () => 0,
    whole: async () => null,
  })
