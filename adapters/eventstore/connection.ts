import type { AllStreamResolvedEvent, EventStoreDBClient, StreamingRead } from '@eventstore/db-client'
import type { Appended, BinaryEvent } from './append-message.ts'
import { Slots } from './append-slots.ts'
import { type HeldClient, ReplaceableClient } from './client.ts'
import { innerOf } from './client-internals.ts'
import type { Address } from './connection-string.ts'
import { withinDeadline } from './deadline.ts'
import { gather } from './read-all.ts'

const BATCH_APPEND = { path: '/event_store.client.streams.Streams/BatchAppend' }

interface Sending {
  readonly ms: number
  readonly patienceMs: number
  readonly mustHold?: ((call: object) => Promise<void>) | undefined
}

/**
 * The connections of this process to one event store. One client makes all appends, another one all reads: a read may
 * move its client to another node, which would end the stream of appends.
 */
export class EventStoreConnection {
  readonly address: Address
  readonly reader: ReplaceableClient
  readonly #writer: ReplaceableClient
  readonly #slots = new Slots()

  constructor(address: Address, failingFor: number) {
    this.address = address
    this.reader = new ReplaceableClient(address, failingFor)
    this.#writer = new ReplaceableClient(address, failingFor)
  }

  /**
   * Appends once after revision `expected` (-1: none). `name` includes the namespace. `mustHold` gets the streaming
   * call before the append uses it. Rejects with the error of `mustHold`, with the client's errors, with `Overdue`
   * after `ms`, or with `Unsent` if the append waits longer than `patienceMs` for its turn.
   */
  async append(
    name: string,
    expected: number,
    events: readonly BinaryEvent[],
    { ms, patienceMs, mustHold }: Sending,
  ): Promise<Appended> {
    await this.#slots.take(patienceMs)
    try {
      const held = await this.#writer.take()
      const call = await this.#tried(held, withinDeadline(ms, 'a stream of appends', held.appends.call()))
      await mustHold?.(call)
      const appended = await this.#tried(
        held,
        withinDeadline(ms, `an append to ${name}`, call.send(name, expected, events)),
      )
      this.#writer.worked()
      return appended
    } finally {
      this.#slots.give()
    }
  }

  /** Whether the server supports appends in batches. Rejects like {@link append}. */
  async appendsInBatches(ms: number): Promise<boolean> {
    const held = await this.#writer.take()
    return this.#tried(held, withinDeadline(ms, 'the first call', innerOf(held.client).supports(BATCH_APPEND)))
  }

  async #tried<T>(held: HeldClient, work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      this.#writer.failed(held, error)
      throw error
    }
  }

  /** The version that the server reports. Rejects like {@link append}. */
  async serverVersion(ms: number): Promise<string> {
    const held = await this.#writer.take()
    const { capabilities } = innerOf(held.client)
    return (await withinDeadline(ms, 'the question for its version', capabilities)).serverVersion
  }

  /** Reads once. `ms`: the longest silence. Rejects with the client's errors or `Overdue`. */
  async read(
    open: (client: EventStoreDBClient) => StreamingRead<AllStreamResolvedEvent>,
    ms: number,
    signal: AbortSignal,
  ): Promise<AllStreamResolvedEvent[]> {
    const held = await this.reader.take()
    try {
      const events = await gather(open(held.client), ms, AbortSignal.any([signal, held.gone.signal]))
      this.reader.worked()
      return events
    } catch (error) {
      signal.throwIfAborted()
      this.reader.failed(held, error)
      throw error
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#writer.close(), this.reader.close()])
  }
}

const shared = new Map<string, { readonly connection: EventStoreConnection; users: number }>()

/** The process's connection to these servers. Call {@link disconnect} afterwards. */
export function connectEventStore(address: Address, failingFor: number): EventStoreConnection {
  const held = shared.get(address.text) ?? { connection: new EventStoreConnection(address, failingFor), users: 0 }
  shared.set(address.text, held)
  held.users++
  return held.connection
}

export async function disconnect(connection: EventStoreConnection): Promise<void> {
  const { text } = connection.address
  const held = shared.get(text)
  if (held?.connection !== connection || --held.users > 0) return
  shared.delete(text)
  await connection.close()
}
