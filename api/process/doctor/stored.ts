import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openLogToRead } from '../../../adapters/sqlite/log/connection.ts'
import { endOfLog, foreignMark } from '../../../adapters/sqlite/log/log-end.ts'
import { markOf, readMark } from '../../../adapters/sqlite/log/mark.ts'
import { tablesFault } from '../../../projections/engine/store/damage.ts'
import { bad, type Finding, message, ok } from '../../operations/doctor/finding.ts'
import { paths } from '../host/paths.ts'

// Checks the files of a data folder. Reports damage before any file is opened in a mode that would repair it.

/** Checks the mark file next to the log. Empty if there is no log yet. */
function checkMark(data: string): Finding[] {
  const { log } = paths(data)
  if (!existsSync(join(log, 'log.db'))) return []
  const found = readMark(log)
  const path = markOf(log)
  const only = 'only the tables tell now whether the log has lost its end: run "verify"; '
  const todo = `${only}the next start begins a new mark`
  if (found.state === 'missing') return [bad('warning', 'log mark', `${path} is missing`, todo)]
  if (found.state === 'unreadable') {
    const then = found.foreign ? `${only}no start begins a new mark while this is in its place: move it away` : todo
    return [bad('warning', 'log mark', `${path} cannot be read: ${found.why}`, then)]
  }
  const foreign = foreignMarkIn(log)
  if (foreign !== null) return [bad('broken', 'log mark', foreign, 'until then no start records anything')]
  if (found.torn)
    return [bad('warning', 'log mark', `one of the two records of ${path} cannot be read`, 'run "verify"')]
  return [ok('log mark', `position ${found.position}`)]
}

/**
 * The report about another log's mark. Null: the mark belongs to this log. The check of the log reports why it does not
 * open.
 */
function foreignMarkIn(log: string): string | null {
  let db: DatabaseSync | undefined
  try {
    db = openLogToRead(log)
    const end = endOfLog(log, db)
    return end.state === 'foreign' ? foreignMark(log, end) : null
  } catch {
    return null
  } finally {
    db?.close()
  }
}

/** Checks files that keepup can rebuild. Damage to them loses no data. */
function checkDatabases(data: string): Finding[] {
  const at = paths(data)
  const anew = (check: string, path: string, why: string) =>
    bad('warning', check, `${path}: ${why}`, 'nothing is lost: it is made anew at the next start')
  const tables = tablesFault(at.tables)
  const snapshots = sqliteFault(at.snapshots)
  return [
    ...(tables === null ? [] : [anew('tables file', tables.file, tables.why)]),
    ...(snapshots === null ? [] : [anew('snapshots', at.snapshots, snapshots)]),
  ]
}

/** The fault that SQLite reports for a file. Null: no fault, or no file. */
function sqliteFault(path: string): string | null {
  if (!existsSync(path)) return null
  if (statSync(path).size === 0) return 'it is empty'
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(path, { readOnly: true })
    const [row] = db.prepare('PRAGMA quick_check(1)').all()
    return row?.quick_check === 'ok' ? null : String(row?.quick_check)
  } catch (error) {
    return message(error)
  } finally {
    db?.close()
  }
}

/** Checks the shadow repository with the workspace versions. */
function checkVersions(data: string): Finding[] {
  const { versions } = paths(data)
  if (!existsSync(versions)) return []
  const missing = ['HEAD', 'objects', 'refs'].filter((name) => !existsSync(join(versions, name)))
  if (missing.length === 0) return []
  const todo = 'restore the folder from a backup; files of earlier steps cannot be shown or put back without it'
  return [bad('broken', 'versions', `${versions} lacks ${missing.join(', ')}`, todo)]
}

/** Checks all files that need no open log. Reads the whole snapshots, so call it before they are opened. */
export const checkStored = (data: string): Finding[] => [
  ...checkMark(data),
  ...checkDatabases(data),
  ...checkVersions(data),
]

/** Checks the files of a data folder that this process has opened. Reads little of each. */
export const checkOpened = (data: string): Finding[] => [...checkMark(data), ...checkVersions(data)]
