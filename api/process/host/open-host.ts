import { rmSync } from 'node:fs'
import type { CliAgent } from '../../../adapters/agents/process/cli-agent.ts'
import type { McpPool } from '../../../adapters/mcp/pool.ts'
import { createModels, type ModelRegistry, PROVIDER_KEYS } from '../../../adapters/models/registry.ts'
import type { ScriptInput } from '../../../adapters/models/scripted/script.ts'
import { SqliteSnapshots } from '../../../adapters/sqlite/snapshots.ts'
import { openVault } from '../../../adapters/vault/file-vault.ts'
import { keyTexts } from '../../../adapters/vault/keys.ts'
import { webTools } from '../../../adapters/web/web-tools.ts'
import { workspaceTools } from '../../../adapters/workspace/tools/builtin.ts'
import type { RoleFile } from '../../../domain/agent/definition/role-file-schema.ts'
import type { AgentBackend } from '../../../domain/ports/external.ts'
import type { ModelProvider, SnapshotStore, Tool, Vault } from '../../../domain/ports/index.ts'
import type { RuntimePorts } from '../../../domain/ports/runtime.ts'
import { unhidable } from '../../../domain/secrets/forms.ts'
import { operatorText, type Tell } from '../../operations/notices.ts'
import type { Config } from '../config/settings.ts'
import { rememberDataFolder } from './known-folders.ts'
import { mcpPool, secretOf, secretsOfTools } from './outside-tools.ts'
import { paths } from './paths.ts'
import { vaultKeys } from './vault-keys.ts'

/** The parts that the embedding program adds to the settings. */
export interface Own {
  readonly tools?: readonly Tool[]
  readonly scripts?: Readonly<Record<string, ScriptInput>>
  /** Model providers by name, for `own:<name>`. */
  readonly providers?: Readonly<Record<string, ModelProvider>>
  /** Roles, in addition to those of the folder and the built-in ones. */
  readonly roles?: readonly RoleFile[]
  /** Backends for external agents, in addition to the built-in ones. */
  readonly agents?: readonly (AgentBackend | CliAgent)[]
  /** Reports warnings. Absent: stderr. */
  readonly tell?: Tell
  /** The time for which a start on servers waits for PostgreSQL, in ms. Default: 10,000. */
  readonly patienceMs?: number
  /** A reader makes the tables in a temporary folder, as on a read-only file system. */
  readonly archive?: true
  /** For fault tests. */
  readonly crashPoint?: NonNullable<RuntimePorts['crashPoint']>
}

/** The parts of this host, independent of the storage: its secrets, models, tools, and a cache. */
export interface Host extends Pick<Own, 'crashPoint' | 'agents' | 'roles'> {
  readonly mcp: McpPool
  readonly config: Config
  readonly vault: Vault
  readonly models: ModelRegistry
  readonly tools: readonly Tool[]
  readonly snapshots: SnapshotStore
  /** Values to hide in all runs. */
  readonly knownSecrets: readonly string[]
  readonly tell: Tell
  /** False: the host has no data folder, so runs have no workspace. */
  readonly keepsFiles: boolean
}

/** Closes all resources in reverse order. Closes the rest before it reports a failure. */
export class Opened {
  readonly #closers: (() => Promise<void> | void)[] = []

  push(close: () => Promise<void> | void): void {
    this.#closers.push(close)
  }

  async closeAll(): Promise<void> {
    const failed: unknown[] = []
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) {
      try {
        await close()
      } catch (error) {
        failed.push(error)
      }
    }
    if (failed.length > 1) throw new AggregateError(failed, failed.map(operatorText).join('\n'))
    if (failed.length === 1) throw failed[0]
  }
}

interface HostOptions {
  /** The servers' passwords, which all runs must hide too. */
  readonly passwords?: readonly string[]
  /** A host in memory. Absent: the vault and the snapshots are files of the data folder. */
  readonly stores?: Pick<Host, 'vault' | 'snapshots'>
}

/** Opens the part of a host that does not depend on the storage of events. */
export async function openHost(
  config: Config,
  own: Own,
  opened: Opened,
  tell: Tell,
  { passwords = [], stores }: HostOptions = {},
): Promise<Host> {
  const { vault, snapshots } = stores ?? (await openStores(config, passwords, opened))
  const models = createModels({
    env: process.env,
    models: config.models,
    rateLimits: config.rateLimits,
    dataFolder: config.data,
    ...(own.scripts && { scripts: own.scripts }),
    ...(own.providers && { providers: own.providers }),
  })
  const short = [...models.unhidableKeys()]
  const hidden = passwords.filter((password) => unhidable(password) === null)
  if (hidden.length < passwords.length) short.push('a password in KEEPUP_EVENTSTORE or KEEPUP_POSTGRES')
  const secret = (name: string) => secretOf(vault, name)
  const mcp = mcpPool(config, secret, tell)
  opened.push(() => mcp.close())
  const named = [
    ...secretsOfTools(config),
    ...config.webhooks.map(({ secret }) => secret),
    ...Object.values(config.telemetry?.headers ?? {}),
  ]
  const used = await Promise.all(named.map((name) => vault.get(name)))
  short.push(...named.filter((_, i) => used[i] !== null && !isHidable(used[i] ?? null)))
  if (short.length > 0)
    tell(`${short.join(', ')}: too short to be hidden, or an ordinary word, so not looked for in what is recorded`)
  return {
    config,
    vault,
    models,
    tools: [...workspaceTools(), ...(config.web === null ? [] : webTools(config.web, secret)), ...(own.tools ?? [])],
    mcp,
    snapshots,
    tell,
    keepsFiles: stores === undefined,
    ...(own.crashPoint && { crashPoint: own.crashPoint }),
    ...(own.agents && { agents: own.agents }),
    ...(own.roles && { roles: own.roles }),
    knownSecrets: [
      ...models.knownSecrets(),
      ...used.filter(isHidable),
      ...hidden,
      ...(stores === undefined ? keyTexts(vaultKeys(config)) : []),
    ],
  }
}

async function openStores(config: Config, passwords: readonly string[], opened: Opened) {
  rememberDataFolder(config.data)
  const keys = vaultKeys(config)
  const vault = await openVault({ dataFolder: config.data, keys, secretNames: PROVIDER_KEYS, settings: passwords })
  const snapshots = SqliteSnapshots.open(paths(config.data).snapshots, (path) => rmSync(path, { force: true }))
  opened.push(() => snapshots.close())
  return { vault, snapshots }
}

const isHidable = (value: string | null): value is string => value !== null && unhidable(value) === null
