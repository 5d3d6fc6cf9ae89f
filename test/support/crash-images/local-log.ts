import type { DatabaseSync } from 'node:sqlite'
import { Checkpoints } from '../../../adapters/sqlite/log/checkpoints.ts'
import { ensureFile, ensureFolder, openLogToRead, openToWrite } from '../../../adapters/sqlite/log/connection.ts'
import { lockFolder } from '../../../adapters/sqlite/log/lock.ts'
import type { LogEnd } from '../../../adapters/sqlite/log/log-end.ts'
import { Marked } from '../../../adapters/sqlite/log/marked-writer.ts'
import { OwnFile } from '../../../adapters/sqlite/log/own-file.ts'
import { fromFailure } from '../../../adapters/sqlite/log/protocol.ts'
import { Reader } from '../../../adapters/sqlite/log/reader.ts'
import { LogWriter } from '../../../adapters/sqlite/log/writer.ts'
import type { SealedEvent } from '../../../domain/log/envelope.ts'
import { sealIdentity } from '../../../domain/log/identity.ts'
import { LOG_META } from '../../../domain/log/ids.ts'
import { bytesOf } from '../log/sealing.ts'

/** A log that this thread writes with the modules of the writer's thread. Starting a thread takes longer than the rest. */
export class LocalLog {
  readonly #db: DatabaseSync
  readonly #writer: LogWriter
  readonly #marked: Marked
  readonly #unlock: () => void
  readonly checkpoints: Checkpoints
  #jobs = 0

  private constructor(folder: string, db: DatabaseSync, unlock: () => void, warn: (text: string) => void) {
    this.#db = db
    this.#unlock = unlock
    this.#writer = new LogWriter(db, folder)
    this.checkpoints = new Checkpoints(db, folder, new OwnFile(folder, null))
    this.#marked = new Marked(folder, db, this.#writer, warn)
  }

  /** Opens or creates the log of a folder as its owner does. `warn` receives the warning that the mark cannot be written. */
  static open(folder: string, warn: (text: string) => void): LocalLog {
    ensureFolder(folder)
    const unlock = lockFolder(folder)
    let db: DatabaseSync | undefined
    try {
      ensureFile(folder)
      db = openToWrite(folder)
      const log = new LocalLog(folder, db, unlock, warn)
      const read = openLogToRead(folder)
      const isNew = new Reader(read).streamId(LOG_META) === null
      read.close()
      if (isNew) log.append(LOG_META, -1, [sealIdentity(bytesOf(folder, 26), new Date(0).toISOString())])
      return log
    } catch (error) {
      db?.close()
      unlock()
      throw error
    }
  }

  /** The time of the last event, in ms. */
  get time(): number {
    return this.#writer.time
  }

  get end(): LogEnd {
    return this.#marked.end
  }

  /** Returns the position of the last event of the batch. Throws a LogError. */
  append(stream: string, expected: number, batch: readonly SealedEvent[]): number {
    const [outcome] = this.#marked.commit([{ id: this.#jobs++, stream, expected, batch }])
    if ('failure' in outcome!) throw fromFailure(outcome.failure)
    return outcome!.position
  }

  close(): void {
    this.checkpoints.finish()
    this.#marked.close()
    this.#db.close()
    this.#unlock()
  }
}
