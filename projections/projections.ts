import type { Kysely } from 'kysely'
import type { Cursor } from '../domain/log/cursor.ts'
import { Mutex } from '../domain/stream/runtime/concurrency.ts'
import { ProjectionError, type ProjectionErrorCode } from './engine/errors.ts'
import { Projector, type ProjectorOptions, type ProjectorStatus } from './engine/projector/projector.ts'
import { unlessWaitAborted } from './engine/projector/waiters.ts'
import { discard, type Made, mustBeOf, rebuildBeside, rebuildEqual, switchTo } from './engine/rebuild.ts'
import type { Database } from './engine/schema/database.ts'
import { damagedOr } from './engine/store/damage.ts'
import type { Answer, Home, TableDifference } from './engine/store/home.ts'
import { SqliteHome } from './engine/store/sqlite-home.ts'
import type { Progress } from './engine/store/store.ts'

export type ProjectionsOptions = Omit<ProjectorOptions, 'store'> & {
  /** Rebuild tables that show more than the log. Otherwise they are kept as evidence of the log's loss. */
  readonly replaceNewer?: boolean
} & (
    | {
        /** SQLite: the folder of the tables, separate from the log. A deleted folder is rebuilt with equal tables. */
        readonly folder: string
      }
    | {
        /** Another database: the home of the tables. */
        readonly home: Home
      }
  )

export interface RebuildReport {
  /** True: the rebuilt tables are now live. */
  readonly switched: boolean
  /** Null: nothing to compare with (no tables, another log, another schema). */
  readonly differences: readonly TableDifference[] | null
  /** The number of events that the tables were made from. */
  readonly events: number
}

/** The tables of a log: one writer, readers, and rebuilds. */
export class Projections {
  readonly #options: ProjectionsOptions
  readonly #home: Home
  #made: Made
  #following: { readonly end: AbortController; readonly done: Promise<void> } | null = null
  /** Switches and cleanups exclude each other. */
  readonly #alone = new Mutex()
  #switching: Promise<unknown> = Promise.resolve()
  #closed = false
  /** The projector of the current rebuild. */
  #rebuilding: Projector | null = null
  #notice: string | null

  private constructor(options: ProjectionsOptions, home: Home, made: Made, notice: string | null) {
    this.#options = options
    this.#home = home
    this.#made = made
    this.#notice = notice
  }

  /**
   * Opens the tables and catches up to the log's head. Missing or damaged tables are rebuilt. Rejects with `LOG_OTHER`
   * when protected tables belong to another log, and with `LOG_OLDER` when the tables are of a later state of this log,
   * unless `replaceNewer`.
   */
  static async open(options: ProjectionsOptions): Promise<Projections> {
    const home = 'home' in options ? options.home : new SqliteHome(options.folder)
    let notice = 'the tables were missing'
    for (;;) {
      const live = await home.live()
      await mustBeOf(home, options.log)
      if (live === null) break
      try {
        return new Projections(options, home, await caughtUp(home, options, live), null)
      } catch (caught) {
        const error = damagedOr(caught)
        // Ignore a fault of tables that another process has replaced.
        if (AMISS.has(codeOf(error)) && (await home.live()) !== live) continue
        if (!MADE_ANEW.has(codeOf(error)) || (isNewer(error) && !options.replaceNewer)) throw error
        notice = textOf(error)
        break
      }
    }
    const made = await rebuildBeside(home, options, null)
    try {
      await home.pointTo(made.name, null)
      await home.dropOthers()
    } catch (error) {
      await discard(home, made)
      throw error
    }
    return new Projections(options, home, made, notice)
  }

