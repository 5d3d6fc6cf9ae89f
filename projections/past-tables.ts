import { existsSync } from 'node:fs'
import type { Cursor } from '../domain/log/cursor.ts'
import { Mutex } from '../domain/stream/runtime/concurrency.ts'
import { ProjectionError } from './engine/errors.ts'
import { Projector, type ProjectorOptions } from './engine/projector/projector.ts'
import {
  dropOldPast,
  dropPastFile,
  freshPastFile,
  keepPastFile,
  pastFile,
  usePastFile,
} from './engine/store/past-files.ts'
import { openSqliteStore } from './engine/store/sqlite.ts'

/** The most positions with a kept file. */
const MOST_FILES = 4
/** The most times that a file is made again because of erasures in the meantime. */
const MOST_TRIES = 5

/** The tables as they were at a position of the log. */
export interface PastFile {
  readonly path: string
  /** The number of events up to the position whose bodies were erased later. Their texts are null in the tables. */
  readonly erasedLater: number
}

/**
 * Tables at past positions of a log, folded from its events into SQLite files in the folder of the live tables. The
 * files of the last {@link MOST_FILES} positions are kept until an erasure or the next start of the owner.
 */
export class PastTables {
  readonly #folder: string
  readonly #sources: Pick<ProjectorOptions, 'log' | 'blobs'>
  readonly #turn = new Mutex()
  constructor(folder: string, sources: Pick<ProjectorOptions, 'log' | 'blobs'>) {
    this.#folder = folder
    this.#sources = sources
  }

  /**
   * Calls `query` with the tables as they were after the event at `cursor`, a place of this log. Calls follow one another.
   * Rejects with `NEWER_WRITER` when a newer program wrote an event before that place.
   */
  at<T>(cursor: Cursor, query: (file: PastFile) => Promise<T>): Promise<T> {
    return this.#turn.run(async () => query(await this.#file(cursor)))
  }

  async #file(cursor: Cursor): Promise<PastFile> {
    const path = pastFile(this.#folder, cursor.position)
    const kept = await this.#kept(path, cursor)
    if (kept === null) return this.#made(path, cursor)
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

  async #made(path: string, cursor: Cursor): Promise<PastFile> {
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      const fresh = freshPastFile(this.#folder, cursor.position)
      try {
        const file = { path, erasedLater: await this.#fold(fresh, cursor) }
        if (!keepPastFile(fresh, path)) continue
        dropOldPast(this.#folder, MOST_FILES)
        return file
      } finally {
        dropPastFile(fresh)
      }
    }
    throw new ProjectionError('ABORTED', 'bodies are erased one after the other at present; ask again later')
  }

  async #fold(file: string, cursor: Cursor): Promise<number> {
    const store = await openSqliteStore(file)
    try {
      const projector = new Projector({ ...this.#sources, store })
      await projector.catchUp(cursor)
      const { state, reason } = projector.status()
      if (state === 'waiting') throw new ProjectionError('NEWER_WRITER', reason!)
      return await erasedLater(store)
    } finally {
      await store.close()
    }
  }
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
