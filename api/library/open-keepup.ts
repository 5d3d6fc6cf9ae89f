import { join } from 'node:path'
import type { z } from 'zod'
import type { CliAgent } from '../../adapters/agents/process/cli-agent.ts'
import { parseRole, RoleFileError } from '../../adapters/files/roles/parse-role.ts'
import type { ScriptInput } from '../../adapters/models/scripted/script.ts'
import type { KnownNames, RoleFile } from '../../domain/agent/definition/role-file-schema.ts'
import { wireName } from '../../domain/calls/tools/tool-spec.ts'
import { LogError } from '../../domain/log/errors.ts'
import type { AgentBackend } from '../../domain/ports/external.ts'
import type { ModelProvider, Tool } from '../../domain/ports/index.ts'
import { ConfigError, ConfigSchema, loadConfig } from '../process/config/settings.ts'
import { namesFor } from '../process/host/known-roles.ts'
import type { KeepUp } from './keepup.ts'
import { specFaults } from './tool-kit/spec.ts'

type Settings = z.input<typeof ConfigSchema>

/** A data folder, and the other settings. */
export interface KeepUpOptions extends KeepUpSettings {
  /** The data folder. A missing folder is created. */
  readonly data: string
  readonly home?: never
}

/**
 * For tests: log, tables, secrets and positions are in memory, and no file is written. Everything ends with `close`. Runs have no
 * workspace, external agents do not start, and nothing is signed or asked in SQL.
 */
export interface MemoryOptions extends KeepUpSettings {
  readonly home: 'memory'
  readonly data?: never
}

/** The settings of api/docs/settings.md, those of `keepup.json` and those of the command line, and the parts of a program. */
export interface KeepUpSettings extends Partial<Omit<Settings, 'data' | 'roles' | 'agents'>> {
  /**
   * Tools of this program, named `server:tool`. Each run records their schemas, and may use them if the phase of its
   * role allows it.
   */
  readonly tools?: readonly Tool[]
  /** Scripts for `scripted:<name>` models, by name, for tests without a model. */
  readonly scripts?: Readonly<Record<string, ScriptInput>>
  /**
   * Model providers of this program by name: a run with the model `own:<name>` calls one. The setting `models` has
   * its limits and price: `{ id: 'own:acme', contextTokens: 32_000 }`. Only a program that has the provider can
   * drive the run.
   */
  readonly providers?: Readonly<Record<string, ModelProvider>>
  /**
   * The folder of role files, or roles with their phases and gates as objects with the members of a role file. An object takes
   * the place of the file of the same name in the folder `roles` of the data folder.
   */
  readonly roles?: string | null | readonly RoleInput[]
  /**
   * Backends of this program for external agents, in addition to claude_code, codex, gemini and opencode: a program, or
   * any other kind. An object is the setting `agents`.
   */
  readonly agents?: readonly (AgentBackend | CliAgent)[] | Settings['agents']
}

/** A role in the form of a role file (api/docs/roles.md): name, prompt, phases, tools, gates and limits. */
export type RoleInput = z.input<typeof RoleFile>

/** The data folder of a home in memory. Nobody can make it, because its parent is a file. */
const NO_FOLDER = join(import.meta.filename, 'memory')

const SETTINGS: readonly string[] = Object.keys(ConfigSchema.shape)

function checkTools(tools: readonly Tool[]): void {
  const seen = new Set<string>()
  tools.forEach((tool, i) => {
    const [fault] = specFaults(tool)
    if (fault !== undefined) throw new ConfigError(`tools[${i}]: ${fault}`)
    const name = wireName(tool.spec.name)
    if (seen.has(name)) throw new ConfigError(`tools[${i}]: another tool looks like "${name}" to the model; rename one`)
    seen.add(name)
  })
}

/** Checks roles as their files are checked. Throws a ConfigError that names the member. */
function rolesOf(roles: readonly RoleInput[], names: KnownNames): readonly RoleFile[] {
  const parsed = roles.map((role, i) => {
    try {
      return parseRole(JSON.stringify(role), `roles[${i}]`, names)
    } catch (error) {
      throw error instanceof RoleFileError ? new ConfigError(error.message, { cause: error }) : error
    }
  })
  const twice = parsed.find(({ name }, i) => parsed.findIndex((one) => one.name === name) !== i)
  if (twice !== undefined) throw new ConfigError(`roles: two are called "${twice.name}"; rename one`)
  return parsed
}

