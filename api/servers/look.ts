import { LogError } from '../../domain/log/errors.ts'
import type { EventLog } from '../../domain/ports.ts'
import type { ServersConfig } from '../config.ts'
import { postgresProblem } from './postgres-door.ts'
import { schemasOf } from './schemas.ts'

/** What can be learnt of the servers of a deployment, without making anything there; an Error where one cannot be used. */
export interface ServersLook {
  /** `log` null: there is none yet. `made`: somebody has listened; `refused`: why this user may not. */
  readonly eventstore:
    | {
        readonly version: string
        readonly log: { readonly logId: string; readonly position: number } | null
        readonly made: boolean
        readonly refused: string | null
      }
    | Error
  /** `tables` null: there are none yet. `behind`: events that they do not show, counted up to {@link COUNTED}; null: not known. */
  readonly postgres:
    | {
        readonly version: string
        readonly mayCreate: boolean
        readonly tables: {
          readonly position: number | null
          readonly behind: number | null
          /** Streams that they could not read to their end. */
          readonly parked: number
        } | null
      }
    | Error
}

/** More than so many events are not counted: it takes time, and whoever looks knows enough. */
export const COUNTED = 1000
/** Whoever only looks does not wait for a server that is being restarted, ms. */
const LOOK = { callMs: 3000, patienceMs: 2000 }

/** Looks at both servers, each whatever the other one is like. The clients are loaded only here. */
export async function lookAtServers(config: ServersConfig): Promise<ServersLook> {
  const opened = await openLog(config).catch((error: Error) => error)
  try {
    const known = opened instanceof Error ? null : opened
    const eventstore = opened instanceof Error ? opened : await lookAtEventStore(config, opened).catch((e: Error) => e)
    return {
      eventstore,
      postgres: await lookAtTables(config, known).catch((error: Error) => postgresProblem(error, config) as Error),
    }
  } finally {
    if (!(opened instanceof Error)) await opened?.close()
  }
}

/** Null: there is none. */
async function openLog({ eventstore: connectionString, namespace }: ServersConfig) {
  const { openEventStoreLog } = await import('../../adapters/log-eventstore/open.ts')
  return openEventStoreLog({ connectionString, namespace, limits: LOOK, looks: true }).catch((error: unknown) => {
    if (error instanceof LogError && error.code === 'LOG_MISSING') return null
    throw error
  })
}

async function lookAtEventStore({ eventstore: connectionString, namespace }: ServersConfig, log: EventLog | null) {
  const { EventStoreDoorbell } = await import('../../adapters/log-eventstore/doorbell.ts')
  const doorbell = await EventStoreDoorbell.open({ connectionString, namespace })
  try {
    const seen = await doorbell.look()
    return { ...seen, log: log && { logId: log.logId, position: (await log.headCursor()).position } }
  } finally {
    await doorbell.close()
  }
}

async function lookAtTables({ postgres: url, namespace }: ServersConfig, log: EventLog | null) {
  const [{ openPool, PostgresHome }, { listParked }] = await Promise.all([
    import('../../projections/postgres.ts'),
    import('../../projections/index.ts'),
  ])
  const pool = openPool({ url, max: 2 })
  try {
    const home = new PostgresHome({ pool, schema: schemasOf(namespace).tables })
    const { version, mayCreate, there } = await home.look()
    if (!there) return { version, mayCreate, tables: null }
    const { position, data } = await home.read((db) => listParked(db))
    let behind: number | null = null
    if (log !== null && (position === null || position.logId === log.logId)) {
      behind = 0
      for await (const page of log.readAll(position, { limit: COUNTED, bodies: false })) behind += page.length
    }
    return { version, mayCreate, tables: { position: position?.position ?? null, behind, parked: data.length } }
  } finally {
    await pool.shut()
  }
}
