import { formatCursor } from '../../../domain/log/cursor.ts'
import { positionIn, publicTables, type TableShape, tableRows } from '../../../projections/engine/queries/table-rows.ts'
import type { Services } from '../services.ts'
import { EXPORT_SCHEMA } from './event-row.ts'
import { ExportError } from './export-error.ts'

/** The first line of tables for an export. All tables show the log up to `position`; null: no event. */
export interface TablesHead {
  readonly export: 'tables'
  readonly schema: number
  readonly logId: string
  readonly position: string | null
}

/** The line before the rows of a table. A row is a line with a list of cells. */
export interface TableHead {
  readonly table: string
  readonly columns: TableShape['columns']
}

/** Every table at one position of the log, as NDJSON for an export. Yields whole lines. */
export async function* tableLines({ log, read }: Pick<Services, 'log' | 'read'>): AsyncGenerator<string> {
  await read.current()
  yield* handedOver((hand) => {
    let begun = false
    return read.rowsApart(async (db) => {
      if (begun)
        throw new ExportError('EXPORT_BROKEN', 'the tables were lost while they were exported; run the export again')
      begun = true
      const position = await positionIn(db)
      const head = { export: 'tables', schema: EXPORT_SCHEMA, logId: log.logId } as const
      await hand(`${JSON.stringify({ ...head, position: position && formatCursor(position) } satisfies TablesHead)}\n`)
      for (const shape of publicTables()) {
        const { name: table, columns } = shape
        await hand(`${JSON.stringify({ table, columns } satisfies TableHead)}\n`)
        for await (const rows of tableRows(db, shape))
          await hand(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
      }
    })
  })
}

/** Thrown in the producer when the consumer has left. */
class Left extends Error {}

/** The values that `produce` hands over, each after the consumer has taken the one before. */
async function* handedOver<T>(produce: (hand: (value: T) => Promise<void>) => Promise<void>): AsyncGenerator<T> {
  let taken = Promise.withResolvers<void>()
  let offered = offer<T>()
  let isLeft = false
  const hand = async (value: T) => {
    if (isLeft) throw new Left()
    taken = Promise.withResolvers()
    offered.resolve({ value })
    await taken.promise
  }
  const done = produce(hand).then(
    () => offered.resolve(null),
    (error: unknown) => (error instanceof Left ? offered.resolve(null) : offered.reject(error)),
  )
  try {
    for (;;) {
      const next = await offered.promise
      if (next === null) return
      offered = offer()
      yield next.value
      taken.resolve()
    }
  } finally {
    isLeft = true
    taken.promise.catch(() => undefined)
    taken.reject(new Left())
    await done
  }
}

/** A value that will be offered. Its error waits for the consumer. */
function offer<T>(): PromiseWithResolvers<{ readonly value: T } | null> {
  const offered = Promise.withResolvers<{ readonly value: T } | null>()
  offered.promise.catch(() => undefined)
  return offered
}
