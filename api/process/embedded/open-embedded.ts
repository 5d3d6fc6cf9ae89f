import { existsSync } from 'node:fs'
import { FileIntents } from '../../../adapters/files/blobs/intents.ts'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { BlobUsage } from '../../../adapters/files/blobs/usage.ts'
import { temporaryFolder } from '../../../adapters/files/temporary.ts'
import { MemoryLimiter } from '../../../adapters/memory/rate-limiter.ts'
import type { SqliteLog } from '../../../adapters/sqlite/log/log.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { isReadOnlyFileSystem } from '../../../adapters/sqlite/open-to-read.ts'
import { SqlitePositions } from '../../../adapters/sqlite/positions.ts'
import { SqliteRequestCache } from '../../../adapters/sqlite/request-cache.ts'
import { SqliteTreeStore } from '../../../adapters/sqlite/tree-store.ts'
import { logKeyFile } from '../../../adapters/vault/log-key.ts'
import { vaultFiles } from '../../../adapters/vault/vault-files.ts'
import { readAcceptedLosses } from '../../../domain/agent/runtime/losses.ts'
import { AGGREGATES } from '../../../domain/kinds.ts'
import { shortened } from '../../../domain/log/errors.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { PROOF_STREAM } from '../../../domain/proof/kind.ts'
import { LogAnchors } from '../../../domain/proof/runtime/anchors.ts'
import { LogSigner } from '../../../domain/proof/runtime/log-signer.ts'
import { Streams } from '../../../domain/stream/runtime/streams.ts'
import { sweepBlobs } from '../../../domain/stream/runtime/sweep-blobs.ts'
import { tablesUsable } from '../../../projections/engine/store/damage.ts'
import { Readers, readApart } from '../../../projections/engine/store/readers.ts'
import { foldPast, PastTables, Projections } from '../../../projections/index.ts'
import { lossText } from '../../operations/losses/loss.ts'
import { onStderr, type Tell } from '../../operations/notices.ts'
import type { ProofServices } from '../../operations/proof/services.ts'
import type { Services } from '../../operations/services.ts'
import type { Config } from '../config/settings.ts'
import { RetentionSweeps } from '../drives/retention.ts'
import { ANCHOR_KEEPERS } from '../host/anchor-keepers.ts'
import { SystemClock } from '../host/clock.ts'
import { compose } from '../host/compose.ts'
import { checkDataFolder } from '../host/data-folder.ts'
import { anchorsAhead } from '../host/losses/anchors-ahead.ts'
import { headsAhead, holdsEvents } from '../host/losses/find-loss.ts'
import { LateTables, witnessTables } from '../host/losses/late-tables.ts'
import { LossGate } from '../host/losses/loss-gate.ts'
import { Opened, type Own, openHost } from '../host/open-host.ts'
import { paths } from '../host/paths.ts'
import { systemRandom } from '../host/random.ts'
import type { Tables } from '../tables/table-answers.ts'
import { TelemetryExport } from '../telemetry/telemetry-export.ts'
import { WebhookDeliveries } from '../webhooks/webhooks.ts'
import { backupFolder } from './backup.ts'
import { LiveTables } from './live-tables.ts'
import { lossAtStart, markAhead, markedBy, refuseForeignTables, seenLogId, tellEnd } from './loss-at-start.ts'
import { foldInThread } from './past/fold-thread.ts'
import { ProcessAuditor } from './sql/process-auditor.ts'

