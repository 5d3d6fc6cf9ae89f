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
import { alike, operatorText } from '../../operations/notices.ts'
import { holdsEvents, logContains } from '../host/losses/find-loss.ts'
import type { Tables } from '../tables/table-answers.ts'
import { type LeaseOptions, takeLease } from './lease.ts'
import { comesBack, notHeld } from './lost-tables.ts'

export interface SharedTablesOptions extends LeaseOptions {
  readonly home: Home
  readonly log: EventLog
  readonly blobs: BlobStore
  /** The name of this process among those that update the tables. */
  readonly holder: string
  warn(text: string): void
  /** Whether tables that are ahead of the log may be rebuilt, because no loss is open. Absent: always. */
  mayReplace?(): Promise<boolean>
}

/** The name of the lease for updating the tables. No agent can have this name. */
const PROJECTOR = '.projector'
/** How often a reading process checks the position of the tables, in ms: the first and the longest pause. */
const LOOK_MS = [10, 250] as const
/** The longest pause before the next projector, in ms. The cause that stopped one projector may stop the next. */
const LONGEST_PAUSE_MS = 30_000
/** The longest time for which answers wait while dropped or altered tables are rebuilt, in ms. */
const BACK_WITHIN_MS = 30_000
const MISSING = 'the tables are missing; they are made anew of the log, which takes a while where it is long'
/** The time limit for closing, in ms. Nothing is lost, and the lease expires. */
const CLOSE_WITHIN_MS = 5_000

/**
 * The tables of several processes. The process with the lease updates them. The position in the tables changes only by
 * compare-and-set, so a process that wrongly believes it has the lease cannot update them. The others watch the
 * position.
 */
export class SharedTables implements Tables {
  readonly #options: SharedTablesOptions
  readonly #end = new AbortController()
  readonly #serving: Promise<void>
  #live: Projections | null = null
  #said = ''
  /** The last reported reason for a rebuild. */
  #anew: string | null = null
  #failed = 0

  /**
   * The last position returned to a caller. An answer must not be older, even after the tables were replaced, while the
   * log contains the position.
   */
  #reached: Cursor | null = null
  /** True after the report that the tables are missing, until the report that they were built. */
  #missing: boolean
  /**
   * The position of the tables at the start of this process if the log does not contain it. Answers must not come from
   * these tables.
   */
  readonly #notHeld: Cursor | null

  private constructor(options: SharedTablesOptions, missing: boolean, notHeld: Cursor | null) {
    this.#options = options
    this.#missing = missing
    this.#notHeld = notHeld
    this.#serving = this.#serve(this.#end.signal)
  }

  /**
   * Takes part in updating the tables, and creates missing ones. Rejects with `LOG_OTHER` if they belong to another
   * log.
   */
  static async open(options: SharedTablesOptions): Promise<SharedTables> {
    const { home, log, warn } = options
    const missing = !(await mustBeOf(home, log)) && (await holdsEvents(log))
    if (missing) warn(MISSING)
    return new SharedTables(options, missing, await notHeld(home, log))
  }

  /**
   * Waits up to {@link BACK_WITHIN_MS} for dropped or altered tables. Rejects with `LOG_OTHER` if they belong to
   * another log.
   */
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

  /** Whether this process updates the tables. */
  get moves(): boolean {
    return this.#live !== null
  }

  async caughtUpTo(cursor: Cursor, signal: AbortSignal): Promise<void> {
    await this.#caughtUpTo(cursor, signal)
    if (cursor.position > (this.#reached?.position ?? -1)) this.#reached = cursor
  }

  /** Resolves if tables and leases are usable. */
  async answers(): Promise<void> {
    const { leases, holder } = this.#options
    // No process takes this lease. The release only checks that the leases answer.
    await Promise.all([this.#read(async () => null), leases.release('.unheld', holder)])
  }

  rebuilding = () => this.#live?.rebuilding() ?? null

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
          // Another process has taken over, or the tables are being rebuilt.
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

  /**
   * Whether a caller has already seen a later position. False if the log no longer contains that position, because it
   * was restored while this process ran.
   */
  async #isLess(shown: Cursor | null): Promise<boolean> {
    const told = this.#reached
    if (told === null || told.position <= (shown?.position ?? -1)) return false
    if (await logContains(this.#options.log, told)) return true
    if (this.#reached === told) this.#reached = null
    return false
  }

  /** The position of the tables. Null also while the tables are unreadable and will be rebuilt. */
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
        // The process that builds them reports it.
        else this.#missing = false
        this.#failed = 0
      } catch (error) {
        if (signal.aborted) return
        // Otherwise another process was faster, which is not an error.
        if (!isTaken(error)) {
          this.#failed++
          this.#tell(error)
        }
      }
      const pause = Math.min((ttlMs / 4) * 2 ** Math.min(this.#failed, 8), LONGEST_PAUSE_MS)
      await clock.sleep(pause, signal).catch(() => undefined)
    }
  }

  /** Updates the tables while this process has the lease. */
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

  /** Resolves when the next event of the log needs a newer program. That program must get the lease. */
  async #waits(projections: Projections, signal: AbortSignal): Promise<void> {
    const { clock, ttlMs } = this.#options
    while (!signal.aborted && projections.status().state !== 'waiting') {
      await clock.sleep(ttlMs / 2, signal).catch(() => undefined)
      await projections.tidy()
      this.#tellAnew(projections)
    }
    if (!signal.aborted) this.#tell(new ProjectionError('NEWER_WRITER', projections.status().reason ?? ''))
  }

  /** Reports an error. A repeated error is reported only once. */
  #tell(error: unknown): void {
    const said = error instanceof Error ? error.message : String(error)
    if (!alike(said, this.#said)) this.#options.warn(`the tables: ${operatorText(error)}`)
    this.#said = said
  }

  /** Reports the end of an error. */
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
