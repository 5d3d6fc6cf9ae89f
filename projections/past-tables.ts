import { existsSync, statfsSync, statSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import type { Cursor } from '../domain/log/cursor.ts'
import { Mutex } from '../domain/stream/runtime/concurrency.ts'
import { ProjectionError } from './engine/errors.ts'
import { Projector, type ProjectorOptions } from './engine/projector/projector.ts'
import { damagedOr } from './engine/store/damage.ts'
import {
  dropOldPast,
  dropPast,
  dropPastFile,
  freshPastFile,
  keepPastFile,
  pastFile,
  pastFileBefore,
  usePastFile,
} from './engine/store/past-files.ts'
import { liveFile } from './engine/store/pointer.ts'
import { openSqliteStore } from './engine/store/sqlite.ts'

/** The most positions with a kept file. */
const MOST_FILES = 4
/** The most times that a question is answered again because of erasures in the meantime. */
const MOST_TRIES = 5
/** The number of pages that a copy takes in one step, before other work continues. */
const COPIED_PAGES = 256

/** The tables as they were at a position of the log. */
export interface PastFile {
  readonly path: string
  /** The number of events up to the position whose bodies were erased later. Their texts are null in the tables. */
  readonly erasedLater: number
}

/**
 * Folds a log up to a cursor into a file of tables, which is empty or has the tables at an earlier cursor. Returns the
 * number of bodies that were erased later. Rejects with a ProjectionError, a LogError, or the reason of the signal.
 */
export type FoldPast = (file: string, upTo: Cursor, signal?: AbortSignal) => Promise<number>

export interface PastTablesOptions {
  readonly fold: FoldPast
  /** The folder of the live tables. */
  readonly folder: string
  /** The number of bodies that the log has erased. */
  readonly erasures: () => Promise<number>
  /** False: each question gets a private file that is removed after the answer. Only the folder's owner may keep files. */
  readonly keeps: boolean
  /** The free bytes of the folder's file system. */
  readonly free?: (folder: string) => number
}

/**
 * Tables at past positions of a log, folded from its events into SQLite files in the folder of the live tables. The
 * files of the last {@link MOST_FILES} positions are kept until an erasure or the next start of the owner.
 */
export class PastTables {
  readonly #options: PastTablesOptions
  readonly #turn = new Mutex()
  constructor(options: PastTablesOptions) {
    this.#options = options
  }

  /**
   * Calls `query` with the tables as they were after the event at `cursor`, a place of this log. Calls follow one another.
   * Calls `query` again when the log erased a body in the meantime. Rejects with `NEWER_WRITER` when a newer program wrote an
   * event before that place, with `FULL` when the disk has too little space, and with the reason of the signal when that
   * aborts before the tables are made.
   */
  at<T>(cursor: Cursor, query: (file: PastFile) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#turn.run(async () => {
      for (let tries = 1; tries <= MOST_TRIES; tries++) {
        signal?.throwIfAborted()
        const erasures = await this.#options.erasures()
        const isCurrent = async () => (await this.#options.erasures()) === erasures
        const file = await this.#file(cursor, erasures, signal)
        if (file === null) continue
        try {
          const answer = await query(file)
          if (await isCurrent()) return answer
        } catch (error) {
          // The owner of the folder may have removed the file.
          if ((await isCurrent()) && existsSync(file.path)) throw error
        } finally {
          if (!this.#options.keeps) dropPastFile(file.path)
        }
      }
      throw new ProjectionError('ABORTED', 'bodies are erased one after the other at present; ask again later')
    })
  }

  /** Removes all files, those in the making too. */
  async clear(): Promise<void> {
    dropPast(this.#options.folder)
  }

  /** Null: an erasure has removed the file. */
  async #file(cursor: Cursor, erasures: number, signal: AbortSignal | undefined): Promise<PastFile | null> {
    const { folder, keeps } = this.#options
    const path = pastFile(folder, cursor.position, erasures)
    const kept = keeps ? await this.#kept(path, cursor) : null
    if (kept === null) return this.#made(cursor, erasures, signal)
    usePastFile(path)
    return kept
  }

  /** Null: there is no file, or it is of another log or program. */
  async #kept(path: string, { hash }: Cursor): Promise<PastFile | null> {
    if (!existsSync(path)) return null
    try {
      const store = await openSqliteStore(path)
      try {
        if ((await store.progress())?.cursor?.hash === hash) return { path, erasedLater: await erasedLater(store) }
      } finally {
        await store.close()
      }
    } catch (error) {
      if (!(error instanceof ProjectionError)) throw error
    }
    dropPastFile(path)
    return null
  }

  async #made(cursor: Cursor, erasures: number, signal: AbortSignal | undefined): Promise<PastFile | null> {
    const { folder, keeps } = this.#options
    this.#mustHaveSpace()
    const start = keeps ? pastFileBefore(folder, cursor.position, erasures) : null
    const fresh = freshPastFile(folder, cursor.position)
    let path = fresh
    try {
      const erased = await this.#filled(fresh, start, cursor, signal)
      if (erased === null) return null
      if (keeps) {
        // An erasure after the count could have come before or after the body was folded.
        path = pastFile(folder, cursor.position, erasures)
        if ((await this.#options.erasures()) !== erasures || !keepPastFile(fresh, path)) return null
        dropOldPast(folder, MOST_FILES, path)
      }
      return { path, erasedLater: erased }
    } catch (error) {
      dropPastFile(fresh)
      throw error
    } finally {
      if (keeps) dropPastFile(fresh)
    }
  }

  /** The number of bodies that were erased later. Null: the tables at `start` are damaged, or of another log; they are removed. */
  async #filled(
    file: string,
    start: string | null,
    cursor: Cursor,
    signal: AbortSignal | undefined,
  ): Promise<number | null> {
    try {
      if (start !== null) await copy(start, file)
      return await this.#options.fold(file, cursor, signal)
    } catch (error) {
      const isOfStart = start !== null && error instanceof ProjectionError && error.code !== 'NEWER_WRITER'
      if (!isOfStart) throw error
      dropPastFile(start)
      return null
    }
  }

  /** The tables of a past position are at most as large as the live ones; the write-ahead log doubles them. */
  #mustHaveSpace(): void {
    const { folder, free = freeBytes } = this.#options
    const live = liveFile(folder)
    if (live === null) return
    const size = ['', '-wal'].reduce(
      (sum, end) => sum + (statSync(live + end, { throwIfNoEntry: false })?.size ?? 0),
      0,
    )
    if (free(folder) >= 2 * size) return
    throw new ProjectionError(
      'FULL',
      `tables at a past position may need ${2 * size} bytes, which the disk of ${folder} does not have; make room, then ask again`,
    )
  }
}

