import { existsSync } from 'node:fs'
import { fileOf, openLogToRead } from '../../../adapters/sqlite/log/connection.ts'
import { SCHEMA } from '../../../adapters/sqlite/log/schema.ts'
import { AGGREGATES, isKind } from '../../../domain/kinds.ts'
import { FORMAT, READER } from '../../../domain/log/envelope.ts'
import { LOG_META } from '../../../domain/log/ids.ts'
import { kindOf } from '../../../domain/log/owner.ts'
import { tablesFault } from '../../../projections/engine/store/damage.ts'
import { bad, type Finding, message, ok } from '../../operations/doctor/finding.ts'
import { paths } from '../host/paths.ts'

const NEWER = 'use the keepup that wrote it, or a newer one'

/** A kind of event in a stored log. */
interface StoredKind {
  readonly type: string
  readonly version: number
  readonly format: number
  readonly minReader: number | null
}

/** What of a log this program cannot read: kinds of events with a newer format, reader or version. */
export function unreadableKinds(stored: readonly StoredKind[]): string[] {
  const known = new Map<string, number>()
  for (const { versions } of AGGREGATES.values())
    for (const [type, version] of Object.entries(versions)) known.set(type, Math.max(version, known.get(type) ?? 0))
  return stored.flatMap(({ type, version, format, minReader }) => {
    if (format > FORMAT) return [`${type} has format ${format}, this program reads ${FORMAT}`]
    if ((minReader ?? 1) > READER) return [`${type} needs reader ${minReader}, this program is reader ${READER}`]
    const newest = known.get(type)
    return newest !== undefined && version > newest
      ? [`${type} has version ${version}, this program reads ${newest}`]
      : []
  })
}

/**
 * Whether this program can take over a data folder: the schema of the log, the formats and versions of its events, the
 * kinds of its streams, and the tables. Reads only, and needs no lock.
 */
export function checkFormats(data: string): Finding[] {
  const at = paths(data)
  if (!existsSync(fileOf(at.log))) return [ok('log', `none in ${data} yet; the first start makes it`)]
  try {
    const db = openLogToRead(at.log)
    try {
      const kinds = db
        .prepare('SELECT DISTINCT type, version, format, min_reader AS minReader FROM kinds ORDER BY type, version')
        .all() as unknown as StoredKind[]
      const streams = db.prepare('SELECT name FROM streams').all() as unknown as { name: string }[]
      const strange = [...new Set(streams.map(({ name }) => kindOf(name)))].filter(
        (kind) => !isKind(kind) && kind !== kindOf(LOG_META),
      )
      const unreadable = [...unreadableKinds(kinds), ...strange.map((kind) => `streams "${kind}" are not known here`)]
      const findings = unreadable.map((found) => bad('broken', 'events', found, NEWER))
      return [
        ok('log', `schema ${SCHEMA}, as this program writes it`),
        ...(findings.length > 0 ? findings : [ok('events', `format ${FORMAT}, ${kinds.length} kinds, all readable`)]),
        ...checkTables(at.tables),
      ]
    } finally {
      db.close()
    }
  } catch (error) {
    const [found = '', ...todo] = message(error).split('; ')
    return [bad('broken', 'log', found, todo.join('; ') || 'look at it with "doctor"')]
  }
}

function checkTables(folder: string): Finding[] {
  const fault = tablesFault(folder)
  if (fault === null) return [ok('tables', 'readable; tables of another version are made again from the log')]
  return [bad('warning', 'tables', `${fault.file}: ${fault.why}`, 'nothing is lost: they are made again from the log')]
}
