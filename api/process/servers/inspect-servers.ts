import type { Cursor } from '../../../domain/log/cursor.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import type { ServersConfig } from '../config/config.ts'
import { type Unsafe, unsafeIn } from './durability.ts'
import { postgresProblem } from './postgres-access.ts'
import { type Rights, rightsIn } from './rights.ts'
import { schemasOf } from './schemas.ts'

export interface TablesLook {
  readonly position: number | null
  /** Events that they do not show yet, counted up to {@link COUNTED}; null: not known. */
  readonly behind: number | null
  /** Streams that they could not read to their end. */
  readonly parked: readonly string[]
  /** Agents that no process drives. */
  readonly orphans: number
  /** Runs with a restore of files that has not ended. */
  readonly restoring: readonly string[]
  /** Their fault, which the next process mends that moves them; null: none. */
  readonly damage: string | null
  /** They show what the log does not hold. */
  readonly ahead: boolean
}

/** The findings about the servers of a deployment, without making anything there; an Error where one cannot be used. */
export interface ServersLook {
  /** `log` null: there is none yet. `made`: a worker has listened; `refused`: why this user may not. */
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
        readonly rights: Rights
        readonly unsafe: readonly Unsafe[]
        readonly tables: TablesLook | null
      }
    | Error
}

/** More than so many events are not counted: it takes time, and the figure is enough. */
export const COUNTED = 1000
/** A look does not wait for a server that is being restarted, ms. */
const LOOK = { callMs: 3000, patienceMs: 2000 }

/** Looks at both servers, each whatever the other one is like. The clients are loaded only here. */
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

/** Null: there is none. */
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

/** `log` null: there is none yet; undefined: it is not known. */
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

/** How many events follow a position; `none such`: the log does not hold it. */
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
