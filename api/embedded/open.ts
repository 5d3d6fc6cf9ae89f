import { existsSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { FileBlobs } from '../../adapters/blobs-file/store.ts'
import type { SqliteLog } from '../../adapters/log-sqlite/log.ts'
import { openSqliteLog } from '../../adapters/log-sqlite/open.ts'
import type { ScriptInput } from '../../adapters/model-scripted/script.ts'
import { createModels, type Models } from '../../adapters/models/registry.ts'
import { SqliteSnapshots } from '../../adapters/snapshots-sqlite/store.ts'
import { workspaceTools } from '../../adapters/tools/builtin.ts'
import { openVault } from '../../adapters/vault/file-vault.ts'
import type { AgentSpec } from '../../domain/agent/spec.ts'
import { base32 } from '../../domain/log/ids.ts'
import type { Clock, Tool, Vault } from '../../domain/ports.ts'
import type { RuntimePorts } from '../../domain/runtime/ports.ts'
import { agentAt, stateAt } from '../../domain/runtime/replay.ts'
import { Runtime } from '../../domain/runtime/runtime.ts'
import { Projections } from '../../projections/index.ts'
import { tablesReadable } from '../../projections/store/damage.ts'
import { Readers } from '../../projections/store/readers.ts'
import type { Config } from '../config.ts'
import { asProblem } from '../http/problem.ts'
import { createKeepUp } from '../keepup.ts'
import type { Services } from '../services.ts'
import { VERSION } from '../version.ts'
import { backupFolder } from './backup.ts'
import { openBoundary } from './boundary.ts'
import { SystemClock } from './clock.ts'
import { crashPoint } from './crash-point.ts'
import { checkDataFolder } from './data-folder.ts'
import { openEnvironment } from './environment.ts'
import { type FileSources, materialize, workspaceFilesOf } from './files.ts'
import { paths } from './paths.ts'
import { prepareDoors } from './prepare.ts'
import { systemRandom } from './random.ts'
import { readModelOf, type Tables } from './read-model.ts'

/** What a program brings beside its settings. */
export interface Own {
  readonly tools?: readonly Tool[]
  readonly scripts?: Readonly<Record<string, ScriptInput>>
}

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
  const opened: (() => Promise<void> | void)[] = [() => log.close()]
  const closeAll = async () => {
    for (const close of opened.reverse()) await close()
  }
  try {
    const vault = await openVault({ dataFolder: config.data })
    const models = createModels({
      env: process.env,
      models: config.models,
      dataFolder: config.data,
      ...(own.scripts && { scripts: own.scripts }),
    })
    const short = models.unhidableKeys()
    if (mode === 'owner' && short.length > 0)
      process.stderr.write(
        `keepup: ${short.join(', ')}: too short to be hidden, so not looked for in what is recorded\n`,
      )
    const blobs = new FileBlobs(at.blobs)
    const snapshots = SqliteSnapshots.open(at.snapshots, (path) => rmSync(path, { force: true }))
    opened.push(() => snapshots.close())
    const stores = { log, blobs, snapshots }
    const tools = [...workspaceTools(), ...(own.tools ?? [])]
    const parts = { ...stores, clock, vault, models, tools }
    const tables = mode === 'owner' ? await liveTables(at.tables, stores, opened) : frozenTables(at.tables, opened)
    const files: FileSources = {
      dataFolder: config.data,
      stateAt: (agentId, point) => stateAt(stores, agentId, point),
      boundary: (spec) => openBoundary(vault, models.knownSecrets(), spec),
    }
    return createKeepUp({
      runtime: (live) => new Runtime(runtimePorts(config, log, { ...parts, feed: live })),
      log,
      blobs,
      read: readModelOf(tables, log, {
        log,
        blobs,
        messagesAt: async (agentId, revision) => (await agentAt(stores, agentId, { revision })).messages,
      }),
      files: workspaceFilesOf(files),
      vault,
      clock,
      random: systemRandom,
      prepare: prepareDoors(config, models, vault, tools),
      fork: forkDoor(config, log, parts, files),
      backup: (folder) => backupFolder(config.data, log, folder),
      sizes: async () => new Map((await log.sizes()).map((size) => [size.runId, size.bytes + size.blobBytes])),
      readOnly: mode === 'reader',
      autoDrive,
      concurrency: config.concurrency,
      onFault: (agentId, error) => process.stderr.write(`${agentId}: ${told(error)}\n`),
      close: closeAll,
    })
  } catch (error) {
    await closeAll()
    throw error
  }
}

