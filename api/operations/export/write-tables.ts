import { join } from 'node:path'
import type { Column, Row } from '../../../adapters/files/rows/column.ts'
import { EXPORT_SCHEMA } from './event-row.ts'
import { ExportError } from './export-error.ts'
import { encoderOf, RowFile } from './export-files.ts'
import { type ExportFolder, endingOf, mustBeSchema } from './manifest.ts'
import type { TableHead, TablesHead } from './table-lines.ts'

/** What an export of tables has written. */
export interface ExportedTables {
  /** The cursor of the last event that the tables show. Null: no event. */
  readonly position: string | null
  /** The number of rows by table. */
  readonly tables: Readonly<Record<string, number>>
}

/** Writes a file per table, in place of that of an earlier export. */
export async function writeTables(folder: ExportFolder, lines: AsyncIterable<string>): Promise<ExportedTables> {
  const tables: Record<string, number> = {}
  let head: TablesHead | null = null
  let open: { readonly table: string; readonly file: RowFile } | null = null
  const end = async () => {
    if (open === null || head === null) return
    const { table, file } = open
    const { position } = head
    const name = `${table}.${endingOf(folder.format)}`
    const sha256 = await file.publish(name)
    open = null
    const { rows } = file
    await folder.record({ file: `tables/${name}`, table, rows, sha256, schema: EXPORT_SCHEMA, position })
    tables[table] = rows
  }
  try {
    for await (const text of lines) {
      const line = JSON.parse(text) as TablesHead | TableHead | Row
      if ('table' in line) {
        await end()
        const columns: Column[] = Object.entries(line.columns).map(([name, type]) => ({ name, type }))
        const path = join(folder.path, 'tables', line.table)
        open = { table: line.table, file: await RowFile.open(path, encoderOf(folder.format, columns)) }
      } else if ('export' in line) {
        mustBeSchema(line.schema)
        await folder.mustBeOf(line.logId)
        head = line
      } else await open!.file.add(line)
    }
    await end()
  } catch (error) {
    await open?.file.discard()
    throw error
  }
  if (head === null) throw new ExportError('EXPORT_BROKEN', 'the tables answered nothing; run the export again')
  return { position: head.position, tables }
}
