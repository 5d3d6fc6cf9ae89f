import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { z } from 'zod'
import { AgentSettings } from '../../../adapters/agents/process/settings.ts'
import { McpServers } from '../../../adapters/mcp/settings.ts'
import { ModelEntry, RateLimits } from '../../../adapters/models/catalog.ts'
import { WebSettings } from '../../../adapters/web/settings.ts'
import { partly } from '../../../domain/agent/definition/optional-members.ts'
import {
  ContextManagementConfig,
  ErrorRecoveryPolicy,
  KNOWLEDGE_SOURCES,
  Knowledge,
  TreeLimits,
} from '../../../domain/agent/definition/spec.ts'
import { HealthThresholds, RoutingConfig } from '../../../domain/agent/routing/decision.ts'
import { issueText } from '../../../domain/log/issues.ts'
import { jsonFault } from '../../../domain/log/json-fault.ts'
import { isPlain, PLAIN } from '../../operations/text/plain-text.ts'
import { isNear } from '../../operations/text/spelling.ts'
import { EXAMPLES } from './examples.ts'
import { absolutePaths, flag, int, list } from './text.ts'

/** A comma behind user and password, before the database: the client would look for a host of that name. */
const SEVERAL_HOSTS = /^\w+:\/\/(?:.*@)?[^/?@]*,[^@]*$/

/** Knowledge in the settings: a `text`, or a `file`, relative to the settings, that is read when a run is started. */
export const KnowledgeSetting = z
  .strictObject({
    ...partly(Knowledge.omit({ kind: true })).shape,
    file: z.string().min(1).optional(),
  })
  .refine(({ file, text }) => (file === undefined) !== (text === undefined), 'give either file or text')
  .refine(({ name, text }) => text === undefined || name !== undefined, 'name: a text needs one')
export type KnowledgeSetting = z.infer<typeof KnowledgeSetting>

/** Every setting. Flags and environment give text, the file gives JSON; both end here. Times in ms. */
export const ConfigSchema = z.strictObject({
  data: z.string().min(1),
  /** Address to serve on. Anything but loopback shows the API to the network. */
  host: z.string().min(1).default('127.0.0.1'),
  port: int(z.int().min(0).max(65_535)).default(7433),
  /** Host names that are served beside the loopback ones. */
  hosts: list.default([]),
  /** The model of runs that name none; null: the catalogue's default. */
  model: z.string().min(1).nullable().default(null),
  /** The model to use where routing fails; null: the requested one. */
  safeDefaultModel: z.string().min(1).nullable().default(null),
  /** Own entries of the model catalogue. */
  models: z.array(ModelEntry).default([]),
  /** The rules that choose the models of runs that name none; null: they have `model`. */
  routing: RoutingConfig.nullable().default(null),
  /** When a model counts as unhealthy. */
  modelHealth: partly(HealthThresholds).default({}),
  /** Requests a minute by provider, for all runs that use its key; what a provider says itself always counts. */
  rateLimits: RateLimits.default({}),
  /** True: runs may have answers from the request cache unless they say otherwise. */
  requestCache: flag.default(false),
  /** The folder of the user's roles, one JSON file each; null: `roles` in the data folder. */
  roles: z.string().refine(isAbsolute, 'expected the absolute path of a folder').nullable().default(null),
  /** The web tools; null: agents have none. */
  web: WebSettings.nullable().default(null),
  /** MCP servers by name, whose tools agents may be given. */
  mcp: McpServers.default({}),
  /** Other agents: what requests over the network may give them, and programs that speak the Agent Client Protocol. */
  agents: AgentSettings.default(AgentSettings.parse({})),
  /** How runs that say nothing of it retry what failed. */
  retry: partly(ErrorRecoveryPolicy).default({}),
  /** When and how the contexts of runs that say nothing of it are compressed. */
  context: partly(ContextManagementConfig).default({}),
  /** Knowledge that agents are given of the place they work in; each source for all of them, or for some roles or phases. */
  knowledge: z.array(KnowledgeSetting).max(KNOWLEDGE_SOURCES).default([]),
  /** The limits of the trees of runs that say nothing of it; null: their agents start no others. */
  delegation: partly(TreeLimits).nullable().default({}),
  /** The asking person, where a command does not say; null: the OS user. */
  by: z.string().min(1).max(200).refine(isPlain, PLAIN).nullable().default(null),
  maxBodyBytes: int(z.int().min(1024)).default(1024 * 1024),
  heartbeatMs: int(z.int().min(10)).default(15_000),
  /** Runs that this process drives at once; others wait for their turn. */
  concurrency: int(z.int().min(1)).default(32),
  /** Agents of one run that are at work at once. */
  agentsAtOnce: int(z.int().min(1).max(100)).default(5),
  /** How long what is at work may take when a process ends. */
  drainMs: int(z.int().min(0)).default(10_000),
  /** How long an outcome that finds no room on the disk is retried, ms. */
  fullPatienceMs: int(z.int().min(0)).default(300_000),
  /** With `postgres`: the connection string of the EventStoreDB that holds the log, which many processes then share. */
  eventstore: z
    .string()
    .regex(/^\s*esdb(\+discover)?:\/\//, 'expected esdb://host:port…')
    .nullable()
    .default(null),
  /** Streams of the log are named so, and the schemas of the tables: two deployments on one pair of servers. */
  namespace: z
    .string()
    .regex(
      /^(?!(?:public|pg)$)[a-z][a-z0-9]{0,30}$/,
      'expected a small letter, then small letters and digits, at most 31; not "public" or "pg", which are PostgreSQL\'s own',
    )
    .default('keepup'),
  /** With `eventstore`: the connection string of the PostgreSQL that holds tables, blobs and leases. */
  postgres: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'expected postgres://user:password@host:port/database')
    .refine(
      (url) => !SEVERAL_HOSTS.test(url),
      'expected one host; name the one that may be written to, or a proxy before them',
    )
    .nullable()
    .default(null),
  /** On servers: the connection string of a login of PostgreSQL that may only read the published views; it asks questions in SQL. */
  auditPostgres: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'expected postgres://user:password@host:port/database')
    .nullable()
    .default(null),
  /** How long a process of several may give no sign of life before another one takes over what it drives. */
  leaseMs: int(z.int().min(200).max(600_000)).default(10_000),
  /** How long the process that owns the data folder may give no sign of life: one that is merely busy gives some. */
  ownerTimeoutMs: int(z.int().min(100)).default(8000),
  /** Keys of the vault, 64 hex digits each, the current one first, separated by commas; null: those of `vaultKeyFile`. */
  vaultKey: z
    .string()
    .regex(
      /^\s*[0-9a-f]{64}\s*(,\s*[0-9a-f]{64}\s*)*$/i,
      'expected 64 hex digits (openssl rand -hex 32), or some such with commas',
    )
    .nullable()
    .default(null),
  /**
   * The file of the vault's keys, one a line, outside of the data folder; null: `keepup/vault.key` in the user's
   * configuration.
   */
  vaultKeyFile: z.string().min(1).nullable().default(null),
  /** False: commands run without a sandbox unless a run says otherwise. Recorded with every run. */
  sandboxed: flag.default(true),
  /** Files and folders that programs in the sandbox can read. */
  sandboxReadable: absolutePaths.default([]),
})
/** `file`: where settings were read from, if anywhere. */
export type Config = Readonly<z.infer<typeof ConfigSchema>> & { readonly file?: string }

