import type { DatabaseSync } from 'node:sqlite'
import { Projector, type ProjectorOptions } from './projector/projector.ts'
import type { PositionRow } from './schema/database.ts'
import { tableNames } from './schema/tables.ts'
import { isDamaged } from './store/damage.ts'
import { connect } from './store/database.ts'
import { dropFile, freshFile } from './store/pointer.ts'
import { openSqliteStore, progressOf } from './store/sqlite.ts'
import type { Store } from './store/store.ts'

/** What two databases do not have in common, per table; empty: they are equal. */
export interface Difference {
  readonly table: string
  readonly onlyLive: number
  readonly onlyRebuilt: number
  /** Up to three rows of each side. */
  readonly examples: { readonly live: readonly object[]; readonly rebuilt: readonly object[] }
}

export interface Rebuilt {
  readonly file: string
  readonly store: Store
  readonly projector: Projector
  /** Null: there was nothing to compare with. */
  readonly differences: readonly Difference[] | null
}

/**
 * Makes the tables a second time, from the log alone, in a file beside the live one, and compares the two at the position
 * where the live ones stood. Readers and the live projector go on meanwhile. The caller switches or drops.
 */
export async function rebuildBeside(
  folder: string,
  options: Omit<ProjectorOptions, 'store'>,
  live: string | null,
): Promise<Rebuilt> {
  const file = freshFile(folder)
  const store = await openSqliteStore(file)
  const projector = new Projector({ ...options, store })
  try {
    const differences = live === null ? null : await compareAt(live, file, projector)
    await projector.catchUp()
    return { file, store, projector, differences }
  } catch (error) {
    await store.close()
    dropFile(file)
    throw error
  }
}

async function compareAt(live: string, file: string, projector: Projector): Promise<Difference[] | null> {
  const { raw, close } = connect(live, 'read')
  try {
    raw.prepare('attach database ? as rebuilt').run(file)
    const version = (schema: string) => Number(raw.prepare(`pragma ${schema}.user_version`).get()!.user_version)
    if (version('main') !== version('rebuilt')) return null
    // The first read fixes what this transaction sees of the live file, while its projector goes on.
    raw.exec('begin')
    const at = raw.prepare('select * from main.position where id = 1').get() as PositionRow | undefined
    const cursor = at && progressOf(at).cursor
    if (!cursor) return null
    await projector.catchUp(cursor)
    return ['position', 'streams', ...tableNames].flatMap((table) => compareTable(raw, table) ?? [])
  } catch (error) {
    // Damaged tables are no measure.
    if (isDamaged(error)) return null
    throw error
  } finally {
    close()
  }
}

/** The fixed compare query: rows of one side that the other has not, both ways. */
function compareTable(raw: DatabaseSync, table: string): Difference | null {
  const minus = (a: string, b: string) => `select * from ${a}."${table}" except select * from ${b}."${table}"`
  const count = (query: string) => Number(raw.prepare(`select count(*) as n from (${query})`).get()!.n)
  const some = (query: string) => raw.prepare(`select * from (${query}) limit 3`).all()
  const [ours, theirs] = [minus('main', 'rebuilt'), minus('rebuilt', 'main')]
  const [onlyLive, onlyRebuilt] = [count(ours), count(theirs)]
  if (onlyLive === 0 && onlyRebuilt === 0) return null
  return { table, onlyLive, onlyRebuilt, examples: { live: some(ours), rebuilt: some(theirs) } }
}
