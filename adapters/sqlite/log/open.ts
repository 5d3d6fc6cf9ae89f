import { randomBytes } from 'node:crypto'
import { sealIdentity } from '../../../domain/log/identity.ts'
import { LOG_META } from '../../../domain/log/ids.ts'
import type { Clock, Random } from '../../../domain/ports/index.ts'
import { ensureFile, ensureFolder, openLogToRead, refuseLostLog, refuseTraces } from './connection.ts'
import { lockFolder } from './lock.ts'
import { SqliteLog } from './log.ts'
import { markOf, readMark } from './mark.ts'
import { Reader } from './reader.ts'
import { type Spawn, spawnWriter, WriterThread } from './writer-thread.ts'

export interface SqliteLogOptions {
  /** The log's folder, created if missing. */
  readonly folder: string
  /** `owner` writes and reads; only one at a time. `reader` only reads; any number, with or without an owner. */
  readonly mode: 'owner' | 'reader'
  /** Paths that exist only with a log. If one of them exists, a missing or empty log is not created again. */
  readonly traces?: readonly string[]
  /** The id of the log according to witnesses other than its mark. Null: they have none. */
  readonly seenLogId?: () => Promise<string | null>
  readonly clock?: Pick<Clock, 'now'>
  readonly random?: Random
  /** Receives the warning that the mark cannot be written. */
  readonly warn?: (text: string) => void
  /** Starts the writer's thread. */
  readonly spawn?: Spawn
}

/**
 * Opens the log in a folder. Rejects with a LogError that names the remedy: `LOG_LOCKED` (another owner),
 * `LOG_FOREIGN`, `LOG_MISSING`, `LOG_NEWER`, `LOG_CORRUPT`, `LOG_FULL`, `LOG_UNAVAILABLE` (no rights).
 */
export async function openSqliteLog(options: SqliteLogOptions): Promise<SqliteLog> {
  const { folder, traces = [] } = options
  refuseLostLog(folder, traces)
  if (options.mode === 'reader') {
    const lostId = hasIdentity(folder) ? null : await lostIdOf(options)
    return new SqliteLog({ folder, db: openLogToRead(folder), lostId })
  }
  ensureFolder(folder)
  const unlock = lockFolder(folder)
  let log: SqliteLog | undefined
  try {
    ensureFile(folder, traces)
    const writer = new WriterThread(folder, options.spawn ?? spawnWriter, {
      written: (append) => log?.written(append),
      unknown: () => log?.unknown(),
      look: () => log?.wake(),
      replaced: (error) => log?.replaced(error),
      warn: (text) => options.warn?.(text),
    })
    try {
      const { time, end } = await writer.start()
      const identity = (logId?: string) => {
        const now = new Date(options.clock?.now() ?? Date.now()).toISOString()
        return sealIdentity(options.random?.bytes(26) ?? randomBytes(26), now, logId)
      }
      const lostId = hasIdentity(folder) ? null : await lostIdOf(options)
      if (lostId === null && !hasIdentity(folder)) await writer.append(LOG_META, -1, [identity()])
      log = new SqliteLog({ folder, db: openLogToRead(folder), lostId, owner: { writer, unlock, time, end, identity } })
      return log
    } catch (error) {
      await writer.close()
      throw error
    }
  } catch (error) {
    unlock()
    throw error
  }
}

/**
 * The id of a log that has lost its first event, according to its mark or other witnesses. Null: the log is new. Throws
 * `LOG_MISSING` if traces of a log exist, but none has its id.
 */
async function lostIdOf({ folder, traces = [], seenLogId }: SqliteLogOptions): Promise<string | null> {
  const mark = readMark(folder)
  const logId = mark.state === 'read' ? mark.logId : ((await seenLogId?.()) ?? null)
  if (logId === null) refuseTraces(folder, [...traces, markOf(folder)])
  return logId
}

// A crash right after the creation of the file leaves a log without its first event.
function hasIdentity(folder: string): boolean {
  const db = openLogToRead(folder)
  try {
    return new Reader(db).streamId(LOG_META) !== null
  } finally {
    db.close()
  }
}
