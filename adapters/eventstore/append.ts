import { ErrorType, type WrongExpectedVersionError } from '@eventstore/db-client'
import { checkChain, checkNext } from '../../domain/log/chain.ts'
import type { SealedEvent } from '../../domain/log/envelope.ts'
import { ConflictError, LogError } from '../../domain/log/errors.ts'
import { GENESIS } from '../../domain/log/seal.ts'
import type { Appended, BinaryEvent } from './append-message.ts'
import { encode, nameOf, positionOf } from './codec.ts'
import { causeOf, hidden } from './errors.ts'
import { type Tip, tipOf } from './heads.ts'
import { patiently } from './patience.ts'
import type { Place } from './place.ts'
import type { StreamReader } from './read.ts'

/** The server's limit, over the data of an append; metadata and types do not count there. */
const MAX_DATA = 1024 * 1024
/** Ours, over all of it: a message of more than 16 MiB would fail all appends of its stream. */
const MAX_ALL = 2 * 1024 * 1024

/** Appends batches that were checked for their shape. */
export class Appender {
  /** Called before the first append over a streaming call; an append rejects as it does. Absent: appends make the log. */
  mustHold?: (call: object) => Promise<void>
  readonly #place: Place
  readonly #reader: StreamReader
  /** Of each stream the end of the last append that is under way: why nothing is known of it, if so. */
  readonly #pending = new Map<string, Promise<LogError | null>>()

  constructor(place: Place, reader: StreamReader) {
    this.#place = place
    this.#reader = reader
  }

  /**
   * Resolves with the position of the batch's last event. Takes its place in the order of appends synchronously. One at a
   * time for each stream: where the one before loses its place to another process, this one would land on that one's. Where
   * nothing is known of the one before, nothing is of this one. Sends again for `limitMs` at most.
   */
  append(
    stream: string,
    expected: number,
    batch: readonly SealedEvent[],
    limitMs: number = this.#place.limits.patienceMs,
  ): Promise<{ readonly position: number }> {
    const until = performance.now() + limitMs
    const events = batch.map(encode)
    checkSize(stream, events)
    const send = () => this.#send(stream, expected, batch, events, until)
    const before = this.#pending.get(stream)
    const sent = before ? before.then((doubt) => (doubt ? Promise.reject(doubt) : send())) : send()
    const ended = sent
      .then(() => null, inDoubt)
      .finally(() => {
        if (this.#pending.get(stream) === ended) this.#pending.delete(stream)
      })
    this.#pending.set(stream, ended)
    return sent
  }

  /** Resolves when nothing is under way any more. */
  async drained(): Promise<void> {
    await Promise.all(this.#pending.values())
  }

  async #send(stream: string, expected: number, batch: readonly SealedEvent[], events: BinaryEvent[], until: number) {
    const known = expected < 0 ? null : this.#reader.tips.at(stream, expected)
    if (known === undefined || !fits(known, batch)) await this.#check(stream, expected, batch)
    return this.#deliver(stream, expected, batch, events, until)
  }

  /** Reads the revisions of the batch, where they are not known yet or the batch does not fit them. */
  async #check(stream: string, expected: number, batch: readonly SealedEvent[]): Promise<void> {
    const found = await this.#reader.some(stream, Math.max(expected, 0), 2)
    const previous = expected < 0 ? null : found[0]
    const taken = found[expected < 0 ? 0 : 1]
    // Where the place is taken, the server compares ids: the batch is a resend or a conflict.
    if (previous === undefined || (taken && taken.id !== batch[0]!.id))
      throw new ConflictError(stream, expected, (await this.#reader.last(stream))?.header.revision ?? -1)
    if (taken) checkChain(previous?.hash ?? GENESIS, batch)
    else checkNext(previous && tipOf(previous), batch)
  }

  /** Sends the very same batch until it is known what became of it. */
  #deliver(
    stream: string,
    expected: number,
    batch: readonly SealedEvent[],
    events: BinaryEvent[],
    until: number,
  ): Promise<{ readonly position: number }> {
    const { connection, namespace, limits, closed, known } = this.#place
    const name = nameOf(namespace, stream)
    const patience = { limits, until, servers: connection.address.servers, signal: NEVER, writes: true }
    return patiently(patience, `appending to ${name}`, name, async (left) => {
      try {
        const sending = { ms: limits.callMs, patienceMs: left, mustHold: this.mustHold }
        const result = await connection.append(name, expected, events, sending)
        const position = checkResult(stream, expected + batch.length, result)
        const last = batch[batch.length - 1]!
        this.#reader.tips.note(last)
        known.note({ position, hash: last.hash })
        return { position }
      } catch (error) {
        const cause = causeOf(error)
        if (cause === ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED)
          throw tooLarge(stream, `more bytes than the server takes (MaxAppendSize)`)
        if (cause === ErrorType.WRONG_EXPECTED_VERSION)
          await this.#judge(stream, expected, error as WrongExpectedVersionError)
        closed.throwIfAborted()
        throw error
      }
    })
  }

  /**
   * "Wrong revision" may name an event that waits for its quorum and may vanish. It is believed when the leader shows
   * events up to the one that was named; else the same batch is to be sent again.
   */
  async #judge(stream: string, expected: number, error: WrongExpectedVersionError): Promise<void> {
    const head = (await this.#reader.last(stream))?.header.revision ?? -1
    const named = error.actualVersion === 'no_stream' ? -1 : Number(error.actualVersion)
    if (head >= named && head !== expected) throw new ConflictError(stream, expected, head)
  }
}

const inDoubt = (error: unknown) => (error instanceof LogError && error.code === 'LOG_UNAVAILABLE' ? error : null)

// An append that was begun is answered also while the log is being closed.
const NEVER = new AbortController().signal

function fits(tip: Tip | null, batch: readonly SealedEvent[]): boolean {
  try {
    checkNext(tip, batch)
    return true
  } catch {
    return false
  }
}

const tooLarge = (stream: string, why: string) =>
  new LogError('APPEND_TOO_LARGE', `an append to ${stream} holds ${why}; put large bodies into the blob store`)

function checkSize(stream: string, events: readonly BinaryEvent[]): void {
  let data = 0
  let all = 0
  for (const event of events) {
    data += event.data.length
    all += event.data.length + event.metadata.length
  }
  if (data > MAX_DATA) throw tooLarge(stream, `${data} bytes of bodies, more than ${MAX_DATA}`)
  if (all > MAX_ALL) throw tooLarge(stream, `${all} bytes with headers, more than ${MAX_ALL}`)
}

/** A success that left no visible event where it was to stand means that an operator deleted or truncated the stream. */
function checkResult(stream: string, revision: number, { revision: written, position }: Appended): number {
  if (written !== BigInt(revision)) throw hidden(stream, `its event ${revision} was written as ${written}`)
  if (!position) throw hidden(stream, `its event ${revision} is hidden`)
  return positionOf({ position, streamId: stream })
}
