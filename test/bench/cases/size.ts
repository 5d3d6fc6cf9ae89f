import { readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileOf } from '../../../adapters/sqlite/log/connection.ts'
import { paths } from '../../../api/process/host/paths.ts'
import { liveFile } from '../../../projections/engine/store/pointer.ts'
import type { Bench, Case } from '../bench.ts'
import { type Figure, megabytes, most } from '../figure.ts'

// Bytes on the disk against the information: the bytes of bodies.

const PARTS = 14

const of = (name: string, bytes: number, information: number, goal: Figure['goal'] = null): Figure => ({
  name,
  ours: megabytes(bytes),
  floor: megabytes(information),
  value: bytes / information,
  goal,
})

export const size: Case = {
  name: 'size',
  async run(bench: Bench) {
    const { data } = await bench.long()
    const log = fileOf(paths(data).log)
    const information = sum(log, 'SELECT sum(size) FROM events')
    const files = filesIn(data)
    const total = files.reduce((all, file) => all + file.bytes, 0)
    const parts = [
      ...files.map(({ name, bytes }) => ({ name: `of which file ${name}`, bytes })),
      ...tablesIn(log, 'log'),
      ...columnsOf(log, 'log', 'events'),
      ...tablesIn(liveFile(paths(data).tables)!, 'tables'),
    ]
      .filter(({ bytes }) => bytes > information / 200)
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, PARTS)
    return [
      of('log ÷ information', statSync(log).size, information, most(1.5, ' ×')),
      of('all files ÷ information', total, information, most(1.8, ' ×')),
      ...parts.map(({ name, bytes }) => of(name, bytes, information)),
    ]
  },
}

interface Part {
  readonly name: string
  readonly bytes: number
}

function filesIn(folder: string): Part[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ name: relative(folder, file), bytes: statSync(file).size }))
}

/** Whole pages of tables and their indexes. */
function tablesIn(file: string, what: string): Part[] {
  return rows(file, 'SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name').map(({ name, bytes }) => ({
    name: `of which ${what}: table ${name}`,
    bytes,
  }))
}

/** Texts and blobs of a table by column; integers are small. */
function columnsOf(file: string, what: string, table: string): Part[] {
  const names = rows(file, `SELECT name, 0 AS bytes FROM pragma_table_info('${table}')`).map(({ name }) => name)
  return names.map((name) => ({
    name: `of which ${what}: column ${table}.${name}`,
    bytes: sum(file, `SELECT sum(octet_length("${name}")) FROM "${table}" WHERE typeof("${name}") IN ('text', 'blob')`),
  }))
}

function rows(file: string, query: string): Part[] {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const found = db.prepare(query).all()
    return found.map((row) => ({ name: String(row.name), bytes: Number(row.bytes) }))
  } finally {
    db.close()
  }
}

const sum = (file: string, query: string): number =>
  rows(file, `SELECT '' AS name, coalesce((${query}), 0) AS bytes`)[0]!.bytes
