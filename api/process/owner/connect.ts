import { existsSync, readFileSync, statSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { isReadOnlyFileSystem } from '../../../adapters/sqlite/open-to-read.ts'
import { formatCursor } from '../../../domain/log/cursor.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { AppOptions } from '../../http/app.ts'
import { tokenPath } from '../../http/token.ts'
import { noRoom } from '../../operations/disk-full.ts'
import type { Services } from '../../operations/services.ts'
import { type Config, ConfigError, onServers } from '../config/settings.ts'
import type { Own } from '../host/open-host.ts'
import { paths } from '../host/paths.ts'
import { type Backend, nothingOf, nothingYet, ownerSilent } from './backend.ts'
import { probe } from './probe.ts'
import { findSocketPath } from './socket-path.ts'

/**
 * Opens the services. `owner` rejects with `LOG_LOCKED` if another process owns the folder. `reader` works next to an
 * owner and returns null if there is nothing to read yet. Servers have no single owner: every process may write, and a
 * `reader` only differs in that it creates no log.
 */
export interface OpenServices {
  (config: Config, mode: 'owner', options: { autoDrive: boolean }, own?: Own): Promise<Services>
  (config: Config, mode: 'owner' | 'reader', options: { autoDrive: boolean }, own?: Own): Promise<Services | null>
}

export interface ConnectOptions {
  readonly config: Config
  readonly env: NodeJS.ProcessEnv
  readonly open: OpenServices
  /** `read`: if the owner does not answer, read the folder directly. */
  readonly need: 'read' | 'write'
  /** Called when the folder is read directly because its owner does not answer. */
  readonly onNote: (text: string) => void
  readonly onFault: AppOptions['onFault']
}

const RETRY_MS = 40

/**
 * Connects to the process that owns the data folder, or becomes the owner. Waits for an owner that is starting or
 * ending. If the owner has the lock but does not answer, rejects with `OWNER_SILENT` after about `ownerTimeoutMs`.
 */
export async function connect(options: ConnectOptions): Promise<Backend> {
  const { config, open, need } = options
  const { data: dataFolder, ownerTimeoutMs: timeoutMs } = config
  const started = performance.now()
  const local = { config, env: options.env, tcp: false, onFault: options.onFault }
  if (onServers(config)) {
    const { localBackend } = await import('./local.ts')
    const services = await open(config, need === 'read' ? 'reader' : 'owner', { autoDrive: false })
    if (services === null) throw nothingOf(config.namespace)
    return localBackend(services, local)
  }
  for (;;) {
    const socketPath = findSocketPath(dataFolder)
    const found = await probe(socketPath, timeoutMs)
    if (found === 'answers') {
      const { remoteBackend } = await import('./remote.ts')
      const token = () => config.key ?? readFileSync(tokenPath(dataFolder), 'utf8').trim()
      return remoteBackend({ dataFolder, socketPath, token, timeoutMs })
    }
    if (statSync(dataFolder, { throwIfNoEntry: false })?.isFile())
      throw new ConfigError(`${dataFolder} is a file; name a folder with --data or KEEPUP_DATA`)
    if (need === 'read' && found === 'absent' && isUnused(dataFolder)) throw nothingYet(dataFolder)
    // Load the HTTP app only if this process must serve it.
    const { localBackend } = await import('./local.ts')
    if (need === 'read') {
      const services = await open(config, 'reader', { autoDrive: false })
      // A killed owner left tables without the end of the log. Only an owner updates them, where it can write.
      const isStale = found === 'absent' && !isReadOnlyFileSystem(dataFolder)
      if (services && isStale && (await lags(services))) await services.close()
      else if (services) {
        if (found === 'silent') options.onNote('the owner of the data folder does not answer; reading it directly')
        return { ...(await localBackend(services, local)), besideSilent: found === 'silent' }
      }
    }
    if (found === 'silent') throw ownerSilent(dataFolder)
    try {
      return await localBackend(await open(config, 'owner', { autoDrive: false }), local)
    } catch (error) {
      const reader =
        need === 'read' && noRoom(error) !== null ? await open(config, 'reader', { autoDrive: false }) : null
      if (reader !== null) {
        options.onNote('the tables lag behind the log, because the disk is full; make room on it')
        return localBackend(reader, local)
      }
      if (!(error instanceof LogError && error.code === 'LOG_LOCKED')) throw error
      if (performance.now() - started > timeoutMs) throw ownerSilent(dataFolder)
      await wait(RETRY_MS)
    }
  }
}

/** Whether the folder has neither a log nor anything created with one. */
function isUnused(dataFolder: string): boolean {
  const { log, tables, blobs, versions } = paths(dataFolder)
  return ![log, tables, blobs, versions].some((path) => existsSync(path))
}

async function lags({ read, log }: Services): Promise<boolean> {
  const { position } = await read.runs({ limit: 1 })
  return position !== formatCursor(await log.headCursor())
}
