import type { Kysely } from 'kysely'
import type { Cursor } from '../domain/log/cursor.ts'
import { ProjectionError } from './errors.ts'
import { Projector, type ProjectorOptions, type ProjectorStatus } from './projector/projector.ts'
import { type Difference, rebuildBeside } from './rebuild.ts'
import type { Database } from './schema/database.ts'
import { damagedOr, isDamaged } from './store/damage.ts'
import { dropFile, dropOthers, liveFile, pointTo } from './store/pointer.ts'
import { type Answer, Readers } from './store/readers.ts'
import { openSqliteStore } from './store/sqlite.ts'
import type { Progress, Store } from './store/store.ts'

export interface ProjectionsOptions extends Omit<ProjectorOptions, 'store'> {
  /** A folder of their own, apart from the log; it can be deleted and comes back equal. */
  readonly folder: string
}

export interface RebuildReport {
  /** True: the rebuilt tables are the live ones now. */
  readonly switched: boolean
  /** Null: nothing to compare with (no tables, another log, another schema). */
  readonly differences: readonly Difference[] | null
}

/** The embedded projections: one writer, readers, and rebuilding in one folder. */
export class Projections {
  readonly #options: ProjectionsOptions
  readonly #readers: Readers
  #store: Store
  #projector: Projector
  #following: { readonly end: AbortController; readonly done: Promise<void> } | null = null
  #switching: Promise<unknown> = Promise.resolve()
  #closed = false
  readonly #notice: string | null

  private constructor(options: ProjectionsOptions, store: Store, projector: Projector, notice: string | null) {
    this.#options = options
    this.#readers = new Readers(options.folder)
    this.#store = store
    this.#projector = projector
    this.#notice = notice
  }

  /** Opens the tables, caught up to the log's head. Where they are missing or not of this log, they are made anew. */
  static async open(options: ProjectionsOptions): Promise<Projections> {
    const live = liveFile(options.folder)
    let notice = live === null ? 'the tables were missing' : null
    try {
      if (live !== null) {
        const store = await openSqliteStore(live)
        const projector = new Projector({ ...options, store })
        try {
          await projector.catchUp()
          return new Projections(options, store, projector, null)
        } catch (error) {
          await store.close()
          throw error
        }
      }
    } catch (caught) {
      const error = damagedOr(caught)
      if (!(error instanceof ProjectionError && MADE_ANEW.has(error.code))) throw error
      notice = error.message
    }
    const { file, store, projector } = await rebuildBeside(options.folder, options, null)
    pointTo(options.folder, file)
    dropOthers(options.folder)
    return new Projections(options, store, projector, notice)
  }

  /** `notice`: why the tables were made anew at the start, if they were. */
  status(): ProjectorStatus & { readonly notice: string | null } {
    return { ...this.#projector.status(), notice: this.#notice }
  }

  /**
   * Follows the log until the signal aborts. Rejects as {@link Projector.run} does; a rebuild meanwhile is no end, and
   * tables that turn out to be damaged are made anew.
   */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#closed) {
      await this.#switching
      const end = new AbortController()
      const projector = this.#projector
      const done = projector.run(AbortSignal.any([signal, end.signal]))
      this.#following = { end, done: done.catch(() => {}) }
      try {
        await done
        if (!end.signal.aborted) return
      } catch (error) {
        if (!isDamaged(error)) throw error
        await this.rebuild({ accept: true })
      }
    }
  }

  /** Folds what is in the log now; the sweep of what is due does this first. */
  async catchUp(): Promise<Progress> {
    await this.#switching
    return this.#projector.catchUp()
  }

  /** Resolves when answers show the event of this cursor. Rejects as {@link Projector.caughtUpTo} does. */
  async caughtUpTo(cursor: Cursor, signal?: AbortSignal): Promise<void> {
    for (;;) {
      await this.#switching
      const projector = this.#projector
      try {
        await projector.caughtUpTo(cursor, signal)
        if (projector === this.#projector) return
      } catch (error) {
        const replaced = error instanceof ProjectionError && error.code === 'STOPPED'
        await this.#switching
        if (!replaced || projector === this.#projector) throw damagedOr(error)
      }
    }
  }

  /** Runs queries of projections/queries on one state of the live tables. */
  read<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>> {
    return this.#readers.use(query)
  }

  /** Reads a parked agent's stream again; true: it is no longer parked. */
  async release(agentId: string): Promise<boolean> {
    await this.#switching
    return this.#projector.release(agentId)
  }

  /**
   * Makes the tables again beside the live ones, compares, and switches where they are equal, or where `accept` says that
   * a difference is wanted (another program makes other rows). Answers go on all the while.
   */
  async rebuild({ accept = false } = {}): Promise<RebuildReport> {
    const { folder } = this.#options
    const { file, store, projector, differences } = await rebuildBeside(folder, this.#options, liveFile(folder))
    if (differences !== null && differences.length > 0 && !accept) {
      await store.close()
      dropFile(file)
      return { switched: false, differences }
    }
    const switched = this.#switching.then(() => this.#switchTo(file, store, projector))
    this.#switching = switched.catch(() => {})
    await switched
    return { switched: true, differences }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#following?.end.abort()
    await this.#following?.done
    this.#readers.close()
    await this.#store.close()
  }

  async #switchTo(file: string, store: Store, projector: Projector): Promise<void> {
    this.#following?.end.abort()
    await this.#following?.done
    // Not behind what answers have shown already.
    await projector.catchUp(this.#projector.status().progress.cursor ?? undefined)
    pointTo(this.#options.folder, file)
    const old = this.#store
    this.#store = store
    this.#projector = projector
    await old.close()
    dropOthers(this.#options.folder)
  }
}

const MADE_ANEW = new Set<string>(['LOG_MISMATCH', 'SCHEMA_OTHER', 'DAMAGED'])
