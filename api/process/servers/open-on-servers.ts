import { EventStoreWorkSubscription } from '../../../adapters/eventstore/work-subscription.ts'
import { PostgresBlobs } from '../../../adapters/postgres/blobs.ts'
import { PostgresLeases } from '../../../adapters/postgres/leases.ts'
import { PostgresPositions } from '../../../adapters/postgres/positions.ts'
import { waitForServer } from '../../../adapters/postgres/query.ts'
import { base32, externalStream } from '../../../domain/log/ids.ts'
import { openPool, PostgresHome } from '../../../projections/postgres.ts'
import { withinOr } from '../../operations/concurrency/within-or.ts'
import { onStderr } from '../../operations/notices.ts'
import { Problem } from '../../operations/problem.ts'
import type { ProofServices } from '../../operations/proof/services.ts'
import type { Services } from '../../operations/services.ts'
import type { ServersConfig } from '../config/settings.ts'
import { ANCHOR_KEEPERS } from '../host/anchor-keepers.ts'
import { SystemClock } from '../host/clock.ts'
import { compose } from '../host/compose.ts'
import { checkDataFolder } from '../host/data-folder.ts'
import { Opened, type Own, openHost } from '../host/open-host.ts'
import { systemRandom } from '../host/random.ts'
import { TelemetryExport } from '../telemetry/telemetry-export.ts'
import { WebhookDeliveries } from '../webhooks/webhooks.ts'
import { deliverOnServers } from './deliver-on-servers.ts'
import { takeLease } from './lease.ts'
import { LeasedRuntime } from './leased-runtime.ts'
import { LossWatch } from './loss-watch.ts'
import { findLog, makeLog } from './open-log.ts'
import { passwordsOf } from './passwords.ts'
import { pastOnServers } from './past-on-servers.ts'
import { askingPostgres } from './postgres-access.ts'
import { schemasOf } from './schema-names.ts'
import { settleNowAndThen } from './settle-agents.ts'
import { sharedByCalls } from './shared-calls.ts'
import { SharedTables } from './shared-tables.ts'
import { openTree, signOnServers } from './sign-on-servers.ts'
import { PostgresAuditor } from './sql-auditor.ts'
import { lossOnServers, tablesBesideLoss } from './tables-beside-loss.ts'

/** The most PostgreSQL connections of one process. */
const MAX_CONNECTIONS = 12
const LEASE_CONNECTIONS = 2
/** The longest time for which an append waits for the comparison of log and tables, in ms. PostgreSQL may be down. */
const LOOK_WITHIN_MS = 10_000
/** The time limit for closing the connections to PostgreSQL, in ms. All users of the pools have ended before. */
const SHUT_WITHIN_MS = 1_000

/**
 * Opens a deployment on servers: the log in EventStoreDB; tables, blobs and leases in PostgreSQL; host files in the
 * data folder. Every process may record and drive. A `reader` creates no log: null if there is none. Rejects with a
 * LogError, a ProjectionError or a Problem that contains a remedy.
 */