  /** `notice`: why the tables were rebuilt, or null. */
  status(): ProjectorStatus & { readonly notice: string | null } {
    return { ...this.#made.projector.status(), notice: this.#notice }
  }

  /** The number of events that the current rebuild has read, and `of` how many. Null: no rebuild is running. */
  rebuilding(): { readonly events: number; readonly of: number } | null {
    const of = this.#made.projector.status().progress.events
    return this.#rebuilding && { events: Math.min(of, this.#rebuilding.status().progress.events), of }
  }

  /**
   * Follows the log until the signal aborts, also across a rebuild. Damaged or altered tables are rebuilt. Rejects as
   * {@link Projector.run} does.
   */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#closed) {
      await this.#switching
      const end = new AbortController()
      const projector = this.#made.projector
      const done = projector.run(AbortSignal.any([signal, end.signal]))
      this.#following = { end, done: done.catch(() => {}) }
      try {
        await done
        if (!end.signal.aborted) return
      } catch (caught) {
        const error = damagedOr(caught)
        if (!BROKEN.has(codeOf(error))) throw error
        await this.rebuild({ accept: true })
        this.#notice = textOf(error)
      }
    }
  }

  /** Folds all current events of the log. The sweep of due agents calls this first. */
  async catchUp(): Promise<Progress> {
    await this.#switching
    return this.#made.projector.catchUp()
  }

  /** Resolves when answers include the event of this cursor. Rejects as {@link Projector.caughtUpTo} does. */
  async caughtUpTo(cursor: Cursor, signal?: AbortSignal): Promise<void> {
    for (;;) {
      await unlessWaitAborted(this.#switching, signal)
      const projector = this.#made.projector
      try {
        await projector.caughtUpTo(cursor, signal)
        if (projector === this.#made.projector) return
      } catch (error) {
        const replaced = codeOf(error) === 'STOPPED'
        await unlessWaitAborted(this.#switching, signal)
        if (!replaced || projector === this.#made.projector) throw damagedOr(error)
      }
    }
  }

  /** Runs queries of projections/agent/queries on one state of the live tables. */
  read<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>> {
    return this.#home.read(query)
  }

  /** Like {@link read}, but `query` may await anything and delays no other answer. */
  readApart<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>> {
    return this.#home.readApart?.(query) ?? this.#home.read(query)
  }

  /** Reads a parked stream again. True: the stream is no longer parked. */
  async release(stream: string): Promise<boolean> {
    await this.#switching
    return this.#made.projector.release(stream)
  }

  /**
   * Makes new tables from the log, compares them with the live ones, and switches when they are equal or `accept`
   * allows a difference (for example after a change of the row rules). Answers continue in the meantime.
   */
  async rebuild({ accept = false } = {}): Promise<RebuildReport> {
    const { made, ...report } = await rebuildEqual(this.#home, this.#options, { accept }, (projector) => {
      this.#rebuilding = projector
    }).finally(() => {
      this.#rebuilding = null
    })
    if (made === null) return { switched: false, ...report }
    await this.#alone.run(() => this.#switchTo(made))
    return { switched: true, ...report }
  }

  /**
   * Removes old tables that still had readers at the last rebuild; servers call this periodically. Rejects when these
   * tables are no longer live (`POSITION_TAKEN`) or were altered (`SCHEMA_OTHER`).
   */
  async tidy(): Promise<void> {
    try {
      await this.#alone.run(() => this.#tidied(this.#made.name))
    } catch (error) {
      // The projector itself waits for the database.
      if (codeOf(error) !== 'UNAVAILABLE') throw error
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#following?.end.abort()
    await this.#following?.done
    await this.#made.store.close()
    await this.#home.dropOthers()
    await this.#home.close()
  }

  async #tidied(name: string): Promise<void> {
    const live = await this.#home.live()
    if (live !== name) throw new ProjectionError('POSITION_TAKEN', `the live tables are ${live} now, no more ${name}`)
    const store = await this.#home.open(name)
    await store.close()
    await this.#home.dropOthers()
  }

  #switchTo(made: Made): Promise<void> {
    const done = this.#switched(made)
    this.#switching = done.catch(() => {})
    return done
  }

  async #switched(made: Made): Promise<void> {
    this.#following?.end.abort()
    await this.#following?.done
    await switchTo(this.#home, made)
    const { store } = this.#made
    this.#made = made
    await store.close()
    await this.#home.dropOthers()
  }
}

async function caughtUp(home: Home, options: ProjectionsOptions, name: string): Promise<Made> {
  const store = await home.open(name)
  const projector = new Projector({ ...options, store })
  try {
    await projector.catchUp()
    await home.dropOthers()
    return { name, store, projector }
  } catch (error) {
    await store.close()
    throw error
  }
}

const codeOf = (error: unknown): ProjectionErrorCode | null => (error instanceof ProjectionError ? error.code : null)
const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The log ends before the last event in the tables. */
const isNewer = (error: unknown): boolean => codeOf(error) === 'LOG_OLDER'

type Codes = ReadonlySet<ProjectionErrorCode | null>
const BROKEN: Codes = new Set(['SCHEMA_OTHER', 'DAMAGED'] as const)
const MADE_ANEW: Codes = new Set(['LOG_MISMATCH', 'LOG_OLDER', 'SCHEMA_OTHER', 'DAMAGED'] as const)
/** Errors of tables that do not match their position. */
const AMISS: Codes = new Set([...MADE_ANEW, 'POSITION_TAKEN'] as const)
