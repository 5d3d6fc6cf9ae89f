import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { alteredRows, selectStreams, strayRows } from '../../../projections/index.ts'
import { noRoom } from '../../operations/disk-full.ts'
import type { ReadModel } from '../../operations/read-model.ts'
import type { AskTables, Tables } from './table-answers.ts'

interface Sources {
  readonly log: EventLog
  readonly blobs: BlobStore
  caughtUp(): Promise<void>
}

/** The most owners per table that {@link ReadModel.strays} names. */
const NAMED = 3

/** Queries about the streams in the tables, and the rows that differ from the log. */
export function streamsInTables(
  ask: AskTables,
  tables: Pick<Tables, 'read'>,
  { log, blobs, caughtUp }: Sources,
): Pick<ReadModel, 'streams' | 'altered' | 'strays'> {
  const altered = (stream: string) => alteredRows({ read: (query) => tables.read(query), log, blobs }, stream)
  return {
    streams: (which) =>
      ask(
        (db) => selectStreams(db, which),
        (found) => found,
      ),
    async altered(stream) {
      const found = await altered(stream)
      if (found.length === 0) return found
      // An erasure empties a body before the tables process it. Catch up and compare again.
      await caughtUp().catch((error: unknown) => {
        if (noRoom(error) === null) throw error
      })
      return altered(stream)
    },
    strays: async () => (await tables.read((db) => strayRows(db, NAMED))).data,
  }
}