export async function openOnServers(
  config: ServersConfig,
  mode: 'owner' | 'reader',
  autoDrive: boolean,
  own: Own = {},
): Promise<Services | null> {
  checkDataFolder(config.data, mode)
  const { namespace, eventstore: connectionString, leaseMs: ttlMs } = config
  const { tell: warn = onStderr } = own
  const clock = new SystemClock()
  const holder = base32(systemRandom.bytes(10))
  const closed = new AbortController()
  const opened = new Opened()
  try {
    // Set below: the stores that detect a loss are opened after the log.
    let onDoubt = async () => {}
    const making = { clock, random: systemRandom, warn, onDoubt: () => onDoubt() }
    const log = (await findLog(config, making)) ?? (mode === 'owner' ? await makeLog(config, making) : null)
    if (log === null) return null
    opened.push(() => log.close())
    checkDataFolder(config.data, 'owner')
    const workSubscription = await EventStoreWorkSubscription.open({ connectionString, namespace })
    opened.push(() => workSubscription.close())
    const pool = openPool({ url: config.postgres, max: MAX_CONNECTIONS - LEASE_CONNECTIONS })
    // Heartbeats must not wait for other queries, and a silent connection must be replaced before the lease expires.
    const beats = openPool({ url: config.postgres, max: LEASE_CONNECTIONS, silentMs: ttlMs / 6 })
    opened.push(async () => void (await Promise.all([pool, beats].map((one) => one.shut(SHUT_WITHIN_MS)))))
    const schemas = schemasOf(namespace)
    const reach = <T>(work: () => Promise<T>) => askingPostgres(config, warn, work)
    await reach(() => waitForServer(pool, own.patienceMs))
    const blobs = await reach(() => PostgresBlobs.open({ pool, schema: schemas.blobs }))
    const leases = await reach(() => PostgresLeases.open({ pool: beats, schema: schemas.leases, warn }))
    const host = await openHost(config, own, opened, warn, { passwords: passwordsOf(config) })
    const shared = { leases, clock, ttlMs, holder }
    const home = new PostgresHome({ pool, schema: schemas.tables, warn })
    // Each command and drive reads the tables first. This read must not wait for other queries.
    const prompt = new PostgresHome({ pool: beats, schema: schemas.tables, warn })
    await reach(() => home.live())
    const tree = await openTree(pool, schemas.proof, warn)
    const mayReplace = async () => (await lossOnServers({ home, log, tree })) === null
    const moving = async () => {
      const tables = await SharedTables.open({ ...shared, home, log, blobs, warn, mayReplace })
      opened.push(() => tables.close())
      return tables
    }
    const { look, mustRecord, ...kept } = await tablesBesideLoss(
      { home, prompt, log, blobs, tree },
      { open: moving, clock, memory: log },
    )
    const { loss } = kept.losses.gate
    const watch = new LossWatch({ look, losses: kept.losses }, warn)
    opened.push(async () => watch.close())
    onDoubt = async () => {
      await withinOr(clock, LOOK_WITHIN_MS, watch.look(), undefined)
      mustRecord()
    }
    opened.push(() => closed.abort(new Error('keepup was closed')))
    let signing: ReturnType<ProofServices['signing']> = null
    const positions = await reach(() => PostgresPositions.open({ pool, schema: schemas.positions }))
    const webhooks = new WebhookDeliveries({
      ...{ config, log, blobs, positions, clock, random: systemRandom, vault: host.vault, warn },
      parked: () => services.read.parked(),
      hide: (text) => services.streams.hide(text),
    })
    const telemetry = new TelemetryExport({
      ...{ settings: config.telemetry, log, blobs, positions, clock, random: systemRandom, vault: host.vault, warn },
    })
    const services: Services = compose(host, {
      agentLease: (agentId) => takeLease(shared, externalStream(agentId), holder),
      ...kept,
      ...(await sharedByCalls({
        pool,
        schema: schemas.models,
        clock,
        limitOf: (model) => host.models.limit(model),
        warn,
      })),
      auditor: new PostgresAuditor(config, pastOnServers({ log, blobs, holder })),
      blobs,
      clock,
      workSubscription,
      holder,
      autoDrive,
      runtime: (ports) => new LeasedRuntime(ports, { ...shared, closed: closed.signal }),
      backup: refuseBackup,
      webhooks,
      telemetry,
      positions,
      proof: { store: tree, keepers: ANCHOR_KEEPERS, signing: () => signing },
      // Neither server counts bytes per run.
      sizes: async () => new Map(),
      close: () => opened.closeAll(),
    })
    if (tree !== null) {
      const { gate } = kept.losses
      const signed = signOnServers({
        ...shared,
        config,
        log,
        store: tree,
        services,
        gate,
        stays: mode === 'owner',
        warn,
      })
      opened.push(() => signed.close())
      signing = signed.signing
    }
    if (mode === 'owner' && (config.webhooks.length > 0 || config.telemetry !== null)) {
      const delivering = deliverOnServers({ ...shared, deliveries: [webhooks, telemetry] })
      opened.push(() => delivering.close())
    }
    if (loss === null) settleNowAndThen(services, ttlMs, closed.signal, warn)
    return services
  } catch (error) {
    await opened.closeAll()
    throw error
  }
}

const refuseBackup = () =>
  Promise.reject(
    new Problem(
      'BACKUP_ON_SERVERS',
      'log and blobs are on servers: back up PostgreSQL after EventStoreDB with their own tools, and copy the data folder',
    ),
  )
