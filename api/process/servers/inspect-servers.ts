import type { Cursor } from '../../../domain/log/cursor.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import type { ServersConfig } from '../config/settings.ts'
import { type Unsafe, unsafeIn } from './durability.ts'
import { postgresProblem } from './postgres-access.ts'
import { schemasOf } from './schema-names.ts'
import { rightsIn, type SchemaRights } from './schema-rights.ts'

export interface TablesLook {
  readonly position: number | null
  /** Events that the tables do not contain yet, counted up to {@link COUNTED}. Null: not known. */
  readonly behind: number | null
  /** Streams that the tables could not read to the end. */
  readonly parked: readonly string[]
  /** Agents without a driver. */
  readonly orphans: number
  /** Runs with an unfinished restore of files. */
  readonly restoring: readonly string[]
  /** The fault of the tables. The next process that updates them repairs it. Null: none. */
  readonly damage: string | null
  /** True: the tables contain events that the log does not. */
  readonly ahead: boolean
}

/**
 * The findings about a deployment's servers. The inspection creates nothing there. An Error: the server is not usable.
 */
export interface ServersLook {
  /**
   * `log` null: there is no log yet. `made`: a worker has connected before. `refused`: why this user may not connect as
   * one.
   */
  readonly eventstore:
    | {
        readonly version: string
        readonly log: { readonly logId: string; readonly position: number } | null
        readonly made: boolean
        readonly refused: string | null
      }
    | Error
  /** `tables` null: there are none yet. */
  readonly postgres:
    | {
        readonly version: string
        readonly mayCreate: boolean
        readonly rights: SchemaRights
        readonly unsafe: readonly Unsafe[]
        readonly tables: TablesLook | null
      }
    | Error
}

/** The most events that are counted. Counting takes time, and this is enough for people. */
export const COUNTED = 1000
/** Short limits, in ms: the inspection does not wait for a restarting server. */
const LOOK = { callMs: 3000, patienceMs: 2000 }

/** Inspects both servers independently. Loads the clients only here. */
export async function lookAtServers(config: ServersConfig): Promise<ServersLook> {
  const opened = await openLog(config).catch((error: Error) => error)
  const log = opened instanceof Error ? undefined : opened
  try {
    const seen = opened instanceof Error ? opened : await lookAtEventStore(config, opened).catch((e: Error) => e)
    const postgres = await lookAtTables(config, log).catch((error: Error) => postgresProblem(error, config) as Error)
    if (postgres instanceof Error || postgres.tables === null) return { eventstore: seen, postgres }
    const { position, damage } = postgres.tables
    const lag = log == null || damage !== null ? null : await countAfter(log, position).catch((error: Error) => error)
    const [ahead, behind] = [lag === 'none such', typeof lag === 'number' ? lag : null]
    const tables = { ...postgres.tables, position: position?.position ?? null, behind, ahead }
    return { eventstore: lag instanceof Error ? lag : seen, postgres: { ...postgres, tables } }
  } finally {
    await log?.close()
  }
}

/** Null: there is no log. */
async function openLog({ eventstore: connectionString, namespace }: ServersConfig) {
  const { openEventStoreLog } = await import('../../../adapters/eventstore/open.ts')
  return openEventStoreLog({ connectionString, namespace, limits: LOOK, looks: true }).catch((error: unknown) => {
    if (error instanceof LogError && error.code === 'LOG_MISSING') return null
    throw error
  })
}

async function lookAtEventStore({ eventstore: connectionString, namespace }: ServersConfig, log: EventLog | null) {
  const { EventStoreWorkSubscription } = await import('../../../adapters/eventstore/work-subscription.ts')
  const workSubscription = await EventStoreWorkSubscription.open({ connectionString, namespace })
  try {
    const seen = await workSubscription.look()
    return { ...seen, log: log && { logId: log.logId, position: (await log.headCursor()).position } }
  } finally {
    await workSubscription.close()
  }
}

/** `log` null: there is no log yet; undefined: not known. */
async function lookAtTables({ postgres: url, namespace }: ServersConfig, log: EventLog | null | undefined) {
  const [{ openPool, PostgresHome }, { listOrphans, listParked, listRestoring, otherLog }] = await Promise.all([
    import('../../../projections/postgres.ts'),
    import('../../../projections/index.ts'),
  ])
  const pool = openPool({ url, max: 2 })
  try {
    const home = new PostgresHome({ pool, schema: schemasOf(namespace).tables })
    const { position, damage, ...server } = await home.look()
    const found = { ...server, rights: await rightsIn(pool, namespace), unsafe: await unsafeIn(pool) }
    if (position === undefined) return { ...found, tables: null }
    if (position !== null && log !== undefined && position.logId !== log?.logId)
      throw otherLog(position.logId, log?.logId ?? null)
    const parked = damage === null ? (await home.read((db) => listParked(db))).data : []
    const orphans = damage === null ? (await home.read((db) => listOrphans(db))).data : []
    const restoring = damage === null ? (await home.read((db) => listRestoring(db))).data : []
    const shown = { parked: parked.map(({ stream }) => stream), orphans: orphans.length }
    return { ...found, tables: { position, ...shown, restoring: restoring.map(({ runId }) => runId), damage } }
  } finally {
    await pool.shut()
  }
}

/** The number of events after a position. `none such`: the log does not contain the position. */
async function countAfter(log: EventLog, position: Cursor | null): Promise<number | 'none such'> {
  try {
    let count = 0
    for await (const page of log.readAll(position, { limit: COUNTED, bodies: false })) count += page.length
    return count
  } catch (error) {
    if (error instanceof LogError && error.code === 'CURSOR_MISMATCH') return 'none such'
    throw error
  }
}
