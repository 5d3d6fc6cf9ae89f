import { randomInt } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { EventStoreDBClient } from '@eventstore/db-client'
import { type Appended, answeredBy, appendedBy, appendRequest, type BinaryEvent } from './append-message.ts'
import { type BatchAppendResp, innerOf, streams } from './client-internals.ts'
import { asCommandError } from './errors.ts'

/**
 * The appends of one client, over the server's streaming call. The client's `appendToStream` is not used for three
 * reasons. It keeps pending appends in one table of the module, so the end of one client's stream rejects the appends
 * of all clients, and their late answers throw outside of any call. It gives the server a deadline by the client's
 * clock. It serializes each event twice.
 */
export class AppendStream {
  readonly #client: EventStoreDBClient
  #call: Promise<AppendCall> | null = null

  constructor(client: EventStoreDBClient) {
    this.#client = client
  }

  /** The streaming call for the next appends. Rejects with the client's errors. Has no time limit. */
  call(): Promise<AppendCall> {
    this.#call ??= this.#open()
    return this.#call
  }

  #open(): Promise<AppendCall> {
    const over = () => {
      if (this.#call === call) this.#call = null
    }
    const call = this.#made(over)
    call.catch(over)
    return call
  }

  async #made(over: () => void): Promise<AppendCall> {
    const { GRPCStreamCreator, callArguments } = innerOf(this.#client)
    let call: AppendCall | undefined
    await GRPCStreamCreator(streams.StreamsClient, 'batchAppend', (grpc) => {
      const duplex = (grpc as Appends).batchAppend(...callArguments({}, { deadline: Number.POSITIVE_INFINITY }))
      call = new AppendCall(duplex, over)
      return duplex
    })()
    return call!
  }
}

interface Appends {
  batchAppend(...options: unknown[]): Duplex
}

interface Waiting {
  readonly name: string
  readonly resolve: (appended: Appended) => void
  readonly reject: (error: unknown) => void
}

/** One streaming call. It answers each of its appends, or rejects all open ones when it fails. */
export class AppendCall {
  readonly #duplex: Duplex
  readonly #waiting = new Map<string, Waiting>()
  readonly #most = String(randomInt(2 ** 48 - 1))
  #sent = 0
  #over: Error | null = null

  constructor(duplex: Duplex, over: () => void) {
    this.#duplex = duplex
    const end = (error: Error) => {
      over()
      this.#over = error
      this.#failed(error)
    }
    duplex.on('data', (answer: BatchAppendResp) => this.#answered(answer))
    duplex.on('error', (error) => end(asCommandError(error)))
    duplex.on('end', () => end(new Error('the server ended the stream of appends')))
  }

  /**
   * Appends `events` after revision `expected` (-1: none) of the stream `name`, in call order. Rejects with the
   * client's errors. Has no time limit. The return value of `write` is ignored, because the caller bounds the number of
   * appends in flight.
   */
  send(name: string, expected: number, events: readonly BinaryEvent[]): Promise<Appended> {
    if (this.#over) return Promise.reject(this.#over)
    const id = String(++this.#sent)
    const request = appendRequest([this.#most, id], name, expected, events)
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { name, resolve, reject })
      this.#duplex.write(request, (error) => {
        if (error && this.#waiting.delete(id)) reject(asCommandError(error))
      })
    })
  }

  /** Settles the request of an answer. An answer without a waiting request belongs to a request that was resent. */
  #answered(answer: BatchAppendResp): void {
    const id = answeredBy(answer)
    const waiting = this.#waiting.get(id)
    if (!waiting) return
    this.#waiting.delete(id)
    try {
      waiting.resolve(appendedBy(answer, waiting.name))
    } catch (error) {
      waiting.reject(error)
    }
  }

  #failed(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}
