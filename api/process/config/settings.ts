import { existsSync, readFileSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { z } from 'zod'
import { AgentSettings } from '../../../adapters/agents/process/settings.ts'
import { dataHome } from '../../../adapters/files/user-folders.ts'
import { LoginSettings } from '../../../adapters/login/settings.ts'
import { McpServers } from '../../../adapters/mcp/settings.ts'
import { ModelEntry, RateLimits } from '../../../adapters/models/catalog.ts'
import { WebSettings } from '../../../adapters/web/settings.ts'
import { isWebhookUrl } from '../../../adapters/web/webhook.ts'
import { partly } from '../../../domain/agent/definition/optional-members.ts'
import { HealthThresholds } from '../../../domain/agent/routing/decision.ts'
import { ErrorRecoveryPolicy } from '../../../domain/calls/policy-schema.ts'
import { issueText } from '../../../domain/log/issues.ts'
import { jsonFault } from '../../../domain/log/json-fault.ts'
import { isKeyName } from '../../../domain/log/proof/note.ts'
import { NOTICE_TYPES } from '../../../domain/stream/notice.ts'
import { RoutingConfig } from '../../../domain/tree/routing-config.ts'
import { ContextManagementConfig, KNOWLEDGE_SOURCES, Knowledge, TreeLimits } from '../../../domain/tree/spec.ts'
import { deprecationText } from '../../operations/deprecation.ts'
import { isPlain, PLAIN } from '../../operations/text/plain-text.ts'
import { isNear } from '../../operations/text/spelling.ts'
import { EXAMPLES } from './examples.ts'
import { RENAMED } from './renamed.ts'
import { absolutePaths, flag, int, textList } from './text.ts'

/**
 * A comma in the host part, between user and password and the database name. The client would take the list for one
 * host name.
 */
const SEVERAL_HOSTS = /^\w+:\/\/(?:.*@)?[^/?@]*,[^@]*$/

/**
 * Knowledge in the settings: a `text`, or a `file` with a path relative to the settings. The file is read at the start
 * of each run.
 */
export const KnowledgeSetting = z
  .strictObject({
    ...partly(Knowledge.omit({ kind: true })).shape,
    file: z.string().min(1).optional(),
  })
  .refine(({ file, text }) => (file === undefined) !== (text === undefined), 'give either file or text')
  .refine(({ name, text }) => text === undefined || name !== undefined, 'name: a text needs one')
export type KnowledgeSetting = z.infer<typeof KnowledgeSetting>

/** The log's tree. `origin` null: `keepup.local/<log id>`. `anchorEveryMs` null: anchored on demand only. */
export const ProofSettings = z.strictObject({
  origin: z.string().refine(isKeyName, 'expected a name without spaces and plus signs').nullable().default(null),
  anchorEveryMs: z.int().min(1_000).nullable().default(3_600_000),
})

/** A receiver of notices. `types` absent: all. `secret`: the name of the secret that signs them. */
const WebhookSettings = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'expected small letters, digits and hyphens, at most 40'),
  url: z.string().refine(isWebhookUrl, 'expected an https URL without a password, or an http URL of this machine'),
  types: z.array(z.enum(NOTICE_TYPES)).min(1).optional(),
  secret: z.string().min(1),
})
export type WebhookSettings = z.infer<typeof WebhookSettings>

const Webhooks = z
  .array(WebhookSettings)
  .max(20)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'expected different names')

/** The collector of OpenTelemetry that gets the spans of each ended run. `headers`: secrets by the name of a header. */
const TelemetrySettings = z.strictObject({
  url: z.string().refine(isWebhookUrl, 'expected an https URL without a password, or an http URL of this machine'),
  headers: z.record(z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/), z.string().min(1)).default({}),
  content: z.boolean().default(false),
  adopt: z.boolean().default(false),
})
export type TelemetrySettings = z.infer<typeof TelemetrySettings>

/** The port of `serve`. */
export const DEFAULT_PORT = 7433