interface FoldPastOptions extends Pick<ProjectorOptions, 'log' | 'blobs'> {
  /** True: the file also gets the events, for a log that SQL cannot read. */
  readonly keepsEvents?: boolean
}

/** Folds in this thread. */
export const foldPast =
  ({ log, blobs, keepsEvents = false }: FoldPastOptions): FoldPast =>
  async (file, upTo, signal) => {
    const store = await openSqliteStore(file, { keepsEvents })
    try {
      const projector = new Projector({ log, blobs, store })
      await projector.catchUp(upTo, signal)
      const { state, reason } = projector.status()
      if (state === 'waiting') throw new ProjectionError('NEWER_WRITER', reason!)
      return await erasedLater(store)
    } finally {
      await store.close()
    }
  }

async function copy(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from, { readOnly: true })
  try {
    await backup(source, to, { rate: COPIED_PAGES })
  } catch (error) {
    throw damagedOr(error)
  } finally {
    source.close()
  }
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** An erased body is seen with its event. The event that erases it adds who and when. */
const erasedLater = async ({ db }: Awaited<ReturnType<typeof openSqliteStore>>): Promise<number> => {
  const { n } = await db
    .selectFrom('erasures')
    .select((e) => e.fn.countAll<number>().as('n'))
    .where('seen', '=', 1)
    .where('at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(n)
}
