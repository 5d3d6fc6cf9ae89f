import { renameSync, rmSync, statSync } from 'node:fs'
import { LogError } from '../../../domain/log/errors.ts'
import { fileOf } from './connection.ts'

/** The device and the inode of a file. */
export interface FilePlace {
  readonly dev: bigint
  readonly ino: bigint
}

interface Content extends FilePlace {
  readonly size: bigint
  readonly mtimeNs: bigint
}

/**
 * Detects that the log's file was moved, replaced or overwritten while it is open, for example by a restored backup.
 * SQLite detects neither: it would write on into the moved file, or mix its pages with the restored ones. Only the
 * writer's checkpoints change the main file, so any other change is foreign.
 */
export class OwnFile {
  readonly #folder: string
  #known: Content
  /** The WAL after the last own write to it. Null: there is none. */
  #wal: Content | null = null
  #replaced: LogError | null = null

  /** `opened`: the place of the file when the log was opened. Null: it is opened now. Throws `LOG_REPLACED`. */
  constructor(folder: string, opened: FilePlace | null) {
    this.#folder = folder
    const known = this.#look()
    if (known === null || (opened !== null && !isSamePlace(known, opened))) throw replacedIn(folder)
    this.#known = known
  }

  get place(): FilePlace {
    const { dev, ino } = this.#known
    return { dev, ino }
  }

  /** The error of all further work with the log. Null: the file is the opened one, with the content that it had. */
  get replaced(): LogError | null {
    if (this.#replaced !== null) return this.#replaced
    const now = this.#look()
    if (now === null || !isSameContent(now, this.#known)) this.#replaced = replacedIn(this.#folder)
    return this.#replaced
  }

  /** Call after each own write to the WAL. */
  wrote(): void {
    this.#wal = contentOf(walOf(this.#folder))
  }

  /** Runs work that may change the file, such as a checkpoint. */
  changing<T>(work: () => T): T {
    try {
      return work()
    } finally {
      this.wrote()
      const now = this.#look()
      // A change elsewhere is foreign.
      if (now !== null && isSamePlace(now, this.#known)) this.#known = now
    }
  }

  /**
   * Renames the WAL of the replaced file: SQLite would recover its pages into the file that is there now. Leaves a WAL
   * that was restored with that file. Call after the writer's connection is closed.
   */
  setWalAside(): void {
    const wal = walOf(this.#folder)
    const now = contentOf(wal)
    if (now === null || this.#wal === null || !isSameContent(now, this.#wal)) return
    try {
      renameSync(wal, `${wal}.of-replaced`)
      // The index of this WAL. SQLite makes a new one.
      rmSync(`${fileOf(this.#folder)}-shm`, { force: true })
    } catch {
      // The error of the replaced file says which files to remove.
    }
  }

  #look(): Content | null {
    return contentOf(fileOf(this.#folder))
  }
}

const walOf = (folder: string): string => `${fileOf(folder)}-wal`

const contentOf = (path: string): Content | null => statSync(path, { bigint: true, throwIfNoEntry: false }) ?? null

const isSamePlace = (one: FilePlace, other: FilePlace): boolean => one.dev === other.dev && one.ino === other.ino

const isSameContent = (one: Content, other: Content): boolean =>
  isSamePlace(one, other) && one.size === other.size && one.mtimeNs === other.mtimeNs

const replacedIn = (folder: string): LogError =>
  new LogError(
    'LOG_REPLACED',
    `${fileOf(folder)} was moved, replaced or overwritten while this process had it open, so nothing more is recorded; ` +
      'end this process, remove log.db-wal and log.db-shm unless they were restored with log.db, and start this process ' +
      'again: it compares the log that is there now with its mark and its tables',
  )