/** A setting that cannot be used; the message names the key and where it came from. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export interface ConfigSources {
  /** Of the command line, by key; undefined: not given. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** `--config`; absent: `keepup.json` in the data folder, where there is one. */
  readonly file?: string
}

/** `maxBodyBytes` → `KEEPUP_MAX_BODY_BYTES`. */
export const envName = (key: string): string => `KEEPUP_${key.replace(/[A-Z]/g, (c) => `_${c}`).toUpperCase()}`

/** Settings that text cannot give: they are read from the file only. */
export const FILE_ONLY: ReadonlySet<string> = new Set([
  ...[
    'models',
    'routing',
    'modelHealth',
    'rateLimits',
    'retry',
    'delegation',
    'context',
    'knowledge',
    'web',
    'mcp',
    'agents',
  ],
])
const KEYS = Object.keys(ConfigSchema.shape)

/** Of all settings that a variable can give. */
const VARIABLES: ReadonlySet<string> = new Set(KEYS.filter((key) => !FILE_ONLY.has(key)).map(envName))
/** The password is for docker-compose.yml, the marker of the commands that tools run. */
const OTHERS: ReadonlySet<string> = new Set(['KEEPUP_POSTGRES_PASSWORD', 'KEEPUP_COMMAND'])

/** Variables that look like ours but name no setting. */
export function unknownVariables(env: ConfigSources['env']): string[] {
  const ours = Object.keys(env).filter((name) => /^KEEPUP_/i.test(name))
  // Kubernetes tells every container so of a service that is called keepup-something.
  const services = ours.flatMap((name) => /^(.+)_SERVICE_HOST$/.exec(name)?.[1] ?? [])
  const ofService = (name: string) =>
    services.some((one) => [`${one}_SERVICE_`, `${one}_PORT_`].some((start) => `${name}_`.startsWith(start)))
  return ours.filter((name) => !VARIABLES.has(name) && !OTHERS.has(name) && !ofService(name))
}

/** Of a service that is called just keepup Kubernetes says `KEEPUP_PORT=tcp://10.0.0.1:7433`. */
const isOfService = (name: string, env: ConfigSources['env']): boolean =>
  name === 'KEEPUP_PORT' && env.KEEPUP_SERVICE_HOST !== undefined && /^\w+:\/\//.test(env[name] ?? '')

