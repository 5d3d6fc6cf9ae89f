import type { Kysely } from 'kysely'
import { type Cursor, formatCursor } from '../../../domain/log/cursor.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import type { Lease } from '../../../domain/ports/runtime.ts'
import { counted } from '../../../projections/engine/text.ts'
import {
  type Answer,
  type Database,
  type Home,
  mustBeOf,
  otherLog,
  ProjectionError,
  Projections,
  type RebuildReport,
  rebuildElsewhere,
  releaseElsewhere,
} from '../../../projections/index.ts'
import { unlessAborted } from '../../operations/concurrency/unless-aborted.ts'
import { withinOr } from '../../operations/concurrency/within-or.ts'
import { alike, told } from '../../operations/notices.ts'
import { holds, holdsEvents } from '../host/losses/find.ts'
import type { Tables } from '../host/table-answers.ts'
import { type LeaseOptions, takeLease } from './lease.ts'
import { comesBack, notHeld } from './lost-tables.ts'

export interface SharedTablesOptions extends LeaseOptions {
  readonly home: Home
  readonly log: EventLog
  readonly blobs: BlobStore
  /** Names this process among those who move the tables. */
  readonly holder: string
  warn(text: string): void
  /** Whether tables that show more than the log holds may be made anew: no loss is open. Always where absent. */
  mayReplace?(): Promise<boolean>
}

/** The lease of the process that moves the tables. No agent is called so. */
const PROJECTOR = '.projector'
/** How often a process that only reads looks how far the tables are, ms: at first, and at last. */
const LOOK_MS = [10, 250] as const
/** The longest pause before the next projector, in ms: the cause that stopped one may stop the next. */
const LONGEST_PAUSE_MS = 30_000
/** Tables that were dropped or altered come back by themselves: answers wait for that, ms. */
const BACK_WITHIN_MS = 30_000
const MISSING = 'the tables are missing; they are made anew of the log, which takes a while where it is long'
/** How long closing waits for what is under way, ms: nothing is lost, and the lease ends by itself. */
const CLOSE_WITHIN_MS = 5_000

/**
 * The tables of many processes: the one with the lease moves them; the position in the tables, which is moved
 * by compare-and-set, keeps out a process that only believes to have it. The others watch that position.
 */
export class SharedTables implements Tables {
  readonly #options: SharedTablesOptions
  readonly #end = new AbortController()
  readonly #serving: Promise<void>
  #live: Projections | null = null
  #said = ''
  /** Why the tables were made anew, as it was told last. */
  #anew: string | null = null
  /** Tries in a row that came to nothing. */
  #failed = 0

  /** The position that a caller has been given: less is no answer, in replaced tables too, while the log holds it. */
  #reached: Cursor | null = null
  /** The operator was told that they are missing, and not yet that they are made. */
  #missing: boolean
  /** Where the tables stood when this process began, if the log does not hold that: nothing is answered from them. */
  readonly #notHeld: Cursor | null

  private constructor(options: SharedTablesOptions, missing: boolean, notHeld: Cursor | null) {
    this.#options = options
    this.#missing = missing
    this.#notHeld = notHeld
    this.#serving = this.#serve(this.#end.signal)
  }

  /** Takes part in moving the tables, which are made where there are none. Rejects with `LOG_OTHER` where they are another's. */
  static async open(options: SharedTablesOptions): Promise<SharedTables> {
    const { home, log, warn } = options
    const missing = !(await mustBeOf(home, log)) && (await holdsEvents(log))
    if (missing) warn(MISSING)
    return new SharedTables(options, missing, await notHeld(home, log))
  }

  /** Waits, within a bound, for tables that were dropped or altered. Rejects with `LOG_OTHER` where they are another log's. */
  async read<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>> {
    for (let [waited, pause] = [0, LOOK_MS[0] as number]; ; pause = Math.min(2 * pause, LOOK_MS[1])) {
      try {
        return await this.#read(query)
      } catch (error) {
        if (!comesBack(error) || waited >= BACK_WITHIN_MS) throw error
        waited += pause
        await this.#options.clock.sleep(pause, this.#end.signal).catch(() => Promise.reject(error))
      }
    }
  }

  /** Whether it is this process that moves them. */
  get moves(): boolean {
    return this.#live !== null
  }