/** All settings. Flags and environment variables give text, the settings file gives JSON. Times in ms. */
export const ConfigSchema = z.strictObject({
  data: z.string().min(1),
  /** The address to serve on. Any address other than loopback exposes the API to the network. */
  host: z.string().min(1).default('127.0.0.1'),
  port: int(z.int().min(0).max(65_535)).default(DEFAULT_PORT),
  /** Accepted host names, in addition to the loopback names. */
  hosts: textList.default([]),
  /** The model of runs that name none. Null: the catalogue's default. */
  model: z.string().min(1).nullable().default(null),
  /** The model to use when routing fails. Null: the requested one. */
  safeDefaultModel: z.string().min(1).nullable().default(null),
  /** Additional entries of the model catalogue. */
  models: z.array(ModelEntry).default([]),
  /** The rules that choose the model of runs that name none. Null: these runs use `model`. */
  routing: RoutingConfig.nullable().default(null),
  /** The thresholds at which a model counts as unhealthy. */
  modelHealth: partly(HealthThresholds).default({}),
  /**
   * Requests per minute by provider, shared by all runs that use its key. Limits that a provider reports always apply.
   */
  rateLimits: RateLimits.default({}),
  /** True: runs may use cached answers unless they opt out. */
  requestCache: flag.default(false),
  /** The folder of the user's roles, one JSON file each. Null: `roles` in the data folder. */
  roles: z.string().refine(isAbsolute, 'expected the absolute path of a folder').nullable().default(null),
  /** The web tools. Null: agents have none. */
  web: WebSettings.nullable().default(null),
  /** MCP servers by name. Agents may use their tools. */
  mcp: McpServers.default({}),
  /** External agents: the limits for requests over the network, and programs that speak the Agent Client Protocol. */
  agents: AgentSettings.default(AgentSettings.parse({})),
  /** The name of the log's tree, and how often its heads are anchored. */
  proof: ProofSettings.prefault({}),
  /** Receivers of notices. */
  webhooks: Webhooks.default([]),
  /** The collector of OpenTelemetry. Null: spans are exported on demand only. */
  telemetry: TelemetrySettings.nullable().default(null),
  /** The address of the page in links of notices. Null: `host` and `port`. */
  publicUrl: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .default(null),
  /** The lowest level of the lines that `serve` and `worker` log. `debug` logs each request. */
  logLevel: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  /** The form of these lines: text for people, or one JSON object per line. */
  logFormat: z.enum(['text', 'json']).default('text'),
  /** Whether a command that waits for a person notifies the terminal and the desktop. */
  notices: z.enum(['on', 'off']).default('on'),
  /** The issuers that identify people on the page, and services without keys, when access is on. */
  access: LoginSettings.prefault({}),
  /** The secret of keepup as a client of OpenID Connect. Null: keepup is a public client. */
  oidcSecret: z.string().min(1).nullable().default(null),
  /** The default retry policy of runs. */
  retry: partly(ErrorRecoveryPolicy).default({}),
  /** The default context compression of runs. */
  context: partly(ContextManagementConfig).default({}),
  /** Knowledge sources for all agents, or for some roles or phases. */
  knowledge: z.array(KnowledgeSetting).max(KNOWLEDGE_SOURCES).default([]),
  /** The default limits of the agent tree of a run. Null: agents cannot start others. */
  delegation: partly(TreeLimits).nullable().default({}),
  /** The person's name for commands that name none. Null: the user of the operating system. */
  /** A key of a principal, for this program's requests when access is on. Null: the owner of the data folder. */
  key: z.string().startsWith('ku_key_').nullable().default(null),
  by: z.string().min(1).max(200).refine(isPlain, PLAIN).nullable().default(null),
  maxBodyBytes: int(z.int().min(1024)).default(1024 * 1024),
  heartbeatMs: int(z.int().min(10)).default(15_000),
  /** The most runs that this process drives at the same time. Others wait in a queue. */
  concurrency: int(z.int().min(1)).default(32),
  /** The most agents of one run that work at the same time. */
  agentsAtOnce: int(z.int().min(1).max(100)).default(5),
  /** The time for current work when a process ends. */
  drainMs: int(z.int().min(0)).default(10_000),
  /** The time for which an outcome is retried while the disk is full, in ms. */
  fullPatienceMs: int(z.int().min(0)).default(300_000),
  /** With `postgres`: the connection string of the EventStoreDB that stores the log. Many processes can share it. */
  eventstore: z
    .string()
    .regex(/^\s*esdb(\+discover)?:\/\//, 'expected esdb://host:port…')
    .nullable()
    .default(null),
  /**
   * The prefix of the log's streams and of the schemas of the tables. It allows two deployments on one pair of servers.
   */
  namespace: z
    .string()
    .regex(
      /^(?!(?:public|pg)$)[a-z][a-z0-9]{0,30}$/,
      'expected a small letter, then small letters and digits, at most 31; not "public" or "pg", which are PostgreSQL\'s own',
    )
    .default('keepup'),
  /** With `eventstore`: the connection string of the PostgreSQL server for tables, blobs and leases. */
  postgres: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'expected postgres://user:password@host:port/database')
    .refine(
      (url) => !SEVERAL_HOSTS.test(url),
      'expected one host; name the one that may be written to, or a proxy before them',
    )
    .nullable()
    .default(null),
  /**
   * On servers: the connection string of a PostgreSQL login for SQL questions. The login may only read the published
   * views.
   */
  auditPostgres: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'expected postgres://user:password@host:port/database')
    .nullable()
    .default(null),
  /** The time after which a silent process loses its leases to other processes. */
  leaseMs: int(z.int().min(200).max(600_000)).default(10_000),
  /**
   * The time after which the owner of a data folder counts as dead without a heartbeat. A busy owner still sends
   * heartbeats.
   */
  ownerTimeoutMs: int(z.int().min(100)).default(8000),
  /**
   * The keys of the vault, 64 hex digits each, separated by commas, the current one first. Null: use `vaultKeyFile`.
   */
  vaultKey: z
    .string()
    .regex(
      /^\s*[0-9a-f]{64}\s*(,\s*[0-9a-f]{64}\s*)*$/i,
      'expected 64 hex digits (openssl rand -hex 32), or some such with commas',
    )
    .nullable()
    .default(null),
  /**
   * The file with the vault's keys, one per line, outside the data folder. Null: `keepup/vault.key` in the user's
   * configuration folder.
   */
  vaultKeyFile: z.string().min(1).nullable().default(null),
  /** False: commands run without a sandbox unless a run requests one. Every run records this setting. */
  sandboxed: flag.default(true),
  /** Files and folders that sandboxed programs may read. */
  sandboxReadable: absolutePaths.default([]),
})
/** `file`: the file that the settings were read from, if any. `deprecations`: sentences about deprecated names in use. */
export type Config = Readonly<z.infer<typeof ConfigSchema>> & {
  readonly file?: string
  readonly deprecations?: readonly string[]
}