type Stores = Pick<RuntimePorts, 'log' | 'blobs' | 'snapshots'>

interface Parts {
  readonly vault: Vault
  readonly models: Models
  readonly tools: readonly Tool[]
  readonly clock: Clock
}

function runtimePorts(
  config: Config,
  log: SqliteLog,
  parts: Omit<Stores, 'log'> & Parts & { feed: RuntimePorts['feed'] },
): RuntimePorts {
  const { vault, models, feed, blobs, snapshots, clock } = parts
  const tools = new Map(parts.tools.map((tool) => [tool.spec.name, tool]))
  const boundary = (spec: Pick<AgentSpec, 'secrets' | 'policy'>) => openBoundary(vault, models.knownSecrets(), spec)
  const crash = crashPoint(process.env)
  return {
    log,
    blobs,
    ...(snapshots === undefined ? {} : { snapshots }),
    clock,
    random: systemRandom,
    feed,
    build: VERSION,
    patienceMs: config.fullPatienceMs,
    warn,
    provider: (id) => models.provider(id),
    tool: (name) => tools.get(name),
    secrets: async (spec) => (await boundary(spec)).secrets,
    environment: async (spec, { agentId, driverId }) =>
      openEnvironment(config.data, spec, driverId, await boundary(spec), (text) => warn(agentId, text)),
    ...(crash === null ? {} : { crashPoint: crash }),
  }
}

const warn = (agentId: string, message: string): void => void process.stderr.write(`${agentId}: ${message}\n`)

/** A fork never works in its source's folder: the files of its point go into a new one, beside it where none is named. */
function forkDoor(
  config: Config,
  log: SqliteLog,
  parts: Omit<Stores, 'log'> & Parts,
  files: FileSources,
): Services['fork'] {
  return async (source, at, options, request) => {
    const runtime = new Runtime(runtimePorts(config, log, { ...parts, feed: { publish() {} } }))
    const { workspace, ...rest } = options
    const { state } = await stateAt({ log, ...parts }, source, at)
    if (state.spec.workspace === null) return runtime.fork(source, at, rest, request)
    const beside = `${state.spec.workspace.path}-${base32(systemRandom.bytes(5))}`
    const folder = await materialize(files, source, at, workspace ?? beside)
    try {
      return await runtime.fork(source, at, { ...rest, workspace: folder }, request)
    } catch (error) {
      await rm(folder.path, { recursive: true, force: true })
      throw error
    }
  }
}

/** Where it is known what to do, that; else where it happened. */
const told = (error: unknown): string =>
  asProblem(error)?.message ?? (error instanceof Error ? (error.stack ?? error.message) : String(error))

type Opened = (() => Promise<void> | void)[]

async function liveTables(folder: string, stores: Stores, opened: Opened): Promise<Tables> {
  const projections = await Projections.open({ folder, log: stores.log, blobs: stores.blobs })
  const end = new AbortController()
  const running = projections.run(end.signal).catch((error: unknown) => {
    process.stderr.write(`projections: ${told(error)}\n`)
  })
  opened.push(async () => {
    end.abort()
    await running
    await projections.close()
  })
  return { read: (query) => projections.read(query), projections }
}

function frozenTables(folder: string, opened: Opened): Tables {
  const readers = new Readers(folder)
  opened.push(() => readers.close())
  return { read: (query) => readers.use(query), projections: null }
}
