import { statSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { fileOf } from './file.ts'

const MIB = 1024 * 1024

/** From this size of the WAL on, a checkpoint runs when no append waits. In bytes. */
const SOFT = 4 * MIB
/** From this size on a checkpoint runs though appends wait, and the WAL restarts when readers allow it. In bytes. */
const HARD = 64 * MIB

/**
 * Decides when the WAL moves into the main file: never within an append, and before the WAL grows too large. SQLite reports
 * the size of the WAL only at a checkpoint, and the file never shrinks, so the growth is counted from the appended bytes.
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

  /** Call after each commit. `bytes`: of bodies. `erased`: the erased bytes must leave the WAL too. `idle`: no append waits. */
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