/**
 * Opens a data folder with embedded storage: SQLite log and tables, files, and the models. This process owns the folder
 * until `close`. The `keepup` command in other processes reads next to it, and sends its commands to this process. With
 * `home: 'memory'` nothing is stored, and neither `KEEPUP_…` variables nor `keepup.json` are read; the keys of models and
 * the secrets that runs name come from variables as always.
 * Missing settings come from `KEEPUP_…` variables, then from `keepup.json` in the folder. With `eventstore` and `postgres` the log
 * and the tables are on servers.
 *
 * Rejects with a ConfigError for an invalid setting or tool, and with a LogError `LOG_LOCKED` if another process owns the
 * folder.
 *
 *   const keepup = await openKeepUp({ data: './data', tools: [addTodo] })
 *   const { runId } = await keepup.start({ task: 'Put milk on the list', model: 'claude-sonnet-5-5', workspace: '.' })
 *   const end = await keepup.drive(runId, { onText: (text) => process.stdout.write(text) })
 *   for await (const event of keepup.follow(runId)) console.log(event.turn, event.type)
 *   await keepup.close()
 */
export async function openKeepUp(options: KeepUpOptions | MemoryOptions): Promise<KeepUp> {
  const { tools = [], scripts = {}, providers = {}, home, ...rest } = options
  // Arrays are parts of this program, other values are settings.
  const ours = <T>(value: unknown) => (Array.isArray(value) ? (value as readonly T[]) : [])
  const setting = (value: unknown) => (Array.isArray(value) ? undefined : value)
  const flags = { ...rest, agents: setting(rest.agents), roles: setting(rest.roles) }
  const unknown = Object.keys(flags).find((key) => !SETTINGS.includes(key))
  if (unknown !== undefined) {
    throw new ConfigError(
      `unknown option "${unknown}"; known are ${['home', ...SETTINGS, 'tools', 'scripts', 'providers'].join(', ')}`,
    )
  }
  if (home !== undefined && home !== 'memory')
    throw new ConfigError(`home: "${home}" is unknown; leave it out and name a folder in data, or give "memory"`)
  if (home === 'memory' && options.data !== undefined)
    throw new ConfigError(`data: a home in memory has no folder; give either data or home`)
  if (home !== 'memory' && !options.data) throw new ConfigError('data: name a folder')
  checkTools(tools)
  const config = loadConfig(
    home === 'memory' ? { flags: { ...flags, data: NO_FOLDER }, env: {} } : { flags, env: process.env },
  )
  for (const text of config.deprecations ?? []) process.emitWarning(text, 'DeprecationWarning')
  const roles = rolesOf(ours<RoleInput>(rest.roles), namesFor(config, tools))
  // An older Node must reach the check of its version, and it cannot link node:sqlite.
  const [{ openServices }, { localBackend }, { keepUpOf }] = await Promise.all([
    import('../process/open-services.ts'),
    import('../process/owner/local.ts'),
    import('./keepup.ts'),
  ])
  const own = { tools, scripts, providers, agents: ours<AgentBackend | CliAgent>(rest.agents), roles }
  if (home === 'memory') {
    const { openMemory } = await import('../process/memory/open-memory.ts')
    const services = await openMemory(config, own)
    return keepUpOf(services, config, () => services.close())
  }
  const services = await openServices(config, 'owner', { autoDrive: false }, own).catch((error: unknown) => {
    if (!(error instanceof LogError && error.code === 'LOG_LOCKED')) throw error
    const hint = `another process owns ${config.data}; end it, name another folder, or use the keepup command`
    throw new LogError('LOG_LOCKED', hint, { cause: error })
  })
  const backend = await localBackend(services, {
    config,
    env: process.env,
    tcp: false,
    onFault: (error, path) => process.emitWarning(`keepup: ${path}: ${error instanceof Error ? error.message : error}`),
  })
  await services.access.state()
  return keepUpOf(services, config, () => backend.close())
}