/** Refuses a variable that is meant for a setting and would be passed over: with one for servers data would lie elsewhere. */
function mustBeSpelt(env: ConfigSources['env']): void {
  for (const name of unknownVariables(env)) {
    const inFile = [...FILE_ONLY].find((key) => envName(key) === name.toUpperCase())
    if (inFile !== undefined)
      throw new ConfigError(`${name} is no setting: "${inFile}" stands in keepup.json; take the variable away`)
    const meant = [...VARIABLES].find((known) => mayMean(name.toUpperCase(), known))
    if (meant !== undefined)
      throw new ConfigError(`${name} is no setting; ${meant} is one: call it so, or take the variable away`)
  }
}

/** The variable was misspelt, or has more behind its name. The prefix and `_` do not count as letters. */
function mayMean(name: string, known: string): boolean {
  const letters = (text: string) => text.replace(/^KEEPUP_/, '').replaceAll('_', '')
  return name.startsWith(`${known}_`) || isNear(letters(name), letters(known))
}

function defaultData(env: ConfigSources['env']): string {
  const base = env.XDG_DATA_HOME && env.XDG_DATA_HOME !== '' ? env.XDG_DATA_HOME : join(homedir(), '.local', 'share')
  return join(base, 'keepup')
}

function readFile(path: string): Record<string, unknown> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError(`cannot read the configuration file ${path}: ${(error as Error).message}`)
  }
  const fault = jsonFault(text)
  if (fault)
    throw new ConfigError(`${path}: no JSON at line ${fault.line}, column ${fault.column}: expected ${fault.expected}`)
  const found: unknown = JSON.parse(text)
  if (typeof found !== 'object' || found === null || Array.isArray(found)) {
    throw new ConfigError(`${path}: expected an object of settings`)
  }
  return found as Record<string, unknown>
}

/** Flags, then environment, then file, then defaults. Throws {@link ConfigError}. */
export function loadConfig(sources: ConfigSources): Config {
  const { flags, env } = sources
  mustBeSpelt(env)
  const values = new Map<string, { value: unknown; from: string }>()
  const data = String(flags.data ?? env.KEEPUP_DATA ?? defaultData(env))
  const path = sources.file ?? join(data, 'keepup.json')
  const fromFile = sources.file !== undefined || existsSync(path)
  if (fromFile) {
    for (const [key, value] of Object.entries(readFile(path))) {
      if (key === 'data') throw new ConfigError(`${path}: "data" belongs to --data or KEEPUP_DATA, not to the file`)
      if (key === 'vaultKey')
        throw new ConfigError(
          `${path}: "vaultKey" belongs to KEEPUP_VAULT_KEY, or into the file of KEEPUP_VAULT_KEY_FILE`,
        )
      if (!KEYS.includes(key)) throw new ConfigError(`${path}: unknown key "${key}"; known are ${KEYS.join(', ')}`)
      values.set(key, { value, from: path })
    }
  }
  for (const key of KEYS) {
    const name = envName(key)
    if (!FILE_ONLY.has(key) && env[name] !== undefined && !isOfService(name, env))
      values.set(key, { value: env[name], from: `variable ${name}` })
    if (flags[key] !== undefined) values.set(key, { value: flags[key], from: 'command line' })
  }
  values.set('data', { value: resolve(data), from: values.get('data')?.from ?? 'default' })
  const parsed = ConfigSchema.safeParse(Object.fromEntries([...values].map(([k, v]) => [k, v.value])))
  if (parsed.success) return { ...bothOrNeither(parsed.data), ...(fromFile && { file: resolve(path) }) }
  const issue = parsed.error.issues[0]!
  const key = String(issue.path[0])
  const from = values.get(key)?.from ?? 'default'
  const ms = key.endsWith('Ms') ? '; it is a number of ms, 10000 for 10 s' : ''
  const example = EXAMPLES[key] === undefined ? ms : `; such as "${key}": ${JSON.stringify(EXAMPLES[key])}`
  throw new ConfigError(`bad value for "${issue.path.join('.')}" (${from}): ${issueText(issue)}${example}`)
}

/** Where many processes share a log in EventStoreDB, and tables, blobs and leases in PostgreSQL. */
export interface ServersConfig extends Config {
  readonly eventstore: string
  readonly postgres: string
}

/** Whether the two servers hold what would else be in the data folder. */
export const onServers = (config: Config): config is ServersConfig =>
  config.eventstore !== null && config.postgres !== null

function bothOrNeither(config: Config): Config {
  if ((config.eventstore === null) === (config.postgres === null)) return config
  const [given, missing] = config.eventstore === null ? ['postgres', 'eventstore'] : ['eventstore', 'postgres']
  throw new ConfigError(
    `"${given}" is set and "${missing}" is not: the log is in EventStoreDB and its tables are in PostgreSQL, or both are ` +
      `embedded. Set ${envName(missing)} too, or take ${envName(given)} away`,
  )
}
