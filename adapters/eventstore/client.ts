import { EventStoreDBClient } from '@eventstore/db-client'
import { LogError } from '../../domain/log/errors.ts'
import { AppendStream } from './append-stream.ts'
import { innerOf, patched } from './client-internals.ts'
import { type Address, connectionString } from './connection-string.ts'
import { withinDeadline } from './deadline.ts'
import { isAnswer, needsNewClient, Replaced } from './errors.ts'

/** The time limit for the disposal of a replaced client, in ms. */
const DISPOSE_WITHIN = 2_000
const CLOSE_WITHIN = 500

/** A client in use. `gone` aborts when it is replaced. */
export interface HeldClient {
  readonly client: EventStoreDBClient
  readonly appends: AppendStream
  readonly gone: AbortController
}

/**
 * A client that can be replaced. Replacement is the only remedy if a node hangs or a discovery has failed once. It
 * rejects the appends in flight; their callers resend them unchanged.
 */
export class ReplaceableClient {
  readonly #address: Address
  /** The time of continuous failures after which a new client is tried, which may find another node. In ms. */
  readonly #failingFor: number
  #held: HeldClient | null = null
  #retired: Promise<void> = Promise.resolve()
  #failingSince: number | null = null

  constructor(address: Address, failingFor: number) {
    this.#address = address
    this.#failingFor = failingFor
  }

  /** The current client. Waits until the previous client was disposed of. */
  async take(): Promise<HeldClient> {
    await this.#retired
    this.#held ??= hold(newClient(this.#address))
    return this.#held
  }

  /** The server answered. */
  worked(): void {
    this.#failingSince = null
  }

  /** Records that a call with this client failed, and replaces the client if necessary. */
  failed(held: HeldClient, error: unknown): void {
    if (held !== this.#held) return
    if (isAnswer(error)) return this.worked()
    this.#failingSince ??= performance.now()
    if (needsNewClient(error) || performance.now() - this.#failingSince > this.#failingFor) this.#replace(held)
  }

  #replace(held: HeldClient): void {
    this.#failingSince = null
    this.#held = null
    held.gone.abort(new Replaced())
    this.#retired = retire(held.client)
  }

  /** Disposes of the client. */
  async close(): Promise<void> {
    if (this.#held) this.#replace(this.#held)
    await this.#retired
  }
}

const hold = (client: EventStoreDBClient): HeldClient => ({
  client,
  appends: new AppendStream(client),
  gone: new AbortController(),
})

async function retire(client: EventStoreDBClient): Promise<void> {
  await atMost(DISPOSE_WITHIN, client.dispose())
  // An open channel would reconnect when a hanging node recovers.
  await atMost(
    CLOSE_WITHIN,
    innerOf(client)
      .getChannel()
      .then((channel) => channel.close()),
  )
}

/** Waits for the end of work, successful or not, for at most `ms`. */
const atMost = (ms: number, work: Promise<unknown>) =>
  withinDeadline(ms, 'the end of a client', work).catch(() => undefined)

/** The number of consecutive clients whose settings differ. */
const DIFFERENT = 1_000
let made = 0

const newClient = (address: Address) => patched(construct(connectionString(address, made++ % DIFFERENT)))

/** The client's error for a bad string is not passed on, because it may contain the string. */
function construct(text: string): EventStoreDBClient {
  try {
    return EventStoreDBClient.connectionString(text)
  } catch {
    throw new LogError(
      'LOG_REFUSED',
      "the event store's connection string cannot be used: see that the files of tlsCAFile, userCertFile and " +
        'userKeyFile are there and readable, and that its other options have values of their kind',
    )
  }
}
