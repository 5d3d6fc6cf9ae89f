import { statSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { syncFile } from '../../files/folders.ts'
import { fileOf } from './connection.ts'
import type { OwnFile } from './own-file.ts'

const MIB = 1024 * 1024

/** The WAL size from which a checkpoint runs when no append waits, in bytes. */
const SOFT = 4 * MIB
/**
 * The WAL size from which a checkpoint runs even if appends wait, in bytes. The WAL then restarts if readers allow it.
 */
const HARD = 64 * MIB

/**
 * Decides when the WAL moves into the main file: never during an append, and before the WAL grows too large. SQLite
 * reports the size of the WAL only at a checkpoint, and the file never shrinks, so the growth is estimated from the
 * appended bytes.
 */
export class Checkpoints {
  readonly #passive: StatementSync
  readonly #restart: StatementSync
  readonly #truncate: StatementSync
  readonly #wal: string
  readonly #file: OwnFile
  #since: number
  /** True while the WAL may still contain an erased body. */
  #overwrite = false

  constructor(db: DatabaseSync, folder: string, file: OwnFile) {
    this.#file = file
    this.#passive = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')
    this.#restart = db.prepare('PRAGMA wal_checkpoint(RESTART)')
    this.#truncate = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
    this.#wal = `${fileOf(folder)}-wal`
    this.#since = statSync(this.#wal, { throwIfNoEntry: false })?.size ?? 0
    // A process that was killed during an erasure left the erased bytes in the WAL.
    if (this.#since > 0) this.#empty()
  }

  /**
   * Call after each commit. `bytes`: the size of the bodies. `erased`: erased bytes must also leave the WAL. `idle`: no
   * append waits.
   */
  committed(bytes: number, events: number, erased: boolean, idle: boolean): void {
    // Each commit writes whole pages: the pages of its rows, and a few inner ones.
    this.#since += bytes + events * 256 + 16 * 1024
    // Another process that reads can block the overwriting of erased bytes. It is tried at once and then repeated from
    // time to time.
    const overwrite = erased || (this.#overwrite && idle && this.#since >= MIB)
    this.#overwrite ||= erased
    if (overwrite) return this.#empty()
    try {
      if (this.#since >= HARD) this.#done(this.#restart)
      else if (this.#since >= SOFT && idle) this.#done(this.#passive)
    } catch {
      // The events are already durable in the WAL. If the disk is full or failing, the next append fails and its caller
      // gets the error.
    }
  }

  /** Call before the log is closed. */
  finish(): void {
    this.#empty()
  }

  /**
   * Moves the WAL into the main file, and truncates it durably: SQLite does not sync the truncation, and a power cut
   * would bring the erased bytes back.
   */
  #empty(): void {
    this.#overwrite = true
    try {
      if (!this.#done(this.#truncate)) return
      syncFile(this.#wal)
      this.#overwrite = false
    } catch {
      // The events are durable in the WAL, where the next start finds them.
    }
  }

  #done(checkpoint: StatementSync): boolean {
    // A checkpoint would write pages of this log over a restored one.
    if (this.#file.replaced !== null) return false
    const row = this.#file.changing(() => checkpoint.get())
    // If a reader blocked the checkpoint, the next attempt follows after the same growth, not at each commit.
    this.#since = 0
    return row?.busy === 0
  }
}
