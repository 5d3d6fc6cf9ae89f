import { resolve } from 'node:path'
import type { Right } from '../../domain/access/rights.ts'
import { ExportError } from '../operations/export/export-error.ts'
import { runExport } from '../operations/export/export-thread.ts'
import { localSource } from '../operations/export/local-source.ts'
import type { ExportFormat } from '../operations/export/manifest.ts'
import type { ExportedEvents } from '../operations/export/write-events.ts'
import type { ExportedTables } from '../operations/export/write-tables.ts'
import type { Services } from '../operations/services.ts'

/** `to`: a new folder, or that of an earlier export in the same format (default: `parquet`). */
export interface ExportTables {
  readonly to: string
  readonly format?: Exclude<ExportFormat, 'cloudevents'>
  readonly signal?: AbortSignal
}

/** `since`: the cursor after which a new export begins. */
export interface ExportEvents extends Omit<ExportTables, 'format'> {
  readonly format?: ExportFormat
  readonly since?: string
}

type MustMay = (right: Right | readonly Right[], operation: string) => Promise<void>

export const exportsOf = (s: Services, mustMay: MustMay) => ({
  async exportEvents({ to, format = 'parquet', since, signal }: ExportEvents): Promise<ExportedEvents> {
    await mustMay(['log.read', 'bodies.read'], 'exportEvents')
    const work = { folder: resolve(to), format, events: { since: since ?? null }, tables: false }
    return done((await runExport(work, localSource(s), signal)).events)
  },
  async exportTables({ to, format = 'parquet', signal }: ExportTables): Promise<ExportedTables> {
    await mustMay('tables.ask', 'exportTables')
    const work = { folder: resolve(to), format, events: null, tables: true }
    return done((await runExport(work, localSource(s), signal)).tables)
  },
})

function done<T>(exported: T | null): T {
  if (exported === null) throw new ExportError('EXPORT_BROKEN', 'the export gave no answer; run it again')
  return exported
}
