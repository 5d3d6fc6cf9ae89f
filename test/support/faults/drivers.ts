import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { createModels } from '../../../adapters/models/registry.ts'
import { createUnconfined } from '../../../adapters/sandbox/unconfined.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { openVault } from '../../../adapters/vault/file-vault.ts'
import { openWorkspace } from '../../../adapters/workspace/open.ts'
import { workspaceTools } from '../../../adapters/workspace/tools/builtin.ts'
import { createStarts } from '../../../api/operations/runs/prepare-start.ts'
import { loadConfig } from '../../../api/process/config/settings.ts'
import { SystemClock } from '../../../api/process/host/clock.ts'
import { mcpPool } from '../../../api/process/host/outside-tools.ts'
import { paths } from '../../../api/process/host/paths.ts'
import { systemRandom } from '../../../api/process/host/random.ts'
import { openBoundary } from '../../../api/process/host/secret-boundary.ts'
import { prepareServices } from '../../../api/process/host/start-services.ts'
import { Runtime } from '../../../domain/agent/runtime/runtime.ts'
import type { CrashPoint, RuntimePorts } from '../../../domain/ports/runtime.ts'
import type { AgentSpec } from '../../../domain/tree/spec.ts'
import type { Place } from './cli.ts'

const USER = { kind: 'user', id: 'ada' } as const

/**
 * Several runtimes over one SQLite log, each of which believes to be the driver, with the real tools in one workspace.
 * The workspace's lock, which excludes a second driver on this host, is not used: drivers on other hosts do not see it.
 */
export async function driversOf(place: Place, model: string) {
  const at = paths(place.data)
  const config = loadConfig({ flags: { data: place.data }, env: {} })
  const log = await openSqliteLog({ folder: at.log, mode: 'owner' })
  const vault = await openVault({ dataFolder: place.data, env: {} })
  const models = createModels({ env: {}, models: [] })
  const tools = new Map(workspaceTools().map((tool) => [tool.spec.name, tool]))
  const boundary = (spec: Pick<AgentSpec, 'secrets' | 'policy'>) => openBoundary(vault, [], spec)
  const ports: RuntimePorts = {
    log,
    blobs: new FileBlobs(at.blobs),
    clock: new SystemClock(),
    random: systemRandom,
    feed: { publish() {} },
    build: 'test',
    provider: (id) => models.provider(id),
    hasTool: (name) => tools.has(name),
    secrets: async (spec) => (await boundary(spec)).secrets,
    environment: async (spec, { driverId }) => {
      const { secrets, versions } = await boundary(spec)
      const workspace = await openWorkspace(place.workspace, { dataFolder: place.data, secrets: versions })
      const sandbox = createUnconfined({ workspace: workspace.path, dataFolder: place.data, driverId })
      return {
        workspace,
        sandbox,
        secrets,
        tool: (name) => tools.get(name),
        reap: async () => {},
        close: async () => {},
      }
    },
  }
  const runtime = (pass: (name: CrashPoint) => Promise<void> = async () => {}) =>
    new Runtime({ ...ports, crashPoint: pass })

  /** Records a run with a standing approval for all of its calls. */
  async function start(task: string): Promise<string> {
    const mcp = mcpPool(
      config,
      async () => '',
      () => undefined,
    )
    const knownSecrets = models.knownSecrets()
    const host = { config, models, vault, mcp, knownSecrets, tools: [...tools.values()], keepsFiles: true }
    const { prepare } = createStarts(prepareServices(host))
    const spec = await prepare({
      model,
      workspace: place.workspace,
      policy: { sandboxed: false },
      drive: false,
    } as Parameters<typeof prepare>[0])
    const own = runtime()
    const runId = own.newRunId()
    await own.execute(runId, { kind: 'start', spec, task }, { by: USER })
    await own.execute(runId, { kind: 'standing_approval', tools: ['write_file', 'run_command'] }, { by: USER })
    return runId
  }
  return { runtime, start, log, close: () => log.close() }
}

/** Stops the first caller that passes the point `at`, until it is released. */
export function holdAt(at: (name: CrashPoint, n: number) => boolean) {
  const held = Promise.withResolvers<CrashPoint>()
  const gate = Promise.withResolvers<void>()
  const passed: CrashPoint[] = []
  const pass = async (name: CrashPoint) => {
    passed.push(name)
    if (!at(name, passed.length)) return
    held.resolve(name)
    await gate.promise
  }
  return { pass, passed, held: held.promise, letGo: () => gate.resolve() }
}
