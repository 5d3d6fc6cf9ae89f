import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { FileIntents } from '../../adapters/blobs-file/intents.ts'
import { FileBlobs } from '../../adapters/blobs-file/store.ts'
import { BlobUsage } from '../../adapters/blobs-file/usage.ts'
import { openSqliteLog } from '../../adapters/log-sqlite/open.ts'
import type { BlobStore, EventLog } from '../../domain/ports.ts'
import { sweepBlobs } from '../../domain/runtime/blob-writes.ts'
import { Projections } from '../../projections/index.ts'
import { tablesReadable } from '../../projections/store/damage.ts'
import { Readers } from '../../projections/store/readers.ts'
import type { Config } from '../config.ts'
import { SystemClock } from '../host/clock.ts'
import { compose } from '../host/compose.ts'
import { checkDataFolder } from '../host/data-folder.ts'
import { Opened, type Own, openHost } from '../host/open.ts'
import { paths } from '../host/paths.ts'
import { systemRandom } from '../host/random.ts'
import type { Tables } from '../host/read-model.ts'
import { onStderr, type Tell, told } from '../host/told.ts'
import { noRoom } from '../no-room.ts'
import type { Services } from '../services.ts'
import { backupFolder } from './backup.ts'

/** The embedded default: everything in one data folder. See `OpenServices`. */
export async function openEmbedded(
  config: Config,
  mode: 'owner' | 'reader',
  autoDrive: boolean,
  own: Own = {},
): Promise<Services | null> {
  const at = paths(config.data)
  checkDataFolder(config.data, mode)
  // Tables are made by an owner: without them there is nothing to read yet.
  if (mode === 'reader' && (!existsSync(at.log) || !tablesReadable(at.tables))) return null
  const traces = [at.tables, at.blobs, at.versions]
  const clock = new SystemClock()
  const log = await openSqliteLog({ folder: at.log, mode, traces, clock, random: systemRandom })
  clock.notBefore(log.floor())
  const opened = new Opened()
  opened.push(() => log.close())
  const { tell = onStderr } = own
  try {
    if (!existsSync(at.vaultMark) && (await holdsRuns(log))) tell(lostVault(config.data))
    const host = await openHost(config, own, opened, mode === 'owner' ? tell : () => undefined)
    const blobs = new FileBlobs(at.blobs)
    const usage = new BlobUsage(at.blobs)
    const intents = new FileIntents(at.intents)
    if (mode === 'owner') await sweep({ log, blobs, intents }, tell)
    return compose(host, {
      log,
      blobs,
      intents,
      clock,
      tables:
        mode === 'owner' ? await liveTables(at.tables, log, blobs, opened, tell) : frozenTables(at.tables, opened),
      backup: (folder) => backupFolder(config.data, log, folder),
      sizes: async () => {
        // Not the log's own count of blobs, which knows no whole results.
        const stored = await usage.sizes()
        return new Map((await log.sizes()).map(({ runId, bytes }) => [runId, bytes + (stored.get(runId) ?? 0)]))
      },
      readOnly: mode === 'reader',
      autoDrive,
      close: () => opened.closeAll(),
    })
  } catch (error) {
    await opened.closeAll()
    throw error
  }
}

/** More than its own identity. */
async function holdsRuns(log: EventLog): Promise<boolean> {
  for await (const page of log.readAll(null, { limit: 2, bodies: false })) return page.length > 1
  return false
}

/** A person may have said so; whoever has copied a data folder in part has not. */
const lostVault = (data: string): string =>
  `there is no vault in ${data} that its runs belong to: what secrets in them stood for is lost. Where a backup holds it, ` +
  'put back the folder "vault" and "vault.check" before you go on; a new one is begun'

/** What a process that was killed has stored for an event that never came to be. */
async function sweep(stores: Parameters<typeof sweepBlobs>[0], tell: Tell): Promise<void> {
  const removed = await sweepBlobs(stores)
  if (removed > 0) tell(`removed ${removed} stored bodies that no event names`)
}

async function liveTables(
  folder: string,
  log: EventLog,
  blobs: BlobStore,
  opened: Opened,
  tell: Tell,
): Promise<Tables> {
  const projections = await Projections.open({ folder, log, blobs })
  const end = new AbortController()
  const running = following(projections, end.signal, (text) => tell(`the tables: ${text}`))
  opened.push(async () => {
    end.abort()
    await running
    await projections.close()
  })
  return projections
}

/** How long tables that found no room wait before they are brought on again, ms. */
const ROOM_MS = 1_000

/** Brings the tables on until the signal aborts, or something keeps them from it for good; a full disk is waited for. */
export async function following(
  tables: Pick<Projections, 'run'>,
  signal: AbortSignal,
  tell: Tell,
  waitMs = ROOM_MS,
): Promise<void> {
  for (let before: string | null = null; !signal.aborted; ) {
    try {
      return await tables.run(signal)
    } catch (error) {
      const why = told(error)
      if (why !== before) tell(why)
      if (noRoom(error) === null) return
      before = why
      await wait(waitMs, undefined, { signal }).catch(() => {})
    }
  }
}

/** The tables alone, beside an owner. */
function frozenTables(folder: string, opened: Opened): Tables {
  const readers = new Readers(folder)
  opened.push(() => readers.close())
  const refuse = () => Promise.reject(new Error('this process only reads; ask the process that owns the data folder'))
  return { read: (query) => readers.use(query), caughtUpTo: async () => {}, rebuild: refuse, release: refuse }
}
