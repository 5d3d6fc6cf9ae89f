import { type Kysely, sql } from 'kysely'
import { READER } from '../../domain/log/envelope.ts'
import { runOf } from '../../domain/log/owner.ts'
import { KINDS } from '../kinds.ts'
import type { Cells, CellValue } from './changes/change.ts'
import { type Collapsed, canHoldRows, ownerIn } from './changes/collapse.ts'
import { keptAgain, refolded, type StreamSources } from './projector/fold.ts'
import type { ProjectorOptions } from './projector/projector.ts'
import type { RefusedEvent } from './projector/refused.ts'
import { ResidueCache } from './projector/residue-cache.ts'
import type { TableSpec } from './schema/columns.ts'
import type { Database, EventRow, StreamRow } from './schema/database.ts'
import { dialectOf } from './schema/dialect.ts'
import { eventRows } from './schema/event-rows.ts'
import { ownTables } from './schema/own-tables.ts'
import { type Row, specOf, tableNames } from './schema/tables.ts'
import type { Home } from './store/home.ts'

/** A stored row that differs from the row that the log gives. Compares only columns of `tables.ts`, like a rebuild. */
export interface AlteredRow {
  readonly table: string
  readonly key: Cells
  /** `missing`: only the log gives the row. `extra`: the row is stored, but the log does not give it. */
  readonly state: 'changed' | 'missing' | 'extra'
  /** The differing columns of a changed row. `folded`: the value that the log gives. */
  readonly columns: readonly { readonly name: string; readonly stored: CellValue; readonly folded: CellValue }[]
}

export type RowSources = Omit<ProjectorOptions, 'store'> & Pick<Home, 'read'>

/** The stored rows of one stream, read in one transaction. */
interface Stored {
  /** Undefined: the tables have seen no event of the stream. */
  readonly head: StreamRow | undefined
  readonly rows: ReadonlyMap<string, readonly Cells[]>
  /** Rows of kept events with a revision after the head, or below 0. */
  readonly beyond: readonly Cells[]
  readonly keepsEvents: boolean
}

/**
 * Compares the stored rows of a stream with the rows that its events give, up to the last event in the tables. Empty:
 * no difference. The caller verifies the stream itself first. An erasure during the comparison shows as a difference:
 * let the tables catch up and compare again.
 */
export async function alteredRows(
  { read, log, blobs, kinds = KINDS, reader = READER }: RowSources,
  stream: string,
): Promise<readonly AlteredRow[]> {
  const { position, data: stored } = await read((db) => storedRows(db, stream))
  const { head, keepsEvents } = stored
  const altered = await alteredHead(log, stream, head, position?.position ?? -1)
  if (altered !== null) return [altered]
  const residues = new ResidueCache({ log, blobs })
  // Only a fold that continues stored rows asks for erasures that were seen.
  const store = { keepsEvents, erasureSeen: async () => true }
  const sources: StreamSources = { log, blobs, kinds, reader, residues, store }
  const upTo = head?.revision ?? -1
  const folded = await refolded(sources, stream, upTo, refusedIn(stored))
  // The log lacks events that the tables have seen: the proof of the stream says so.
  if (folded === null) return []
  const found = tablesOf(stream).flatMap((table) =>
    differences(table, specOf(table), stored.rows.get(table) ?? [], [...folded.changes.rowsOf(table, stream)]),
  )
  if (!keepsEvents) return found
  const left = new Map(folded.residues.map(({ revision, current }) => [revision, current]))
  const erased = erasedIn(folded.changes, stream)
  for await (const { events } of keptAgain(sources, stream, upTo)) {
    const sealed = events.map((row) =>
      erased.has(row.revision) ? { ...row, payload: null, current: left.get(row.revision) ?? null } : row,
    )
    const { data } = await read((db) => storedEvents(db, stream, events))
    found.push(...differences('event_rows', eventRows, data, sealed))
  }
  return [...found, ...differences('event_rows', eventRows, stored.beyond, [])]
}

/** Rows of streams that the tables do not know, so no event gives them. At most `limit` owners of each table. */
export async function strayRows(db: Kysely<Database>, limit: number): Promise<readonly AlteredRow[]> {
  const found: AlteredRow[] = []
  const described: [string, Pick<TableSpec, 'kind' | 'owner'>][] = tableNames().map((table) => [table, specOf(table)])
  if (dialectOf(db).keepsEvents) described.push(['event_rows', { owner: 'stream' }])
  for (const [table, { kind, owner }] of described) {
    const name = sql.ref(`t.${owner}`)
    const streams = kind === undefined ? [sql`${name}`] : [kind].flat().map((one) => sql`${`${one}-`} || ${name}`)
    const known = (table: string) =>
      sql`exists (select 1 from ${sql.table(table)} s where s.stream in (${sql.join(streams)}))`
    const { rows } = await sql<{ owner: string }>`select distinct ${name} as owner from ${sql.table(table)} t
      where not ${known('streams')} and not ${known('parked')} limit ${sql.lit(limit)}`.execute(db)
    for (const row of rows) found.push({ table, key: { [owner]: row.owner }, state: 'extra', columns: [] })
  }
  return found
}

