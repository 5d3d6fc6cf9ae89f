import type { AllStreamResolvedEvent, EventStoreDBClient, StreamingRead } from '@eventstore/db-client'
import type { Appended, BinaryEvent } from './append-message.ts'
import { ReplaceableClient } from './client.ts'
import type { Address } from './connection-string.ts'
import { gather } from './gather.ts'
import { innerOf } from './inner.ts'
import { Slots } from './slots.ts'
import { within } from './within.ts'

const BATCH_APPEND = { path: '/event_store.client.streams.Streams/BatchAppend' }

/**
 * The connections of this process to one event store. One client serves all appends. Another one reads, because a read may
 * move its client to another node, which would end the stream of appends.
 */
export class Connection {
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
   * Appends once after revision `expected` (-1: none). `name`: with the namespace. Rejects with the client's
   * errors, or `Overdue` after `ms`, or `Unsent` where its turn did not come for `patienceMs`.
   */
  async append(
    name: string,
    expected: number,
    events: readonly BinaryEvent[],
    ms: number,
    patienceMs: number,
  ): Promise<Appended> {
    await this.#slots.take(patienceMs)
    try {
      const held = await this.#writer.take()
      try {
        const appended = await within(ms, `an append to ${name}`, held.appends.send(name, expected, events))
        this.#writer.worked()
        return appended
      } catch (error) {
        this.#writer.failed(held, error)
        throw error
      }
    } finally {
      this.#slots.give()
    }
  }

  /** Asks the server what it can. Rejects as {@link append} does. */
  async appendsInBatches(ms: number): Promise<boolean> {
    const held = await this.#writer.take()
    try {
      return await within(ms, 'the first call', innerOf(held.client).supports(BATCH_APPEND))
    } catch (error) {
      this.#writer.failed(held, error)
      throw error
    }
  }

  /** The version that the server tells of itself. Rejects as {@link append} does. */
  async serverVersion(ms: number): Promise<string> {
    const held = await this.#writer.take()
    const { capabilities } = innerOf(held.client)
    return (await within(ms, 'the question for its version', capabilities)).serverVersion
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

const shared = new Map<string, { readonly connection: Connection; users: number }>()

/** The process's connection to these servers; {@link disconnect} must follow. */
export function connect(address: Address, failingFor: number): Connection {
  const held = shared.get(address.text) ?? { connection: new Connection(address, failingFor), users: 0 }
  shared.set(address.text, held)
  held.users++
  return held.connection
}

export async function disconnect(connection: Connection): Promise<void> {
  const { text } = connection.address
  const held = shared.get(text)
  if (held?.connection !== connection || --held.users > 0) return
  shared.delete(text)
  await connection.close()
}
