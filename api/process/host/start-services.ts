import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createSandbox } from '../../../adapters/sandbox/bubblewrap.ts'
import { openWorkspace } from '../../../adapters/workspace/open.ts'
import { MEMORY_CONTROL_TOOLS } from '../../../domain/agent/control/memory-tools.ts'
import { controlTools, MESSAGE_TOOLS } from '../../../domain/agent/control/registry.ts'
import { echo } from '../../../domain/log/issues.ts'
import { unhidable } from '../../../domain/secrets/forms.ts'
import { reference } from '../../../domain/secrets/redactor.ts'
import { Problem } from '../../operations/problem.ts'
import type { PrepareServices, StartWorkspace } from '../../operations/runs/prepare-start.ts'
import { VERSION } from '../../version.ts'
import { hiddenFrom, refuseSecretsIn } from '../files/hidden-paths.ts'
import { givenBackends } from './given-backends.ts'
import { knownKnowledge } from './known-knowledge.ts'
import { refuseUnknownModel } from './known-model.ts'
import { knownRoles } from './known-roles.ts'
import type { Host } from './open-host.ts'
import { servedTools } from './outside-tools.ts'
import { openBoundary, unusable } from './secret-boundary.ts'

/** The model of runs that name none. */
export const DEFAULT_MODEL = 'claude-sonnet-5-5'

/** The parts of a host for preparing runs. */
export type PreparingHost = Pick<
  Host,
  'config' | 'models' | 'vault' | 'tools' | 'mcp' | 'knownSecrets' | 'agents' | 'roles' | 'keepsFiles'
>

/** Builds the services for preparing runs. */
export function prepareServices(host: PreparingHost): PrepareServices {
  const { config, models, vault, tools, mcp, knownSecrets } = host
  return {
    roles: () => knownRoles(config, tools, host.roles),
    model(id) {
      refuseUnknownModel(models, id)
      // A missing key or script fails here, before anything is recorded.
      models.provider(id)
      return models.info(id)
    },
    defaultModel: config.model ?? DEFAULT_MODEL,
    safeDefaultModel: config.safeDefaultModel,
    ...(config.routing && { routing: config.routing }),
    cache: config.requestCache,
    async tools(role, workspace) {
      const served = await servedTools(mcp, workspace)
      return {
        specs: [
          ...controlTools(role),
          ...[...MEMORY_CONTROL_TOOLS, ...MESSAGE_TOOLS].map(({ spec }) => spec),
          ...tools.map((tool) => tool.spec),
          ...served.specs,
        ],
        faults: served.faults,
      }
    },
    async workspace(path, about): Promise<StartWorkspace> {
      if (!host.keepsFiles) {
        const what = `${path}: keepup in memory keeps no versions of files, so its runs have no workspace; open a data folder`
        throw new Problem('INVALID_REQUEST', what)
      }
      // The snapshot before the run is stored too, so it must hide the secrets as well.
      const { versions } = await openBoundary(vault, knownSecrets, about)
      const workspace = await openWorkspace(path, { dataFolder: config.data, secrets: versions })
      await refuseSecretsIn(workspace.path, config)
      const tree = await workspace.versions.snapshot()
      return { path: workspace.path, tree, testCommand: await ownTestCommand(workspace.path) }
    },
    async sandboxFault(path) {
      try {
        const hide = await hiddenFrom(config, path)
        await createSandbox({ workspace: path, hide, readable: config.sandboxReadable, dataFolder: config.data })
        return null
      } catch (error) {
        return (error as Error).message
      }
    },
    async secret(name) {
      const webhook = config.webhooks.find(({ secret }) => secret === name)
      if (webhook !== undefined) {
        const what = `${name} signs the notices of the webhook ${webhook.name}, so no run can have it; name another secret`
        throw new Problem('SECRET_INVALID', what)
      }
      if (Object.values(config.telemetry?.headers ?? {}).includes(name)) {
        const what = `${name} opens the collector of "telemetry", so no run can have it; name another secret`
        throw new Problem('SECRET_INVALID', what)
      }
      const value = await vault.get(name)
      if (value === null) {
        const asked = echo(name)
        const what = `no value for ${asked}; set the variable, or: keepup secrets set ${asked}`
        throw new Problem('UNKNOWN_SECRET', what)
      }
      const fault = unhidable(value)
      if (fault !== null) throw unusable(name, fault)
      return { name, reference: reference(await vault.referenceKey(), value) }
    },
    sandboxed: config.sandboxed,
    retry: config.retry,
    context: config.context,
    knowledge: () => knownKnowledge(config.knowledge, dirname(config.file ?? join(config.data, 'keepup.json'))),
    delegation: config.delegation,
    backends: () => givenBackends(host),
    build: VERSION,
  }
}

/** `npm test` if the folder's package.json has a test script. */
async function ownTestCommand(folder: string): Promise<readonly string[] | null> {
  try {
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      scripts?: { test?: unknown }
    }
    return typeof manifest.scripts?.test === 'string' ? ['npm', 'test'] : null
  } catch {
    return null
  }
}
