import { AGGREGATES } from '../../kinds.ts'
import type { Actor } from '../../log/envelope.ts'
import { agentStream, externalStream } from '../../log/ids.ts'
import { idOf, kindOf } from '../../log/owner.ts'
import type { CausedContext } from '../../stream/emitter.ts'
import type { Doomed } from '../../stream/erasure.ts'
import { StreamError } from '../../stream/errors.ts'
import { Mutex } from '../../stream/runtime/concurrency.ts'
import type { Holds } from '../../stream/runtime/erasure/types.ts'
import { firstOf } from '../../stream/runtime/history.ts'
import type { Asking, Mailbox, Submitted } from '../../stream/runtime/mailbox.ts'
import type { Stores } from '../../stream/runtime/ports.ts'
import type { Streams } from '../../stream/runtime/streams.ts'
import type { AccessCommand } from '../decide.ts'
import type { AccessEvent } from '../events.ts'
import {
  covers,
  type Hold,
  holdsOf,
  type Inherited,
  type KeepingCommand,
  type KeepingState,
  NOTHING_KEPT,
} from '../keeping.ts'
import { access, KEEPING_ID, RIGHTS_ID } from '../kind.ts'
import { type AccessState, idsOfPerson } from '../state.ts'

interface KeepingPorts extends Stores {
  /** Called when needed: the streams themselves ask the holds. */
  streams(): Streams
}

type RefusalListener = (principal: string, doomed: Doomed, code: 'HELD' | 'NOT_YOUR_OWN') => void

/**
 * Retention and legal holds, by the state of `access-keeping`. Every erasure asks here. Only one process can erase,
 * because only the log of a data folder can, so a lock in this process keeps holds and erasures apart.
 */
export class Keeping implements Holds {
  readonly #ports: KeepingPorts
  readonly #lock = new Mutex()
  /** By stream: the part of another stream that it continues. Never changes. */
  readonly #sources = new Map<string, Inherited | null>()
  #mailbox: Mailbox<AccessState, AccessEvent, AccessCommand, CausedContext> | null = null
  #listener: RefusalListener = () => undefined

  constructor(ports: KeepingPorts) {
    this.#ports = ports
  }

  /** Calls the listener with each refused erasure that a person asked for, whose name is verified. */
  onRefused(listener: RefusalListener): void {
    this.#listener = listener
  }

  async state(): Promise<KeepingState> {
    const mailbox = this.#own()
    await mailbox.refresh()
    return mailbox.state ?? NOTHING_KEPT
  }

  /** Decides and records a change. A hold waits for the running part of an erasure and stops the next one. */
  async change(command: KeepingCommand, asking: Asking<CausedContext>, expected?: number): Promise<Submitted> {
    const isToHide = 'reason' in command && command.reason !== null
    const hidden = isToHide ? { ...command, reason: await this.#ports.streams().hide(command.reason!) } : command
    const options = { fact: false, ...(expected !== undefined && { expected }) }
    return this.#lock.run(() => this.#own().submit(hidden as KeepingCommand, asking, options))
  }

  /** Reads the stream again before the next answer. Call it after an erasure. */
  forget(): void {
    this.#mailbox?.forget()
  }

  async mustBeFree(doomed: Doomed, by: Actor | null): Promise<void> {
    const refusal = await this.refusal(doomed, by === null || by.claimed ? null : `${by.kind}:${by.id}`)
    if (refusal === null) return
    if (by?.kind === 'user' && !by.claimed) this.#listener(by.id, doomed, refusal.code)
    throw refusal
  }

  /** Why the bodies cannot be erased. `by`: an actor whose name is verified, such as `user:ann`. Null: they can. */
  async refusal(doomed: Doomed, by: string | null): Promise<StreamError<'HELD' | 'NOT_YOUR_OWN'> | null> {
    if (doomed.revisions.length === 0) return null
    const holds = await this.holding(doomed)
    const held = holds.find(({ lifted }) => lifted === null)
    if (held !== undefined) return heldBy(held, doomed)
    const own = by === null ? undefined : await this.#liftedBy(by, holds)
    if (own === undefined) return null
    const what = `${by} lifted the hold ${own.id} on ${doomed.stream}, so another person must erase it`
    return new StreamError('NOT_YOUR_OWN', `${what} (separation of duties)`)
  }

  emptying<T>(doomed: Doomed, by: Actor, empty: () => Promise<T>): Promise<T> {
    return this.#lock.run(async () => {
      await this.mustBeFree(doomed, by)
      return empty()
    })
  }

  /** The holds, in force or lifted, that cover one of the bodies. */
  async holding(doomed: Doomed): Promise<readonly Hold[]> {
    const found: Hold[] = []
    for (const hold of holdsOf(await this.state()))
      if (covers(hold.of, await this.#inheritedBy(hold.of), doomed)) found.push(hold)
    return found
  }

  /** Finds a hold that this person lifted under any linked id. Finds none without separation of duties. */
  async #liftedBy(by: string, holds: readonly Hold[]): Promise<Hold | undefined> {
    if (!holds.some(({ lifted }) => lifted !== null)) return undefined
    const state = await this.#ports.streams().state(access, RIGHTS_ID)
    if (!state?.begun || !state.separation) return undefined
    const actors = [...idsOfPerson(state, by.replace(/^user:/, ''))].map((id) => `user:${id}`)
    return holds.find(({ lifted }) => lifted !== null && actors.includes(lifted.by))
  }

  #own() {
    this.#mailbox ??= this.#ports.streams().mailbox(access, KEEPING_ID)
    return this.#mailbox
  }

  /**
   * The parts of other streams that a fork continues, with the agents that were started there. Those agents can start
   * others later, so the parts are read each time.
   */
  async #inheritedBy(stream: string): Promise<readonly Inherited[]> {
    const source = await this.#sourceOf(stream)
    if (source === null) return []
    return [...(await this.#startedIn(source.stream, source.to)), ...(await this.#inheritedBy(source.stream))]
  }

  async #sourceOf(stream: string): Promise<Inherited | null> {
    const known = this.#sources.get(stream)
    if (known !== undefined) return known
    const aggregate = AGGREGATES.get(kindOf(stream))
    const first = aggregate?.inherited && (await firstOf(this.#ports, aggregate, stream))
    const found = first ? aggregate.inherited?.(first) : null
    const source = found ? { stream: found.stream, to: found.revision } : null
    this.#sources.set(stream, source)
    return source
  }

  /** A part of a stream, and the whole streams of the agents that it has started, their own ones included. */
  async #startedIn(stream: string, to: number): Promise<readonly Inherited[]> {
    const parts: Inherited[] = [{ stream, to }]
    const bears = AGGREGATES.get(kindOf(stream))?.bears
    if (bears === undefined) return parts
    for await (const page of this.#ports.log.read(stream, { bodies: false }))
      for (const { header } of page) {
        const born = header.revision <= to ? bears(header) : null
        if (born === null) continue
        // The header does not tell an agent of keepup from another one.
        parts.push({ stream: externalStream(idOf(born)), to: Number.POSITIVE_INFINITY })
        parts.push(...(await this.#startedIn(agentStream(idOf(born)), Number.POSITIVE_INFINITY)))
      }
    return parts
  }
}

function heldBy(hold: Hold, { stream }: Doomed) {
  const place = hold.of === stream ? stream : `${stream}, as part of ${hold.of},`
  return new StreamError(
    'HELD' as const,
    `the hold ${hold.id} keeps ${place} from being erased (${hold.reason}); lift it first: keepup hold lift ${hold.id}`,
  )
}
