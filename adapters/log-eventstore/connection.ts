import {
  type AllStreamResolvedEvent,
  type AppendResult,
  type EventData,
  type EventStoreDBClient,
  NO_STREAM,
  type StreamingRead,
} from '@eventstore/db-client'
import { LogError } from '../../domain/log/errors.ts'
import { ReplaceableClient } from './client.ts'
import type { Address } from './connection-string.ts'
import { isAnswer, Overdue } from './errors.ts'
import { gather } from './gather.ts'
import { Slots } from './slots.ts'

const BATCH_APPEND = { path: '/event_store.client.streams.Streams/BatchAppend' }

/**
 * The connections of this process to one event store. The client keeps its pending appends in a table of the module: if
 * one stream of appends ends, those of all clients of the process are rejected, and their late answers end the process.
 * Hence one client appends, whoever asks; and because a read may move its client to another node, which leaves a stream of
 * appends behind, another one reads.
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
   * Appends once, in call order, after revision `expected` (-1: none). `name`: with the namespace. Rejects with the client's
   * errors, or `Overdue` after `ms`, or where its turn did not come for `patienceMs`: then nothing was sent.
   */
  async append(
    name: string,
    expected: number,
    events: readonly EventData[],
    ms: number,
    patienceMs: number,
  ): Promise<AppendResult> {
    await this.#slots.take(patienceMs)
    let answered = false
    try {
      const held = await this.#writer.take()
      try {
        const expectedRevision = expected < 0 ? NO_STREAM : BigInt(expected)
        const sent = held.client.appendToStream(name, [...events], { expectedRevision })
        const result = await within(ms, `an append to ${name}`, sent)
        answered = true
        this.#writer.worked()
        return result
      } catch (error) {
        answered = isAnswer(error)
        this.#writer.failed(held, error)
        throw error
      }
    } finally {
      this.#slots.give(answered)
    }
  }

  /** Asks the server what it can. Rejects as {@link append} does. */
  async appendsInBatches(ms: number): Promise<boolean> {
    const held = await this.#writer.take()
    try {
      const { supports } = held.client as unknown as { supports(method: { path: string }): Promise<boolean> }
      return await within(ms, 'the first call', supports(BATCH_APPEND))
    } catch (error) {
      this.#writer.failed(held, error)
      throw error
    }
  }

  /** The version that the server tells of itself. Rejects as {@link append} does. */
  async serverVersion(ms: number): Promise<string> {
    const held = await this.#writer.take()
    const { capabilities } = held.client as unknown as { capabilities: Promise<{ serverVersion: string }> }
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

function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Overdue(what, ms)), ms)
    work.then(
      (result) => {
        clearTimeout(timer)
        resolve(result)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

let shared: { readonly connection: Connection; users: number } | null = null
let closing: Promise<void> = Promise.resolve()

/** The process's connection; {@link disconnect} must follow. Rejects with `LOG_LOCKED` where it has one to other servers. */
export async function connect(address: Address, failingFor: number): Promise<Connection> {
  while (!shared) {
    const before = closing
    await before
    if (before === closing) shared ??= { connection: new Connection(address, failingFor), users: 0 }
  }
  if (shared.connection.address.text !== address.text)
    throw new LogError(
      'LOG_LOCKED',
      `this process already writes to the event store at ${shared.connection.address.servers}, and the client cannot ` +
        `write to two; use another process for ${address.servers}`,
    )
  shared.users++
  return shared.connection
}

export async function disconnect(connection: Connection): Promise<void> {
  if (shared?.connection !== connection || --shared.users > 0) return
  shared = null
  closing = connection.close()
  await closing
}