const tablesOf = (stream: string): readonly string[] => tableNames().filter((table) => canHoldRows(table, stream))

async function storedRows(db: Kysely<Database>, stream: string): Promise<Stored> {
  const head = await db.selectFrom('streams').selectAll().where('stream', '=', stream).executeTakeFirst()
  const rows = new Map<string, readonly Cells[]>()
  for (const table of tablesOf(stream))
    rows.set(table, await rowsWhere(db, table, specOf(table).owner, ownerIn(table, stream)))
  const { keepsEvents } = dialectOf(db)
  const beyond = keepsEvents
    ? await db
        .selectFrom('event_rows')
        .selectAll()
        .where('stream', '=', stream)
        .where((or) => or.or([or('revision', '<', 0), or('revision', '>', head?.revision ?? -1)]))
        .execute()
    : []
  return { head, rows, beyond: beyond as readonly (EventRow & Cells)[], keepsEvents }
}

const rowsWhere = async (db: Kysely<Database>, table: string, column: string, value: string) =>
  (await sql<Cells>`select * from ${sql.table(table)} where ${sql.ref(column)} = ${value}`.execute(db)).rows

const storedEvents = async (db: Kysely<Database>, stream: string, events: readonly EventRow[]) =>
  (await db
    .selectFrom('event_rows')
    .selectAll()
    .where('stream', '=', stream)
    .where('revision', '>=', events[0]?.revision ?? 0)
    .where('revision', '<=', events.at(-1)?.revision ?? -1)
    .execute()) as readonly (EventRow & Cells)[]

/** The row of `streams`, if it differs from the last event up to the position of the tables. */
async function alteredHead(
  log: RowSources['log'],
  stream: string,
  stored: StreamRow | undefined,
  shown: number,
): Promise<AlteredRow | null> {
  const key = { stream }
  const from = Math.max(0, stored?.revision ?? 0)
  for await (const [first, second] of log.read(stream, { from, limit: 2, bodies: false })) {
    if (stored === undefined)
      return first !== undefined && first.position <= shown
        ? { table: 'streams', key, state: 'missing', columns: [] }
        : null
    const last = second !== undefined && second.position <= shown ? second : first
    if (last === undefined) break
    const folded = { stream, run_id: runOf(last.header), revision: last.header.revision, hash: last.hash }
    return differences('streams', ownTables.streams, [{ ...stored }], [folded])[0] ?? null
  }
  return stored === undefined ? null : { table: 'streams', key, state: 'extra', columns: [] }
}

/** The event whose rows the database refused. Only the stored row records a refusal; the log does not. */
function refusedIn({ rows }: Stored): RefusedEvent | undefined {
  const parked = rows.get('parked')?.[0] as Row<'parked'> | undefined
  if (parked?.code !== 'ROWS_REFUSED') return undefined
  const { revision, code, message } = parked
  return { revision, poison: { code, message } }
}

const erasedIn = (changes: Collapsed, stream: string): ReadonlySet<number> =>
  new Set([...changes.rowsOf('erasures', stream)].map(({ revision }) => Number(revision)))

function differences(
  table: string,
  { columns, key }: TableSpec,
  stored: readonly Cells[],
  folded: readonly Cells[],
): AlteredRow[] {
  const keyOf = (row: Cells): Cells => Object.fromEntries(key.map((name) => [name, row[name] ?? null]))
  const id = (row: Cells) => JSON.stringify(key.map((name) => storable(row[name])))
  const left = new Map(stored.map((row) => [id(row), row]))
  const found: AlteredRow[] = []
  for (const row of folded) {
    const other = left.get(id(row))
    left.delete(id(row))
    if (other === undefined) {
      found.push({ table, key: keyOf(row), state: 'missing', columns: [] })
      continue
    }
    const differ = Object.keys(columns)
      .map((name) => ({ name, stored: storable(other[name]), folded: storable(row[name]) }))
      .filter((column) => column.stored !== column.folded)
    if (differ.length > 0) found.push({ table, key: keyOf(row), state: 'changed', columns: differ })
  }
  for (const row of left.values()) found.push({ table, key: keyOf(row), state: 'extra', columns: [] })
  return found
}

/** Converts a cell to the form that every database stores: well-formed text without NUL. */
const storable = (cell: CellValue | undefined): CellValue =>
  typeof cell === 'string' ? cell.toWellFormed().replaceAll('\0', '\ufffd') : (cell ?? null)
