import { Consumers } from '../../../api/operations/consumers/consumers.ts'
import type { ConsumerFilter } from '../../../api/operations/consumers/filter.ts'
import type { ConsumerReader } from '../../../api/operations/consumers/reader.ts'
import { SystemClock } from '../../../api/process/host/clock.ts'
import { formatCursor } from '../../../domain/log/cursor.ts'
import type { BlobStore, EventLog, Positions } from '../../../domain/ports/index.ts'
import { MemoryBlobs } from '../harness.ts'
import { collect } from '../log/sealing.ts'

const NO_END = new AbortController().signal

/** A consumer of a log, and a model of what its readers may get. */
export class ConsumerModel {
  readonly name = 'rows'
  readonly #log: EventLog
  readonly #positions: Positions
  readonly #filter: ConsumerFilter
  readonly #blobs: BlobStore
  #consumers: Consumers
  /** The ids of the events of the filter, in the order of the log. */
  #expected: string[] = []
  #acked = 0
  /** The readers that others have taken over. */
  #old: ConsumerReader | null = null
  cuts = 0
  repeated = 0

  constructor(log: EventLog, positions: Positions, filter: ConsumerFilter, blobs: BlobStore = new MemoryBlobs()) {
    this.#blobs = blobs
    this.#log = log
    this.#positions = positions
    this.#filter = filter
    this.#consumers = this.#made()
  }

  #made(): Consumers {
    return new Consumers({
      log: this.#log,
      positions: this.#positions,
      blobs: this.#blobs,
      clock: new SystemClock(),
    })
  }

  create(): Promise<boolean> {
    return this.#consumers.create(this.name, { after: null, filter: this.#filter })
  }

  /** The log has grown. */
  async grown(): Promise<void> {
    const types: readonly string[] | undefined = this.#filter.types
    const all = await collect(this.#log.readAll(null, { bodies: false }))
    this.#expected = all.filter(({ header }) => types?.includes(header.type) !== false).map(({ id }) => id)
  }

  /** Another process goes on. */
  restart(): void {
    this.#consumers = this.#made()
  }

  /**
   * A new reader takes batches, acks those with `ack`, and is cut off: within its last batch if `within`. Throws where an
   * event is missing, out of order, or repeated although it was acked.
   */
  async session(batches: readonly { readonly max: number; readonly ack: boolean }[], within: boolean): Promise<void> {
    const reader = await this.#consumers.open(this.name)
    await this.#mustRefuseOld(reader)
    let at = this.#acked
    this.#old = reader
    for (const [n, { max, ack }] of batches.entries()) {
      const isLast = n === batches.length - 1
      const begun = at
      for await (const { page, events } of reader.batch(max, 0, NO_END)) {
        for (const { id } of events) {
          if (id !== this.#expected[at]) throw new Error(`event ${at}: ${id} came instead of ${this.#expected[at]}`)
          at += 1
        }
        const ids = (await page.viewsOf(events)).map((view) => view.id)
        if (ids.join() !== events.map(({ id }) => id).join()) throw new Error('the views are of other events')
        if (isLast && within) break
      }
      if (at - begun > max) throw new Error(`${at - begun} events came, at most ${max} were asked for`)
      if (at === begun && at < this.#expected.length && !within) throw new Error(`event ${at} did not come`)
      if (!ack || reader.read === null || (isLast && within)) continue
      await reader.ack(reader.read)
      this.#acked = at
    }
    this.repeated += at - this.#acked
    this.cuts += 1
  }

  async #mustRefuseOld(reader: ConsumerReader): Promise<void> {
    const old = this.#old
    if (old?.read == null || old.epoch === reader.epoch) return
    const before = await this.#consumers.get(this.name)
    const refused = await old.ack(await this.#log.headCursor()).then(
      () => 'taken',
      (error: { code?: string }) => error.code,
    )
    if (refused !== 'CONSUMER_TAKEN') throw new Error(`the ack of the reader before was not refused: ${refused}`)
    if ((await this.#consumers.get(this.name)).position !== before.position) throw new Error('it moved the position')
  }

  /** A last reader gets everything that is left, after which nothing is. */
  async finish(): Promise<void> {
    await this.session([{ max: 100_000, ack: true }], false)
    if (this.#acked !== this.#expected.length) throw new Error(`${this.#acked} of ${this.#expected.length} came`)
    const reader = await this.#consumers.open(this.name)
    for await (const { events } of reader.batch(10, 0, NO_END))
      if (events.length > 0) throw new Error('an event came again')
    const { lag, position } = await this.#consumers.get(this.name)
    const head = formatCursor(await this.#log.headCursor())
    if (lag !== 0 || position !== head) throw new Error(`it is ${lag} events behind, at ${position} of ${head}`)
  }
}
