import { MemoryLog } from '../../adapters/memory/log.ts'
import type { Cursor } from '../../domain/log/cursor.ts'
import type { RecordedEvent, SealedEvent } from '../../domain/log/envelope.ts'
import { LogError } from '../../domain/log/errors.ts'
import type { EventLog } from '../../domain/ports/index.ts'
import { type Fault, Host, type Scheduler } from './scheduler.ts'

/** How the log behaves: as SQLite in its owner's process, or as an EventStoreDB on servers. */
export type Dialect = 'embedded' | 'servers'

interface Append {
  readonly by: Host
  readonly stream: string
  readonly expected: number
  readonly batch: readonly SealedEvent[]
  readonly settle: (written: Error | { position: number }) => void
}

/** Rates of faults, in 1,024 steps. */
export interface LogRates {
  readonly lost: number
  readonly slow: number
}

/**
 * The log of a simulated world. Everything in `durable` survives each crash, and nothing else does. Embedded: an append
 * waits in the memory of its process until the writer commits. On servers: an append may be written without an answer,
 * arrive after its caller has given up, or wait for a quorum that it never gets; a read never shows it before.
 */
export class SimulatedLog {
  readonly durable: MemoryLog
  readonly #scheduler: Scheduler
  readonly #dialect: Dialect
  readonly #rates: LogRates
  readonly #server = new Host('log')
  readonly #written: (batch: readonly SealedEvent[]) => void
  #queue: Append[] = []
  #last: Promise<Error | { position: number }> = Promise.resolve({ position: 0 })
  /** Streams with an append that waits for its quorum. */
  readonly #undecided = new Set<string>()
  readonly #waiting = new Set<() => void>()
  readonly #read = new Map<string, number>()

  constructor(
    scheduler: Scheduler,
    dialect: Dialect,
    rates: LogRates,
    written: (batch: readonly SealedEvent[]) => void,
  ) {
    this.#scheduler = scheduler
    this.#dialect = dialect
    this.#rates = rates
    this.#written = written
    this.durable = new MemoryLog({
      clock: { now: () => scheduler.time },
      random: { bytes: (length) => new Uint8Array(length).fill(7) },
    })
  }

  /** The head of a stream when a process last read it; -1: never. */
  seenHead(by: Host, stream: string): number {
    return this.#read.get(`${by.name} ${stream}`) ?? -1
  }

  /** What a process had not committed dies with it. */
  died(host: Host): void {
    this.#queue = this.#queue.filter(({ by }) => by !== host)
  }