/** An invalid setting. The message names the key and its source. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export interface ConfigSources {
  /** The flags of the command line by key. Undefined: not given. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** The value of `--config`. Absent: `keepup.json` in the data folder, if it exists. */
  readonly file?: string
}

/** The variable for a key: `maxBodyBytes` becomes `KEEPUP_MAX_BODY_BYTES`. */
export const envName = (key: string): string => `KEEPUP_${key.replace(/[A-Z]/g, (c) => `_${c}`).toUpperCase()}`

/** Settings that only the file can contain, because text cannot express them. */
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
    'proof',
    'webhooks',
    'telemetry',
    'access',
  ],
])
const KEYS = Object.keys(ConfigSchema.shape)

/** The environment variables of all other settings. */
const VARIABLES: ReadonlySet<string> = new Set(KEYS.filter((key) => !FILE_ONLY.has(key)).map(envName))
/** Variables that are not settings: the password for docker-compose.yml, and the marker of commands that tools run. */
const OTHERS: ReadonlySet<string> = new Set(['KEEPUP_POSTGRES_PASSWORD', 'KEEPUP_COMMAND'])

/** Variables with keepup's prefix that name no setting. */
export function unknownVariables(env: ConfigSources['env'], renamed = RENAMED): string[] {
  const ours = Object.keys(env).filter((name) => /^KEEPUP_/i.test(name))
  const former = new Set(Object.keys(renamed).map(envName))
  // Kubernetes sets such variables in every container when a service has a name like keepup-something.
  const services = ours.flatMap((name) => /^(.+)_SERVICE_HOST$/.exec(name)?.[1] ?? [])
  const ofService = (name: string) =>
    services.some((one) => [`${one}_SERVICE_`, `${one}_PORT_`].some((start) => `${name}_`.startsWith(start)))
  return ours.filter((name) => ![VARIABLES, OTHERS, former].some((known) => known.has(name)) && !ofService(name))
}

/** For a service with the name keepup, Kubernetes sets `KEEPUP_PORT=tcp://10.0.0.1:7433`. */
const isOfService = (name: string, env: ConfigSources['env']): boolean =>
  name === 'KEEPUP_PORT' && env.KEEPUP_SERVICE_HOST !== undefined && /^\w+:\/\//.test(env[name] ?? '')

