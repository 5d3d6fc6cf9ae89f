import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import type { Row, RowEncoder } from '../../../adapters/files/rows/column.ts'
import { ndjsonEncoder } from '../../../adapters/files/rows/ndjson.ts'
import { parquetEncoder } from '../../../adapters/parquet/encoder.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { type EventLine, eventLines } from '../../../api/operations/export/event-lines.ts'
import { EVENT_COLUMNS } from '../../../api/operations/export/event-row.ts'
import { RowFile } from '../../../api/operations/export/export-files.ts'
import { runExport } from '../../../api/operations/export/export-thread.ts'
import { paths } from '../../../api/process/host/paths.ts'
import type { Bench, Case } from '../bench.ts'
import { least, rate } from '../figure.ts'
import { paired } from '../measure.ts'

const GROUP = 20_000

// Rows into a Parquet file, against raw NDJSON; and a whole export, against reading its lines.

export const exportsCase: Case = {
  name: 'exports',
  async run(bench: Bench) {
    const { data } = await bench.long()
    const log = await openSqliteLog({ folder: paths(data).log, mode: 'reader' })
    const blobs = new FileBlobs(paths(data).blobs)
    const folder = join(bench.folder, 'exported')
    mkdirSync(folder, { recursive: true })
    const rows: Row[] = []
    for await (const piece of eventLines({ log, blobs }, null))
      for (const text of piece.trimEnd().split('\n')) {
        const line = JSON.parse(text) as EventLine
        if ('event_id' in line) rows.push(EVENT_COLUMNS.map(({ name }) => line[name]))
      }
    // Small logs repeat, so that a group is full.
    const all = Array.from({ length: Math.ceil((2 * GROUP) / rows.length) }, () => rows).flat()
    const written = async (encoder: RowEncoder) => {
      const file = await RowFile.open(join(folder, 'rows'), encoder)
      for (const row of all) await file.add(row)
      await file.publish('rows.done')
    }
    const encoded = await paired(
      bench.rounds,
      () => written(parquetEncoder(EVENT_COLUMNS, {})),
      () => written(ndjsonEncoder(EVENT_COLUMNS)),
    )
    const lines = () => eventLines({ log, blobs }, null)
    const whole = await paired(
      bench.quick ? 2 : 3,
      async () => {
        rmSync(folder, { recursive: true, force: true })
        const work = { folder, format: 'parquet', events: { since: null }, tables: false } as const
        await runExport(work, lines)
      },
      async () => {
        for await (const piece of lines()) piece.length
      },
    )
    await log.close()
    const perSecond = (count: number, cpuMs: number) => count / (cpuMs / 1000)
    const [file, total] = [encoded.of('cpuMs'), whole.of('cpuMs')]
    return [
      {
        name: 'rows of events into Parquet',
        ours: rate(perSecond(all.length, file.ours), 'rows'),
        floor: rate(perSecond(all.length, file.floor), 'rows'),
        value: perSecond(all.length, file.ours),
        goal: least(100_000, ' rows/s'),
        note: 'per CPU second; floor: the same rows as NDJSON',
      },
      {
        name: 'an export of all events as Parquet',
        ours: rate(perSecond(rows.length, total.ours), 'ev'),
        floor: rate(perSecond(rows.length, total.floor), 'ev'),
        value: perSecond(rows.length, total.ours),
        goal: null,
        note: 'per CPU second of all threads; floor: reading the lines',
      },
    ]
  },
}
