import { statSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { fileOf } from './file.ts'

const MIB = 1024 * 1024

/** From this many bytes of WAL on, what is in it moves to the main file when nobody waits. */
const SOFT = 4 * MIB
/** From this many on it moves though appends wait, and the WAL starts anew as soon as readers let it. */
const HARD = 64 * MIB

/**
 * When the WAL is moved into the main file: never inside somebody's append, but before it grows without end. The WAL's
 * size is not told by SQLite outside a checkpoint, and its file only grows, so growth is counted from what is appended.
 */
export class Checkpoints {
  readonly #passive: StatementSync
  readonly #restart: StatementSync
  readonly #truncate: StatementSync
  #since: number
  /** An erased body is still in the WAL. */
  #overwrite = false

  constructor(db: DatabaseSync, folder: string) {
    this.#passive = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')
    this.#restart = db.prepare('PRAGMA wal_checkpoint(RESTART)')
    this.#truncate = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
    this.#since = walBytes(folder)
  }

  /** After a commit of so many bytes of bodies. `erased`: what they held must leave the WAL too. `idle`: nobody waits. */
  committed(bytes: number, events: number, erased: boolean, idle: boolean): void {
    // Each commit writes whole pages: those of its rows, and a few inner ones.
    this.#since += bytes + events * 256 + 16 * 1024
    // A foreign reader can hold a checkpoint back: what is to be overwritten is tried at once, then now and then.
    const overwrite = erased || (this.#overwrite && idle && this.#since >= MIB)
    this.#overwrite ||= erased
    try {
      if (overwrite) this.#overwrite = !this.#done(this.#truncate)
      else if (this.#since >= HARD) this.#done(this.#restart)
      else if (this.#since >= SOFT && idle) this.#done(this.#passive)
    } catch {
      // The events are durable in the WAL. A full or failing disk shows at the next append, which is told to its caller.
    }
  }

  /** Before the log is closed. */
  finish(): void {
    try {
      this.#done(this.#truncate)
    } catch {
      // As above: the next start finds the events in the WAL.
    }
  }

  #done(checkpoint: StatementSync): boolean {
    const row = checkpoint.get()
    // Where a reader held it back, the next try comes after as much again, not at each commit.
    this.#since = 0
    return row?.busy === 0
  }
}

function walBytes(folder: string): number {
  return statSync(`${fileOf(folder)}-wal`, { throwIfNoEntry: false })?.size ?? 0
}