/** Opens the embedded default: everything in one data folder. See `OpenServices`. */
export async function openEmbedded(
  config: Config,
  mode: 'owner' | 'reader',
  autoDrive: boolean,
  own: Own = {},
): Promise<Services | null> {
  const at = paths(config.data)
  checkDataFolder(config.data, mode)
  const isArchive = mode === 'reader' && (own.archive === true || isReadOnlyFileSystem(config.data))
  // Only an owner creates tables, and brings those of another version up to date. A reader without tables has nothing to read yet.
  if (mode === 'reader' && (!existsSync(at.log) || !(isArchive || tablesUsable(at.tables)))) return null
  const traces = [at.tables, at.blobs, at.versions]
  const clock = new SystemClock()
  const { tell = onStderr } = own
  const random = systemRandom
  const seen = () => seenLogId(at.tables)
  const log = await openSqliteLog({ folder: at.log, mode, traces, clock, random, seenLogId: seen, warn: tell })
  clock.notBefore(log.floor())
  const opened = new Opened()
  opened.push(() => log.close())
  try {
    if (mode === 'owner') await refuseForeignTables(log, at.tables)
    if (!existsSync(at.vaultMark) && !existsSync(vaultFiles(config.data).key) && (await holdsEvents(log)))
      tell(lostVault(config.data))
    const host = await openHost(config, own, opened, mode === 'owner' ? tell : () => undefined)
    const blobs = new FileBlobs(at.blobs)
    const usage = new BlobUsage(at.blobs)
    const intents = new FileIntents(at.intents)
    const store = openTree(at.tree, mode, log, tell)
    if (store !== null) opened.push(() => store.close())
    const facts = new Streams({ log, blobs, clock, random, hide: async (value) => value }, AGGREGATES)
    const heads =
      (await headsAhead(log, store)) ??
      (await anchorsAhead({ log, store, streams: facts, keepers: ANCHOR_KEEPERS, clock }))
    const loss = await lossAtStart(log, at.tables, heads)
    const gate = new LossGate(log, loss)
    if (mode === 'owner') tellEnd(log, loss, tell)
    // After a loss, unreferenced blobs may be the only remains of the lost end, so keep them.
    if (mode === 'owner' && loss === null) await sweep({ log, blobs, intents }, tell)
    const follow = async () => {
      const made = await LiveTables.open(at.tables, log, blobs, tell)
      opened.push(() => made.close())
      return made
    }
    // Tables that are newer than the log are evidence of the loss, so they stay as they are. Other tables follow the
    // log.
    const isWitness = loss !== null && (loss.tables !== null || loss.streams.length > 0)
    let live = mode === 'owner' && !isWitness ? await follow() : null
    const tables =
      live !== null
        ? new LateTables(live.tables)
        : isArchive
          ? new LateTables(await archiveTables(opened, log, blobs))
          : frozenTables(at.tables, opened, log, gate)
    let signing: ReturnType<ProofServices['signing']> = null
    opened.push(async () => {
      log.endWith(PROOF_STREAM)
      await signing?.anchors.close()
      await signing?.signer.close()
    })
    const sign = (services: Services) => {
      if (mode !== 'owner' || store === null || signing !== null) return
      const { streams } = services
      const acceptedLosses = async () => (await readAcceptedLosses(log)).length
      const keys = logKeyFile(at.logKey)
      const origin = config.proof.origin ?? `keepup.local/${log.logId}`
      const shared = { store, streams, clock, random, warn: tell }
      const signer = LogSigner.start({ ...shared, log, keys, origin, acceptedLosses })
      const everyMs = config.proof.anchorEveryMs
      const anchors = new LogAnchors({ ...shared, signer, keepers: ANCHOR_KEEPERS, everyMs })
      signing = { signer, anchors }
    }
    let sweeps: RetentionSweeps | null = null
    opened.push(async () => sweeps?.close())
    const begin = (services: Services) => {
      sign(services)
      if (mode === 'owner') sweeps ??= new RetentionSweeps(services, tell)
    }
    const cache = new SqliteRequestCache(at.requestCache, clock)
    opened.push(() => cache.close())
    const past = new PastTables({
      ...{ folder: at.tables, keeps: mode === 'owner', erasures: () => log.erasures() },
      // The event loop of an owner stays free for other requests.
      fold: mode === 'owner' ? foldInThread({ log: at.log, blobs: at.blobs }) : foldPast({ log: gate.log, blobs }),
    })
    const positions = new SqlitePositions(at.positions)
    opened.push(() => positions.close())
    const webhooks = new WebhookDeliveries({
      ...{ config, log, blobs, positions, clock, random, vault: host.vault, warn: tell },
      parked: () => services.read.parked(),
      hide: (text) => services.streams.hide(text),
    })
    const telemetry = new TelemetryExport({
      ...{ settings: config.telemetry, log, blobs, positions, clock, random, vault: host.vault, warn: tell },
    })
    const deliver = () => {
      const end = new AbortController()
      opened.push(async () => {
        await Promise.all([webhooks.settle(), telemetry.settle()])
        end.abort(new Error('the deliveries were ended'))
        await Promise.all([webhooks.ended(), telemetry.ended()])
      })
      webhooks.start(end.signal)
      telemetry.start(end.signal)
    }
    const services: Services = compose(host, {
      limiter: new MemoryLimiter(clock, (model) => host.models.limit(model)),
      ...(mode === 'owner' && { cache, pastTables: past }),
      log: gate.log,
      blobs,
      intents,
      clock,
      tables,
      losses: {
        ...{ log, tree: store, read: tables.seen, marked: () => markedBy(log), gaps: () => log.gaps(), gate },
        get mark() {
          return markAhead(log)
        },
        get heads() {
          return gate.loss === null ? undefined : heads
        },
        accepting: (record) => log.acceptingLoss(record),
        followed: async () => {
          if (live !== null) await live.anew()
          else {
            live = await follow()
            tables.become(live.tables)
          }
          begin(services)
        },
      },
      backup: async (folder) => {
        if (gate.loss !== null) throw shortened(lossText(gate.loss))
        return backupFolder(config.data, log, store, folder)
      },
      sizes: async (runIds) => {
        // `usage` counts all blobs. The log's own count leaves out whole results.
        const stored = await usage.sizes(runIds)
        return new Map((await log.sizes(runIds)).map(({ runId, bytes }) => [runId, bytes + (stored.get(runId) ?? 0)]))
      },
      proof: { store, keepers: ANCHOR_KEEPERS, signing: () => signing },
      webhooks,
      telemetry,
      positions,
      auditor: new ProcessAuditor(config.data, past),
      readOnly: mode === 'reader',
      autoDrive,
      close: () => opened.closeAll(),
    })
    // This process is the only owner of the folder, so the processes of all unfinished external agents are gone.
    if (mode === 'owner' && loss === null) {
      begin(services)
      await settleAgents(services, tell)
      deliver()
    }
    return services
  } catch (error) {
    await opened.closeAll()
    throw error
  }
}

