import { join } from 'node:path'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { Projector } from '../../../projections/engine/projector/projector.ts'
import { openSqliteStore } from '../../../projections/engine/store/sqlite.ts'
import type { Store } from '../../../projections/engine/store/store.ts'
import { type Dump, dumpFile } from '../projections/kit.ts'

/** Rows that one fold of a log from zero makes, in a store of one's own. */
export async function projectedInto(log: EventLog, blobs: BlobStore, store: Store): Promise<void> {
  try {
    await new Projector({ log, blobs, store }).catchUp()
  } finally {
    await store.close()
  }
}

/** The same in SQLite, in a new file of the folder. */
export async function rowsOf(log: EventLog, blobs: BlobStore, folder: string): Promise<Dump> {
  const file = join(folder, 'golden.db')
  await projectedInto(log, blobs, await openSqliteStore(file))
  return alike(dumpFile(file), log)
}

/**
 * Rows without what is the log's own: how far they are, and positions, of which the order is kept. So rows that were made
 * of the same history on different logs are alike.
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
