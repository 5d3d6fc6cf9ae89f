import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { backup } from 'node:sqlite'
import type { Cursor } from '../../../domain/log/cursor.ts'
import { LogError, shortened } from '../../../domain/log/errors.ts'
import { syncFolder } from '../../files/folders.ts'
import { ensurePrivate } from '../../files/private.ts'
import { endOfLog } from './end.ts'
import { toLogError } from './errors.ts'
import { ensureFolder, fileOf, openToRead } from './file.ts'
import { MarkWriter } from './mark.ts'
import { Reader } from './reader.ts'

// All pages in one step: a later step would begin anew whenever the writer has committed in between.
const ALL_PAGES = 0x7fffffff

/**
 * Copies the log of one folder into another. The copy takes its name only when it is whole and durable, so that half a
 * copy is never taken for a log; its mark is that of its own end. Returns the cursor of its last event.
 */
export async function backupLog(folder: string, toFolder: string, logId: string): Promise<Cursor> {
  ensureFolder(toFolder)
  if (existsSync(fileOf(toFolder)))
    throw new LogError('LOG_LOCKED', `there is a log in ${toFolder} already; name a new or empty folder for the backup`)
  const partial = join(toFolder, 'log.db.partial')
  const source = openToRead(folder)
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
  const copy = openToRead(toFolder)
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