/** The tables of a data folder that has none and is not written, in a temporary folder that is removed at the end. */
async function archiveTables(opened: Opened, log: EventLog, blobs: BlobStore): Promise<Tables> {
  const folder = temporaryFolder('tables')
  opened.push(() => folder.remove())
  const tables = await Projections.open({ folder: folder.path, log, blobs })
  opened.push(() => tables.close())
  return {
    read: (query) => tables.read(query),
    readApart: (query) => tables.readApart(query),
    // Nothing follows the log here: another process may write it through another mount.
    caughtUpTo: async () => {
      await tables.catchUp()
    },
    rebuild: readsOnly,
    release: readsOnly,
  }
}

const readsOnly = () => Promise.reject(new Error('this process only reads; ask the process that owns the data folder'))

/** An error here must not prevent the start. The next start tries again. */
async function settleAgents({ agents }: Services, tell: Tell): Promise<void> {
  const settled = await agents
    ?.settle()
    .catch((error: Error) => tell(`runs of other agents stay open: ${error.message}`))
  if (settled) tell(`runs of other agents that were cut off: ${settled}; their outcomes are recorded as unknown`)
}

/** Opens the tree of the log. Null: there is none, or it cannot be opened, which must not prevent the start. */
function openTree(path: string, mode: 'owner' | 'reader', log: SqliteLog, tell: Tell): SqliteTreeStore | null {
  if (mode === 'reader' && !existsSync(path)) return null
  try {
    return new SqliteTreeStore(path, mode, (...range) => log.hashes(...range))
  } catch (error) {
    // A reader needs the tree only to verify heads.
    if (mode === 'reader') return null
    tell(
      `${path} cannot be opened (${(error as Error).message}): heads are neither signed nor verified; make room on ` +
        'the disk, or put the file back from a backup',
    )
    return null
  }
}

/** The message for a missing vault. A person may have removed it, or copied only a part of the data folder. */
const lostVault = (data: string): string =>
  `there is no vault in ${data} that its runs belong to: what secrets in them stood for is lost. Where a backup holds it, ` +
  'put back the folder "vault" and "vault.check" before you go on; a new one is begun'

/** Removes blobs of a killed process whose events were never recorded. */
async function sweep(stores: Parameters<typeof sweepBlobs>[0], tell: Tell): Promise<void> {
  const removed = await sweepBlobs(stores, AGGREGATES, tell)
  if (removed > 0) tell(`removed ${removed} stored bodies that no event names`)
}

/** Read-only tables: in a reader, or as evidence of a loss of the log. */
function frozenTables(folder: string, opened: Opened, log: EventLog, gate: LossGate): LateTables {
  const readers = new Readers(folder)
  opened.push(() => readers.close())
  const read: Tables['read'] = (query) => readers.use(query)
  const apart: Tables['read'] = (query) => readApart(folder, query)
  if (gate.loss !== null) return new LateTables(witnessTables(read, log, gate, apart), read)
  return new LateTables({ read, readApart: apart, caughtUpTo: async () => {}, rebuild: readsOnly, release: readsOnly })
}
