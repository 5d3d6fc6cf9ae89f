import { setTimeout as wait } from 'node:timers/promises'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { Projections } from '../../../projections/index.ts'
import { noRoom } from '../../operations/no-room.ts'
import { type Tell, told } from '../../operations/notices.ts'
import type { Tables } from '../host/table-answers.ts'

/** How long tables that found no room wait before they are brought on again, ms. */
const ROOM_MS = 1_000

/** Brings the tables on until the signal aborts, or something keeps them from it for good; a full disk is waited for. */
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
      const why = told(error)
      if (why !== before) tell(why)
      if (noRoom(error) === null) return
      before = why
      await wait(waitMs, undefined, { signal }).catch(() => {})
    }
  }
}

/**
 * The tables of the process that owns the data folder: they follow the log in the main thread, where bodies that were sealed
 * need not be read, hashed and parsed again. A thread of their own, which reads the log's file and hears of commits through
 * shared memory, was measured: a durable turn took 12 to 20 % more CPU over all threads and the process 50 MB more, while the
 * main thread was spared 19 % of its work with 32 runs at once, and none with one.
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

  /** Rejects with a ProjectionError. Tables that show more than the log holds are replaced: its loss was accepted. */
  static async open(folder: string, log: EventLog, blobs: BlobStore, tell: Tell): Promise<LiveTables> {
    const projections = await Projections.open({ folder, log, blobs, replaceNewer: true })
    const { notice } = projections.status()
    if (notice !== null && notice !== MISSING) tell(`the tables were made anew of the log: ${notice.split('; ')[0]}`)
    return new LiveTables(projections, (text) => tell(`the tables: ${text}`))
  }

  /** Makes the tables anew of the log, whatever they hold, and follows it again. */
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

/** A new data folder has no tables, nor has a restored backup. */
const MISSING = 'the tables were missing'