/** Throws for a misspelt variable. To ignore a misspelt server setting would store the data in the wrong place. */
function mustBeSpelt(env: ConfigSources['env'], renamed: typeof RENAMED): void {
  for (const name of unknownVariables(env, renamed)) {
    const inFile = [...FILE_ONLY].find((key) => envName(key) === name.toUpperCase())
    if (inFile !== undefined)
      throw new ConfigError(`${name} is no setting: "${inFile}" stands in keepup.json; take the variable away`)
    const meant = [...VARIABLES].find((known) => isSlipOf(name.toUpperCase(), known))
    if (meant !== undefined)
      throw new ConfigError(`${name} is no setting; ${meant} is one: call it so, or take the variable away`)
  }
}

/** The variable was misspelt, or has more behind its name. The prefix and `_` do not count as letters. */
function isSlipOf(name: string, known: string): boolean {
  const letters = (text: string) => text.replace(/^KEEPUP_/, '').replaceAll('_', '')
  return name.startsWith(`${known}_`) || isNear(letters(name), letters(known))
}

function defaultData(env: ConfigSources['env']): string {
  return join(dataHome(env), 'keepup')
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

/** Reads the settings. Flags override the environment, then the file, then the defaults. Throws {@link ConfigError}. */
export function loadConfig(sources: ConfigSources, renamed = RENAMED): Config {
  const { flags, env } = sources
  mustBeSpelt(env, renamed)
  const values = new Map<string, { value: unknown; from: string }>()
  const deprecations: string[] = []
  const data = String(flags.data ?? env.KEEPUP_DATA ?? defaultData(env))
  const path = sources.file ?? join(data, 'keepup.json')
  const fromFile = sources.file !== undefined || existsSync(path)
  if (fromFile) {
    const inFile = readFile(path)
    for (const [written, value] of Object.entries(inFile)) {
      const former = Object.hasOwn(renamed, written) ? renamed[written] : undefined
      const key = former?.use ?? written
      if (former !== undefined) {
        if (Object.hasOwn(inFile, key))
          throw new ConfigError(`${path}: "${written}" is the former name of "${key}"; take it away`)
        deprecations.push(deprecationText(`"${written}" in ${path}`, { ...former, use: `"${key}"` }))
      }
      if (key === 'data') throw new ConfigError(`${path}: "data" belongs to --data or KEEPUP_DATA, not to the file`)
      if (key === 'vaultKey')
        throw new ConfigError(
          `${path}: "vaultKey" belongs to KEEPUP_VAULT_KEY, or into the file of KEEPUP_VAULT_KEY_FILE`,
        )
      if (key === 'oidcSecret') throw new ConfigError(`${path}: "oidcSecret" belongs to KEEPUP_OIDC_SECRET`)
      if (!KEYS.includes(key)) throw new ConfigError(`${path}: unknown key "${key}"; known are ${KEYS.join(', ')}`)
      values.set(key, { value, from: path })
    }
  }
  for (const [former, { since, use }] of Object.entries(renamed)) {
    const [name, now] = [envName(former), envName(use)]
    if (env[name] === undefined) continue
    if (env[now] !== undefined) throw new ConfigError(`${name} is the former name of ${now}; take it away`)
    values.set(use, { value: env[name], from: `variable ${name}` })
    deprecations.push(deprecationText(`the variable ${name}`, { since, use: now }))
  }
  for (const key of KEYS) {
    const name = envName(key)
    if (!FILE_ONLY.has(key) && env[name] !== undefined && !isOfService(name, env))
      values.set(key, { value: env[name], from: `variable ${name}` })
    if (flags[key] !== undefined) values.set(key, { value: flags[key], from: 'command line' })
  }
  values.set('data', { value: resolve(data), from: values.get('data')?.from ?? 'default' })
  const parsed = ConfigSchema.safeParse(Object.fromEntries([...values].map(([k, v]) => [k, v.value])))
  if (parsed.success)
    return {
      ...bothOrNeither(parsed.data),
      ...(fromFile && { file: resolve(path) }),
      ...(deprecations.length > 0 && { deprecations }),
    }
  const issue = parsed.error.issues[0]!
  const key = String(issue.path[0])
  const from = values.get(key)?.from ?? 'default'
  const ms = key.endsWith('Ms') ? '; it is a number of ms, 10000 for 10 s' : ''
  const example = EXAMPLES[key] === undefined ? ms : `; such as "${key}": ${JSON.stringify(EXAMPLES[key])}`
  throw new ConfigError(`bad value for "${issue.path.join('.')}" (${from}): ${issueText(issue)}${example}`)
}

/** Settings with a shared log in EventStoreDB, and tables, blobs and leases in PostgreSQL. */
export interface ServersConfig extends Config {
  readonly eventstore: string
  readonly postgres: string
}

/** Whether the two servers store the data, instead of the data folder. */
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