  /** The log as one process sees it. */
  seenBy(by: Host): EventLog {
    const { durable } = this
    const scheduler = this.#scheduler
    const reads = this.#read
    const asked = <T>(what: string, perform: () => Promise<T>) =>
      scheduler.call(by, what, perform, { fault: (roll) => this.#fault(roll) })
    const pagesOf = async (pages: AsyncIterable<readonly RecordedEvent[]>) => Array.fromAsync(pages)
    return {
      logId: durable.logId,
      erases: true,
      floor: () => 0,
      append: (stream, expected, batch) => this.#append(by, stream, expected, batch),
      head: (stream) => asked(`asks for the head of ${stream}`, () => durable.head(stream)),
      async *read(stream, options) {
        yield* await asked(`reads ${stream} from ${options?.from ?? 0}`, async () => {
          const head = await durable.head(stream)
          reads.set(`${by.name} ${stream}`, head?.revision ?? -1)
          return pagesOf(durable.read(stream, options))
        })
      },
      async *readAll(after, options) {
        yield* await asked('reads the log', () => pagesOf(durable.readAll(after, options)))
      },
      subscribe: (after, signal) => this.#subscribe(by, after, signal),
      cursor: (event) => durable.cursor(event),
      headCursor: () => asked('asks for the head of the log', () => durable.headCursor()),
      async *streams(prefix) {
        yield* await asked('lists the streams', () => Array.fromAsync(durable.streams(prefix)))
      },
      close: async () => undefined,
    }
  }

  #fault(roll: number): Fault | null {
    return roll > 0 && roll <= this.#rates.lost ? { done: roll % 2 === 0, error: unavailable() } : null
  }

  async *#subscribe(by: Host, after: Cursor | null, signal: AbortSignal) {
    let seen = after
    while (!signal.aborted) {
      if ((await this.durable.headCursor()).position <= (seen?.position ?? 0)) await this.#news(signal)
      if (signal.aborted) return
      const from = seen
      const pages = await this.#scheduler.call(
        by,
        'follows the log',
        () => Array.fromAsync(this.durable.readAll(from)),
        { fault: (roll) => (roll === 1 ? this.#fault(1) : null) },
      )
      for (const page of pages) {
        if (page.length === 0) continue
        seen = this.durable.cursor(page.at(-1)!)
        yield page
      }
    }
  }

  #news(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      this.#waiting.add(done)
      signal.addEventListener('abort', done, { once: true })
    })
  }

  #append(by: Host, stream: string, expected: number, batch: readonly SealedEvent[]): Promise<{ position: number }> {
    const types = batch.map(({ header }) => header.type).join(', ')
    const what = `appends ${stream}@${expected + 1} [${types}]`
    const scheduler = this.#scheduler
    return new Promise((resolve, reject) => {
      const settle = (written: Error | { position: number }) =>
        scheduler.add({
          by,
          what: `${what} → ${written instanceof Error ? ((written as LogError).code ?? written.message) : 'ok'}`,
          run: () => {
            if (written instanceof Error) reject(written)
            else resolve(written)
            return ''
          },
        })
      const append: Append = { by, stream, expected, batch, settle }
      const survives = this.#dialect === 'servers'
      const run = (roll: number) => (survives ? this.#toServers(append, roll) : this.#toWriter(append, roll))
      scheduler.add({ by, what, lane: `${by.name} ${stream}`, survives, run })
    })
  }

  #toWriter(append: Append, roll: number): string {
    const { by, settle } = append
    if (roll > 0 && roll <= this.#rates.lost) {
      settle(new LogError('LOG_FULL', 'the disk is full'))
      return 'refused: the disk is full'
    }
    this.#queue.push(append)
    this.#scheduler.add({ by, what: 'commits its queue', lane: `${by.name} writer`, run: () => this.#commit(by) })
    return 'waits in the memory of the writer'
  }

  #commit(by: Host): string {
    const queued = this.#queue.filter((one) => one.by === by)
    this.#queue = this.#queue.filter((one) => one.by !== by)
    for (const append of queued) void this.#write(append).then(append.settle)
    return queued.length === 0 ? 'nothing is left' : `${queued.length} durable`
  }

  #toServers(append: Append, roll: number): string {
    const { stream, settle } = append
    const { lost, slow } = this.#rates
    if (this.#undecided.has(stream)) {
      settle(unavailable())
      return 'not written: another append waits for its quorum'
    }
    const later = (what: string, run: (roll: number) => string) =>
      this.#scheduler.add({ by: this.#server, what: `${what} ${stream}@${append.expected + 1}`, survives: true, run })
    if (roll > 0 && roll <= lost) {
      if (roll % 3 === 0) {
        settle(unavailable())
        return 'lost on its way; the outcome is unknown'
      }
      if (roll % 3 === 1) {
        void this.#write(append).then(() => settle(unavailable()))
        return 'written; the answer is lost'
      }
      settle(unavailable())
      later('receives late', () => {
        void this.#write(append)
        return ''
      })
      return 'on its way for long; the caller does not wait'
    }
    if (roll > lost && roll <= lost + slow) {
      this.#undecided.add(stream)
      later('has a quorum for', (second) => {
        this.#undecided.delete(stream)
        if (second % 2 === 1) {
          settle(unavailable())
          return 'no: the leader fell, and the append is gone'
        }
        void this.#write(append).then(settle)
        return ''
      })
      return 'waits for a quorum'
    }
    void this.#write(append).then(settle)
    return 'durable'
  }

  /** Writes the events, or answers with the log's error. A repeated append is written once. */
  #write(append: Append): Promise<Error | { position: number }> {
    this.#last = this.#last.then(() => this.#writeNow(append))
    return this.#last
  }

  async #writeNow({ stream, expected, batch }: Append): Promise<Error | { position: number }> {
    const before = (await this.durable.head(stream))?.revision ?? -1
    const written = await this.durable.append(stream, expected, batch).catch((error: Error) => error)
    if (!(written instanceof Error) && before === expected) {
      this.#written(batch)
      for (const wake of [...this.#waiting]) wake()
    }
    return written
  }
}

const unavailable = () => new LogError('LOG_UNAVAILABLE', 'the log does not answer')
