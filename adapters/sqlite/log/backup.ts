import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { backup } from 'node:sqlite'
import type { Cursor } from '../../../domain/log/cursor.ts'
import { LogError, shortened } from '../../../domain/log/errors.ts'
import { syncFolder } from '../../files/folders.ts'
import { ensurePrivate } from '../../files/private.ts'
import { ensureFolder, fileOf, openLogToRead } from './connection.ts'
import { toLogError } from './errors.ts'
import { endOfLog } from './log-end.ts'
import { MarkWriter } from './mark.ts'
import { Reader } from './reader.ts'

// Copies all pages in one step. Between several steps a commit of the writer would restart the copy.
const ALL_PAGES = 0x7fffffff

/**
 * Copies the log of one folder into another. The copy gets its name only when it is complete and durable, so a partial
 * copy is never mistaken for a log. The copy's mark is that of the copy's last event. Returns the cursor of that event.
 */
export async function backupLog(folder: string, toFolder: string, logId: string): Promise<Cursor> {
  ensureFolder(toFolder)
  if (existsSync(fileOf(toFolder)))
    throw new LogError('LOG_LOCKED', `there is a log in ${toFolder} already; name a new or empty folder for the backup`)
  const partial = join(toFolder, 'log.db.partial')
  const source = openLogToRead(folder)
  try {
    if (endOfLog(folder, source).state === 'short') throw shortened(`the log in ${folder} ends before its mark`)
    rmSync(partial, { force: true })
    ensurePrivate(partial)
    await backup(source, partial, { rate: ALL_PAGES })
    renameSync(partial, fileOf(toFolder))
    syncFolder(toFolder)
  } catch (error) {
    rmSync(partial, { force: true })
    throw toLogError(error, 'copy', folder)
  } finally {
    source.close()
  }
  const copy = openLogToRead(toFolder)
  try {
    const last = new Reader(copy).last()
    const mark = MarkWriter.open(toFolder, logId)
    mark.update(last.position, last.hash)
    mark.close()
    return { logId, ...last }
  } finally {
    copy.close()
  }
}
