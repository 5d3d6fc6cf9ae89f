import { mkdirSync, rmSync } from 'node:fs'
import { FileBlobs } from '../../adapters/files/blobs/store.ts'
import type { SqliteLog } from '../../adapters/sqlite/log/log.ts'
import { openSqliteLog } from '../../adapters/sqlite/log/open.ts'
import { SqliteSnapshots } from '../../adapters/sqlite/snapshots.ts'
import { SqliteTreeStore } from '../../adapters/sqlite/tree-store.ts'
import { openVault } from '../../adapters/vault/file-vault.ts'
import { logKeyFile } from '../../adapters/vault/log-key.ts'
import { SystemClock } from '../../api/process/host/clock.ts'
import { paths } from '../../api/process/host/paths.ts'
import { systemRandom } from '../../api/process/host/random.ts'
import { openBoundary } from '../../api/process/host/secret-boundary.ts'
import { Runtime } from '../../domain/agent/runtime/runtime.ts'
import { AGGREGATES } from '../../domain/kinds.ts'
import type { ModelProvider } from '../../domain/ports/index.ts'
import { LogSigner } from '../../domain/proof/runtime/log-signer.ts'
import { Streams } from '../../domain/stream/runtime/streams.ts'
import type { AgentSpec } from '../../domain/tree/spec.ts'
import { Projections } from '../../projections/index.ts'
import { benchModel, benchSpec, type OnTurn, readFile } from './agent.ts'

/** The embedded default in one data folder, with a model and a tool that cost nothing. */
export interface Embedded {
  readonly log: SqliteLog
  /** Runs an agent to its end. Returns its id. */
  run(turns: number, onTurn?: OnTurn): Promise<string>
  /** The same with a model and a spec of one's own. */
  runWith(model: ModelProvider, spec: AgentSpec): Promise<string>
  /** Resolves when the tables show everything that is in the log. */
  shown(): Promise<void>
  close(): Promise<void>
}

/**
 * Opens it as api/process/embedded does: log, blobs, snapshots, secret boundary, tables that follow the log, and signed
 * heads. `signed` false: without the tree and its heads.
 */
export async function openEmbedded(data: string, { signed = true } = {}): Promise<Embedded> {
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const at = paths(data)
  const log = await openSqliteLog({ folder: at.log, mode: 'owner', clock: new SystemClock(), random: systemRandom })
  const vault = await openVault({ dataFolder: data, env: {} })
  const blobs = new FileBlobs(at.blobs)
  const snapshots = SqliteSnapshots.open(at.snapshots, (path) => rmSync(path, { force: true }))
  const projections = await Projections.open({ folder: at.tables, log, blobs })
  const end = new AbortController()
  const following = projections.run(end.signal)
  const signing = signed ? openSigner(data, log, blobs) : null
  const tool = readFile()
  const runtimeOf = (model: ModelProvider) =>
    new Runtime({
      ...{ log, blobs, snapshots, clock: new SystemClock(), random: systemRandom, build: 'bench' },
      feed: { publish: () => undefined },
      provider: () => model,
      hasTool: (name) => name === tool.spec.name,
      secrets: async (spec) => (await openBoundary(vault, [KEY], spec)).secrets,
      environment: async (spec) => ({
        workspace: null,
        sandbox: null,
        tool: (name) => (name === tool.spec.name ? tool : undefined),
        secrets: (await openBoundary(vault, [KEY], spec)).secrets,
        reap: async () => undefined,
        close: async () => undefined,
      }),
    })
  const runWith = async (model: ModelProvider, spec: AgentSpec) => {
    const runtime = runtimeOf(model)
    const runId = runtime.newRunId()
    const by = { kind: 'user', id: 'bench', claimed: true } as const
    await runtime.execute(runId, { kind: 'start', spec, task: 'Read the files.' }, { by })
    const ended = await runtime.drive(runId, { signal: new AbortController().signal })
    if (ended.end !== 'done') throw new Error(`the measured run did not complete: ${JSON.stringify(ended)}`)
    return runId
  }
  return {
    log,
    runWith,
    run: (turns, onTurn) => runWith(benchModel(turns, onTurn), benchSpec(turns)),
    shown: async () => projections.caughtUpTo(await log.headCursor()),
    async close() {
      end.abort()
      await following
      await signing?.close()
      await projections.close()
      await log.close()
      snapshots.close()
    },
  }
}

/** Signs the heads of a log as api/process/embedded does. */
export function openSigner(data: string, log: SqliteLog, blobs: FileBlobs) {
  const at = paths(data)
  const ports = { log, clock: new SystemClock(), random: systemRandom }
  const store = new SqliteTreeStore(at.tree, 'owner', (...range) => log.hashes(...range))
  const streams = new Streams({ ...ports, blobs, hide: async (value) => value }, AGGREGATES)
  const signer = LogSigner.start({
    ...{ ...ports, store, streams, keys: logKeyFile(at.logKey), origin: 'keepup.local/bench' },
    acceptedLosses: async () => 0,
    warn: (text) => process.stderr.write(`${text}\n`),
  })
  return {
    sign: () => signer.sign(),
    async close() {
      await signer.close()
      store.close()
    },
  }
}

const KEY = 'sk-bench-0123456789abcdef0123456789abcdef'