  async caughtUpTo(cursor: Cursor, signal: AbortSignal): Promise<void> {
    await this.#caughtUpTo(cursor, signal)
    if (cursor.position > (this.#reached?.position ?? -1)) this.#reached = cursor
  }

  /** Whether tables and leases can be used. */
  async answers(): Promise<void> {
    const { leases, holder } = this.#options
    // This lease is never held: the release only asks whether the leases answer.
    await Promise.all([this.#read(async () => null), leases.release('.unheld', holder)])
  }

  async rebuild({ accept = false } = {}): Promise<RebuildReport> {
    return this.#live?.rebuild({ accept }) ?? rebuildElsewhere(this.#options.home, this.#options, { accept })
  }

  async release(stream: string): Promise<boolean> {
    return this.#live?.release(stream) ?? releaseElsewhere(this.#options.home, this.#options, stream)
  }

  async close(): Promise<void> {
    this.#end.abort(new Error('the tables were closed'))
    await withinOr(this.#options.clock, CLOSE_WITHIN_MS, this.#serving, undefined)
  }

  async #caughtUpTo(cursor: Cursor, signal: AbortSignal): Promise<void> {
    const late = () => {
      throw new ProjectionError('ABORTED', `the tables do not show ${formatCursor(cursor)} yet${this.#why()}`)
    }
    for (let pause: number = LOOK_MS[0]; ; pause = Math.min(2 * pause, LOOK_MS[1])) {
      const live = this.#live
      if (live !== null) {
        try {
          return await live.caughtUpTo(cursor, signal)
        } catch (error) {
          // This process moves them no longer, and another one will; or they are being made anew.
          if (signal.aborted || (live === this.#live && !comesBack(error))) throw error
        }
      } else {
        const shown = unlessAborted(this.#shown(), signal)
        if (reached(await shown.catch((error) => (signal.aborted ? late() : Promise.reject(error))), cursor)) return
      }
      await this.#options.clock.sleep(pause, signal).catch(late)
    }
  }

  async #read<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>> {
    const { home, log } = this.#options
    const answer = await home.read(query)
    const { position } = answer
    if (position !== null && position.logId !== log.logId) throw otherLog(position.logId, log.logId)
    const isOld = position !== null && position.hash === this.#notHeld?.hash
    if (isOld || (await this.#isLess(position)))
      throw new ProjectionError('NOT_FOUND', 'the tables are being made anew; ask again')
    return answer
  }

  /** Whether a caller was told more. Not where the log holds that no longer: it was restored under this process. */
  async #isLess(shown: Cursor | null): Promise<boolean> {
    const told = this.#reached
    if (told === null || told.position <= (shown?.position ?? -1)) return false
    if (await holds(this.#options.log, told)) return true
    if (this.#reached === told) this.#reached = null
    return false
  }

  /** How far the tables are; null also where they cannot be read until they have come back. */
  async #shown(): Promise<Cursor | null> {
    try {
      return (await this.#read(async () => null)).position
    } catch (error) {
      if (comesBack(error)) return null
      throw error
    }
  }

  async #serve(signal: AbortSignal): Promise<void> {
    const { clock, holder, ttlMs } = this.#options
    while (!signal.aborted) {
      try {
        const lease = await takeLease(this.#options, PROJECTOR, holder)
        if (lease !== null) await this.#move(lease, signal)
        // The process that makes them tells it.
        else this.#missing = false
        this.#failed = 0
      } catch (error) {
        if (signal.aborted) return
        // Else another process was faster, and all is well.
        if (!isTaken(error)) {
          this.#failed++
          this.#tell(error)
        }
      }
      const pause = Math.min((ttlMs / 4) * 2 ** Math.min(this.#failed, 8), LONGEST_PAUSE_MS)
      await clock.sleep(pause, signal).catch(() => undefined)
    }
  }

  /** Moves the tables while the lease holds. */
  async #move(lease: Lease, signal: AbortSignal): Promise<void> {
    const { home, log, blobs, warn } = this.#options
    try {
      if (!(await mustBeOf(home, log)) && this.#reached !== null && !this.#missing) {
        warn(MISSING)
        this.#missing = true
      }
      const { mayReplace } = this.#options
      const replaceNewer = mayReplace === undefined || (await mayReplace())
      const projections = await Projections.open({ home, log, blobs, replaceNewer })
      this.#live = projections
      this.#tellAnew(projections)
      this.#tellWell(projections)
      this.#failed = 0
      const over = new AbortController()
      const end = AbortSignal.any([signal, lease.lost, over.signal])
      const both = [projections.run(end), this.#waits(projections, end)]
      try {
        await Promise.race(both)
      } finally {
        over.abort(new Error('this process moves the tables no longer'))
        this.#live = null
        await Promise.allSettled(both)
        await projections.close()
      }
    } finally {
      await lease.release()
    }
  }

  /** Resolves when what follows in the log is for a newer program, which is to have the lease then. */
  async #waits(projections: Projections, signal: AbortSignal): Promise<void> {
    const { clock, ttlMs } = this.#options
    while (!signal.aborted && projections.status().state !== 'waiting') {
      await clock.sleep(ttlMs / 2, signal).catch(() => undefined)
      await projections.tidy()
      this.#tellAnew(projections)
    }
    if (!signal.aborted) this.#tell(new ProjectionError('NEWER_WRITER', projections.status().reason ?? ''))
  }

  /** Once, where it is the same again. */
  #tell(error: unknown): void {
    const said = error instanceof Error ? error.message : String(error)
    if (!alike(said, this.#said)) this.#options.warn(`the tables: ${told(error)}`)
    this.#said = said
  }

  /** The end of what was told. */
  #tellWell(projections: Projections): void {
    const { state, progress } = projections.status()
    if (state === 'waiting') return
    if (this.#missing) this.#options.warn(`the tables were made, of the ${progress.events} events that the log holds`)
    if (this.#said !== '') this.#options.warn('the tables: this process moves them now')
    this.#missing = false
    this.#said = ''
  }

  #tellAnew(projections: Projections): void {
    const { notice, progress } = projections.status()
    if (notice !== this.#anew && notice !== null)
      this.#options.warn(
        `the tables were made anew, of the ${counted(progress.events, 'event')} that the log holds: ${notice.split('; ')[0]}`,
      )
    this.#anew = notice
  }

  #why(): string {
    return this.#said === '' ? '; see that a process runs that moves them' : `: ${this.#said}`
  }
}

const isTaken = (error: unknown) => error instanceof ProjectionError && error.code === 'POSITION_TAKEN'

const reached = (shown: Cursor | null, { logId, position, hash }: Cursor): boolean =>
  shown?.logId === logId && (shown.position > position || (shown.position === position && shown.hash === hash))
