import { PostgresLeases } from '../../adapters/leases-postgres/leases.ts'
import type { EventLog } from '../../domain/ports.ts'
import type { ServersConfig } from '../config.ts'
import { schemasOf } from './schemas.ts'

/** What can be learnt of the servers of a deployment; an Error where one cannot be used. */
export interface ServersLook {
  readonly eventstore: { readonly version: string; readonly position: number; readonly refused: string | null } | Error
  /** `behind`: events that the tables do not show yet, counted up to {@link COUNTED}; null: not known. */
  readonly postgres:
    | {
        readonly version: string
        readonly position: number | null
        readonly mayCreate: boolean
        readonly behind: number | null
        /** Streams that the tables could not read to their end. */
        readonly parked: number
      }
    | Error
}

/** More than so many events are not counted: it takes time, and whoever looks knows enough. */
export const COUNTED = 1000
/** Whoever only looks does not wait for a server that is being restarted, ms. */
const LOOK = { callMs: 3000, patienceMs: 2000 }

/** Looks at both servers, each whatever the other one is like. The clients are loaded only here. */
export async function lookAtServers(config: ServersConfig): Promise<ServersLook> {
  const log = await openLog(config).catch((error: Error) => error)
  try {
    const eventstore = log instanceof Error ? log : await lookAtLog(log).catch((error: Error) => error)
    const known = log instanceof Error ? null : log.log
    return { eventstore, postgres: await lookAtTables(config, known).catch((error: Error) => error) }
  } finally {
    if (!(log instanceof Error)) await log.close()
  }
}

async function openLog({ eventstore: connectionString, namespace }: ServersConfig) {
  const [{ openEventStoreLog }, { EventStoreDoorbell }] = await Promise.all([
    import('../../adapters/log-eventstore/open.ts'),
    import('../../adapters/log-eventstore/doorbell.ts'),
  ])
  const log = await openEventStoreLog({ connectionString, namespace, limits: LOOK })
  const doorbell = await EventStoreDoorbell.open({ connectionString, namespace })
  const close = async () => {
    await doorbell.close()
    await log.close()
  }
  return { log, doorbell, close }
}

async function lookAtLog({ log, doorbell }: Awaited<ReturnType<typeof openLog>>) {
  const [{ position }, { version, refused }] = await Promise.all([log.headCursor(), doorbell.check()])
  return { version, position, refused }
}

async function lookAtTables({ postgres: url, namespace }: ServersConfig, log: EventLog | null) {
  const [{ openPool, PostgresHome }, { listParked }] = await Promise.all([
    import('../../projections/postgres.ts'),
    import('../../projections/index.ts'),
  ])
  const pool = openPool({ url, max: 2 })
  try {
    const schemas = schemasOf(namespace)
    // Also in the words of whoever uses it: what is wrong there is wrong here.
    await PostgresLeases.open({ pool, schema: schemas.leases })
    const asked = `select current_setting('server_version') as version,
      has_database_privilege(current_database(), 'create') as may`
    const { rows } = await pool.query<{ version: string; may: boolean }>(asked)
    const home = new PostgresHome({ pool, schema: schemas.tables })
    await home.live()
    const { position, data } = await home.read((db) => listParked(db))
    let behind: number | null = null
    if (log !== null && (position === null || position.logId === log.logId)) {
      behind = 0
      for await (const page of log.readAll(position, { limit: COUNTED, bodies: false })) behind += page.length
    }
    const { version, may } = rows[0]!
    return { version, position: position?.position ?? null, mayCreate: may, behind, parked: data.length }
  } finally {
    await pool.end()
  }
}
