import { ErrorType, type WrongExpectedVersionError } from '@eventstore/db-client'
import { checkChain, checkNext } from '../../domain/log/chain.ts'
import type { SealedEvent } from '../../domain/log/envelope.ts'
import { ConflictError, LogError } from '../../domain/log/errors.ts'
import { GENESIS } from '../../domain/log/seal.ts'
import type { Appended, BinaryEvent } from './append-message.ts'
import { encode, positionOf, storedStreamName } from './codec.ts'
import { causeOf, hidden } from './errors.ts'
import { type Tip, tipOf } from './heads.ts'
import type { LogParts } from './log-parts.ts'
import type { StreamReader } from './read.ts'
import { patiently } from './retry.ts'

/** The server's limit for the data of an append, in bytes. Metadata and types do not count. */
const MAX_DATA = 1024 * 1024
/**
 * keepup's limit for an append, in bytes with metadata. A message of more than 16 MiB would fail all appends of its
 * stream.
 */
const MAX_ALL = 2 * 1024 * 1024

/** Appends batches whose shape was already checked. */
export class Appender {
  /**
   * Called before the first append over a streaming call. The append rejects with its error. Absent while the log is
   * created.
   */
  mustHold?: (call: object) => Promise<void>
  readonly #place: LogParts
  readonly #reader: StreamReader
  /** Per stream, the end of the last append in flight: the error if its outcome is unknown, else null. */
  readonly #pending = new Map<string, Promise<LogError | null>>()

  constructor(place: LogParts, reader: StreamReader) {
    this.#place = place
    this.#reader = reader
  }

  /**
   * Appends a batch and resolves with the position of its last event. Takes its place in the append order
   * synchronously. Sends one append per stream at a time: if another process takes the revision of the previous append,
   * this append could land after that process's event. If the outcome of the previous append is unknown, this append
   * rejects with the same error. Resends for at most `limitMs`.
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

  /** Resolves when no append is in flight. */
  async drained(): Promise<void> {
    await Promise.all(this.#pending.values())
  }

  async #send(stream: string, expected: number, batch: readonly SealedEvent[], events: BinaryEvent[], until: number) {
    const known = expected < 0 ? null : this.#reader.tips.at(stream, expected)
    if (known === undefined || !fits(known, batch)) await this.#check(stream, expected, batch)
    return this.#deliver(stream, expected, batch, events, until)
  }

  /** Reads the stream at the batch's first revision and checks the batch against it. */
  async #check(stream: string, expected: number, batch: readonly SealedEvent[]): Promise<void> {
    const found = await this.#reader.some(stream, Math.max(expected, 0), 2)
    const previous = expected < 0 ? null : found[0]
    const taken = found[expected < 0 ? 0 : 1]
    // If the revision is taken, the server would compare ids: the batch is a resend or a conflict.
    if (previous === undefined || (taken && taken.id !== batch[0]!.id))
      throw new ConflictError(stream, expected, (await this.#reader.last(stream))?.header.revision ?? -1)
    if (taken) checkChain(previous?.hash ?? GENESIS, batch)
    else checkNext(previous && tipOf(previous), batch)
  }

  /** Resends the same batch until its outcome is known. */
  #deliver(
    stream: string,
    expected: number,
    batch: readonly SealedEvent[],
    events: BinaryEvent[],
    until: number,
  ): Promise<{ readonly position: number }> {
    const { connection, namespace, limits, closed, known } = this.#place
    const name = storedStreamName(namespace, stream)
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
   * "Wrong revision" may refer to an event that waits for its quorum and may vanish. Reports a conflict only if the
   * leader shows events up to the reported revision. Otherwise the caller resends the same batch.
   */
  async #judge(stream: string, expected: number, error: WrongExpectedVersionError): Promise<void> {
    const head = (await this.#reader.last(stream))?.header.revision ?? -1
    const named = error.actualVersion === 'no_stream' ? -1 : Number(error.actualVersion)
    if (head >= named && head !== expected) throw new ConflictError(stream, expected, head)
  }
}

const inDoubt = (error: unknown) => (error instanceof LogError && error.code === 'LOG_UNAVAILABLE' ? error : null)

// Never aborts: `close` waits for the answers of appends that have begun.
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

/**
 * The position of an append. A success without a visible event at the expected revision means that an operator deleted
 * or truncated the stream.
 */
function checkResult(stream: string, revision: number, { revision: written, position }: Appended): number {
  if (written !== BigInt(revision)) throw hidden(stream, `its event ${revision} was written as ${written}`)
  if (!position) throw hidden(stream, `its event ${revision} is hidden`)
  return positionOf({ position, streamId: stream })
}
