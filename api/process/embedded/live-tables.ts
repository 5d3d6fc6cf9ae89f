import { setTimeout as wait } from 'node:timers/promises'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { Projections } from '../../../projections/index.ts'
import { noRoom } from '../../operations/disk-full.ts'
import { operatorText, type Tell } from '../../operations/notices.ts'
import type { Tables } from '../tables/table-answers.ts'

/** The wait before the tables retry after a full disk, in ms. */
const ROOM_MS = 1_000

/** Keeps the tables up to date until the signal aborts or a permanent error occurs. Waits while the disk is full. */
export async function following(
  tables: Pick<Projections, 'run'>,
  signal: AbortSignal,
  tell: Tell,
  waitMs = ROOM_MS,
): Promise<void> {
  for (let before: string | null = null; !signal.aborted; ) {
    try {
      return await tables.run(signal)
    } catch (error) {
      const why = operatorText(error)
      if (why !== before) tell(why)
      if (noRoom(error) === null) return
      before = why
      await wait(waitMs, undefined, { signal }).catch(() => {})
    }
  }
}

/**
 * The tables in the process that owns the data folder. They follow the log in the main thread, which already has the
 * sealed bodies in memory and need not read, hash and parse them again. A separate thread that reads the log's file and
 * gets notices of commits through shared memory was measured: a durable turn took 12 to 20 % more CPU over all threads,
 * and the process 50 MB more memory. It saved the main thread 19 % of its work with 32 concurrent runs, and nothing
 * with one.
 */
export class LiveTables {
  readonly tables: Tables
  readonly #projections: Projections
  readonly #end = new AbortController()
  readonly #tell: Tell
  #running: Promise<void> = Promise.resolve()
  #runs = false

  private constructor(projections: Projections, tell: Tell) {
    this.tables = projections
    this.#projections = projections
    this.#tell = tell
    this.#follow()
  }

  /**
   * Opens the tables. Replaces tables that are newer than the log, because its loss was accepted. Rejects with a
   * ProjectionError.
   */
  static async open(folder: string, log: EventLog, blobs: BlobStore, tell: Tell): Promise<LiveTables> {
    const projections = await Projections.open({ folder, log, blobs, replaceNewer: true })
    const { notice } = projections.status()
    if (notice !== null && notice !== MISSING) tell(`the tables were made anew of the log: ${notice.split('; ')[0]}`)
    return new LiveTables(projections, (text) => tell(`the tables: ${text}`))
  }

  /** Rebuilds the tables from the log and follows it again. */
  async anew(): Promise<void> {
    await this.#projections.rebuild({ accept: true })
    this.#follow()
  }

  async close(): Promise<void> {
    this.#end.abort()
    await this.#running
    await this.#projections.close()
  }

  #follow(): void {
    if (this.#runs) return
    this.#runs = true
    this.#running = following(this.#projections, this.#end.signal, this.#tell).finally(() => {
      this.#runs = false
    })
  }
}

/** The notice for a new data folder or a restored backup, which have no tables. */
const MISSING = 'the tables were missing'
