import { join } from 'node:path'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { Projector } from '../../../projections/engine/projector/projector.ts'
import { openSqliteStore } from '../../../projections/engine/store/sqlite.ts'
import type { Store } from '../../../projections/engine/store/store.ts'
import { type Dump, dumpFile } from '../projections/kit.ts'

/** Folds a log from its start into a store. */
export async function projectedInto(log: EventLog, blobs: BlobStore, store: Store): Promise<void> {
  try {
    await new Projector({ log, blobs, store }).catchUp()
  } finally {
    await store.close()
  }
}

/** The rows of a log in SQLite, in a new file of the folder. */
export async function rowsOf(log: EventLog, blobs: BlobStore, folder: string): Promise<Dump> {
  const file = join(folder, 'golden.db')
  await projectedInto(log, blobs, await openSqliteStore(file))
  return alike(dumpFile(file), log)
}

/**
 * Rows without the log's own values: progress and positions, except the order of positions. Rows of the same history on
 * different logs are then equal.
 */
export async function alike(dump: Dump, log: EventLog): Promise<Dump> {
  const places = new Map<number, number>()
  for await (const page of log.readAll(null, { bodies: false }))
    for (const { header, position } of page) if (header.stream !== 'log-meta') places.set(position, places.size + 1)
  const { position: _, event_rows: __, ...tables } = dump
  const filled = Object.entries(tables).filter(([, rows]) => rows.length > 0)
  const place = ([name, value]: [string, unknown]) =>
    (name.endsWith('position') || name === 'started') && value !== null
      ? [name, places.get(Number(value))]
      : [name, value]
  return Object.fromEntries(
    filled.map(([table, rows]) => [
      table,
      rows.filter((row) => row.stream !== 'log-meta').map((row) => Object.fromEntries(Object.entries(row).map(place))),
    ]),
  ) as Dump
}
