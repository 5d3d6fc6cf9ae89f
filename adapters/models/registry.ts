import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { ModelError } from '../../domain/calls/errors.ts'
import { issueText } from '../../domain/log/issues.ts'
import type { ModelProvider, ModelRequest } from '../../domain/ports/index.ts'
import { unhidableKey } from '../../domain/secrets/forms.ts'
import type { ModelInfo } from '../../domain/tree/spec.ts'
import type { SharedLimit } from '../memory/rate-limit.ts'
import {
  catalogInfo,
  catalogue,
  ModelEntry,
  type ProviderId,
  providerOf,
  type RateLimits,
  splitModelId,
} from './catalog.ts'
import { lateProvider } from './late-provider.ts'
import { isOfficial } from './openai/official.ts'
import { headersOf } from './openai/send.ts'
import { loadScript } from './scripted/load.ts'
import { scriptedProvider } from './scripted/provider.ts'
import { parseScript, type ScriptInput } from './scripted/script.ts'
import { type WireRequest, wireRequest } from './wire.ts'

/** The sources of the models. */
export interface ModelsOptions {
  /** Read for ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Scripts by name, for `scripted:<name>`. Any other name is the path of a script file. */
  readonly scripts?: Readonly<Record<string, ScriptInput>>
  /** Providers of the embedding program by name, for `own:<name>`. */
  readonly providers?: Readonly<Record<string, ModelProvider>>
  /** Scripts in this folder are refused. */
  readonly dataFolder?: string
  /** The user's own models, or corrections of the catalogue. */
  readonly models?: readonly unknown[]
  /** Requests per minute by provider. */
  readonly rateLimits?: RateLimits
}

export interface ModelRegistry {
  /**
   * The provider of a model id. `ModelRequest.model` may contain the same id. The id is `anthropic:<name>`,
   * `openai:<name>`, `scripted:<name or file>`, `own:<name>`, or a plain name. A plain name is looked up among the user's models,
   * then in the catalogue, then by its family (`claude-…`, `gpt-…`). Throws ModelError NOT_FOUND, AUTHENTICATION (a key
   * is missing), SCRIPT_INVALID, or INVALID_REQUEST (an unusable base URL or key).
   */
  provider(id: string): ModelProvider
  /** False: the id is `own:<name>`, and this program has no provider of that name. */
  has(id: string): boolean
  /** Limits and price of a model. Throws ModelError NOT_FOUND for a plain name without a known provider. */
  info(id: string): ModelInfo
  /** A request in the form of its provider. Needs no key. */
  wire(request: ModelRequest): WireRequest
  /** The user's models and the catalogue. */
  known(): readonly ModelInfo[]
  /** The rate limit that the model's calls share with all calls to its provider with the same key. */
  limit(id: string): SharedLimit
  /** The values of the providers' keys, for redaction. */
  knownSecrets(): readonly string[]
  /** The names of keys that cannot be redacted, because their values look like ordinary text. */
  unhidableKeys(): readonly string[]
}

/** The variables with the providers' keys. */
export const PROVIDER_KEYS = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'OPENAI_API_KEY', 'OPENAI_ADMIN_KEY']

/** The variables that determine whose rate limit the calls of a provider count against. */
const SOURCES: Readonly<Record<ProviderId, readonly string[]>> = {
  anthropic: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL'],
  openai: ['OPENAI_API_KEY', 'OPENAI_BASE_URL'],
  scripted: [],
  own: [],
}

/**
 * All models of this process behind one interface. Throws ModelError INVALID_REQUEST if an entry of `models` is
 * invalid.
 */
export function createModels(options: ModelsOptions): ModelRegistry {
  const entries = new Map(parseEntries(options.models ?? []).map((entry) => [entry.id, entry]))
  const read = (name: string) => options.env[name]?.trim() || null
  const made = new Map<string, { readonly provider: ModelProvider; readonly stamp: string | null }>()

  function info(id: string): ModelInfo {
    const { provider, name } = splitModelId(id)
    const { id: _, ...entry } = entries.get(id) ?? { id }
    if (!entry.provider && !provider && !providerOf(name)) throw unknown(id)
    return catalogInfo(id, entry)
  }

  function make(provider: ProviderId, name: string): ModelProvider {
    if (provider === 'scripted') return scriptedProvider(scriptOf(name))
    if (provider === 'own') return ownProvider(name)
    if (provider === 'openai') {
      const baseUrl = checkedUrl(read('OPENAI_BASE_URL'), 'OPENAI_BASE_URL')
      const apiKey = checkedKey(read('OPENAI_API_KEY'), 'OPENAI_API_KEY')
      if (!apiKey && !baseUrl) throw missing('OPENAI_API_KEY', 'or OPENAI_BASE_URL for a server that wants no key')
      const access = { apiKey, headers: headersOf(read), ...(baseUrl ? { baseUrl } : {}) }
      return lateProvider(provider, async () => (await import('./openai/provider.ts')).openaiProvider(access))
    }
    const baseUrl = checkedUrl(read('ANTHROPIC_BASE_URL'), 'ANTHROPIC_BASE_URL')
    const apiKey = checkedKey(read('ANTHROPIC_API_KEY'), 'ANTHROPIC_API_KEY')
    const authToken = apiKey ? null : checkedKey(read('ANTHROPIC_AUTH_TOKEN'), 'ANTHROPIC_AUTH_TOKEN')
    if (!apiKey && !authToken) throw missing('ANTHROPIC_API_KEY', 'or choose another model, such as scripted:<file>')
    const access = { apiKey, ...(authToken ? { authToken } : {}), ...(baseUrl ? { baseUrl } : {}) }
    return lateProvider(provider, async () => (await import('./anthropic/provider.ts')).anthropicProvider(access))
  }

  const own = options.providers ?? {}

  function ownProvider(name: string): ModelProvider {
    if (Object.hasOwn(own, name)) return own[name]!
    throw new ModelError('NOT_FOUND', `this program has no provider "${name}"; give it to openKeepUp in "providers"`)
  }

  const keys = () =>
    PROVIDER_KEYS.flatMap((name) => {
      const value = read(name)
      return value === null ? [] : [{ name, value }]
    })

  const isNamedScript = (name: string) => options.scripts !== undefined && Object.hasOwn(options.scripts, name)

  function scriptOf(name: string) {
    return isNamedScript(name)
      ? parseScript(options.scripts![name], name)
      : loadScript(name, options.dataFolder, Object.keys(options.scripts ?? {}))
  }

  /** Distinguishes keys and servers of a provider. 32 bits of a hash do not reveal the key. */
  const marks = (provider: ProviderId): string => {
    const names = SOURCES[provider].map((name) => `${name}=${read(name) ?? ''}`)
    return createHash('sha256').update(names.join('\n')).digest('hex').slice(0, 8)
  }

  return {
    info,
    provider(id) {
      const provider = info(id).provider as ProviderId
      const { name } = splitModelId(id)
      // Each script, and each provider of the program, is a separate one. Network providers are shared with their connections.
      const key = provider === 'scripted' || provider === 'own' ? `${provider}:${name}` : provider
      const before = made.get(key)
      const stamp = provider === 'scripted' && !isNamedScript(name) ? stampOf(name) : null
      // A script whose file is gone stays loaded for the runs that use it.
      const isFresh = before !== undefined && (stamp === null || stamp === before.stamp)
      const shared = isFresh ? before.provider : make(provider, name)
      made.set(key, { provider: shared, stamp: stamp ?? before?.stamp ?? null })
      return {
        id: shared.id,
        call: (request, how) => shared.call({ ...request, model: splitModelId(request.model).name }, how),
      }
    },
    has(id) {
      const { provider, name } = splitModelId(id)
      return provider !== 'own' || Object.hasOwn(own, name)
    },
    wire(request) {
      const baseUrl = read('OPENAI_BASE_URL')
      const named = { ...request, model: splitModelId(request.model).name }
      return wireRequest(info(request.model).provider as ProviderId, named, baseUrl === null || isOfficial(baseUrl))
    },
    known() {
      const described = [...entries.keys()].map(info)
      return [...described, ...catalogue().filter((model) => !entries.has(model.id))]
    },
    limit(id) {
      const provider = info(id).provider as ProviderId
      const perMinute = options.rateLimits?.[provider]?.requestsPerMinute ?? null
      // A provider of the program counts its own calls.
      const mark = provider === 'own' ? splitModelId(id).name : marks(provider)
      return { key: `${provider}:${mark}`, perMinute }
    },
    knownSecrets: () => keys().flatMap(({ value }) => (unhidableKey(value) === null ? [value] : [])),
    unhidableKeys: () => keys().flatMap(({ name, value }) => (unhidableKey(value) === null ? [] : [name])),
  }
}

/** Changes with the content of a file. Null: there is no file. */
function stampOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stat === undefined ? null : `${stat.ino}:${stat.mtimeNs}:${stat.size}`
}

function parseEntries(values: readonly unknown[]): ModelEntry[] {
  return values.map((value, index) => {
    const result = ModelEntry.safeParse(value)
    if (result.success) return result.data
    const issue = result.error.issues[0]!
    const path = ['models', index, ...issue.path].map(String).join('.')
    throw new ModelError('INVALID_REQUEST', `${path}: ${issueText(issue)}`)
  })
}

const unknown = (id: string): ModelError =>
  new ModelError(
    'NOT_FOUND',
    `the model "${id}" is not known; write anthropic:<name>, openai:<name> or scripted:<file>, or describe it under "models"`,
  )

const missing = (variable: string, otherwise: string): ModelError =>
  new ModelError('AUTHENTICATION', `no key: set ${variable}, ${otherwise}`)

/** Checks a key. The message contains no part of it. Throws ModelError INVALID_REQUEST. */
function checkedKey(value: string | null, variable: string): string | null {
  if (value === null || /^[\x21-\x7e]+$/.test(value)) return value
  throw new ModelError('INVALID_REQUEST', `${variable} holds white space or characters that no key has; set it again`)
}

function checkedUrl(value: string | null, variable: string): string | null {
  if (value === null) return null
  const url = URL.canParse(value) ? new URL(value) : null
  const plain = url && url.username + url.password + url.search + url.hash === ''
  if (plain && /^https?:$/.test(url.protocol)) return value
  throw new ModelError(
    'INVALID_REQUEST',
    `${variable} must be an http(s) URL such as http://localhost:8080/v1, without user, password, "?" and "#"`,
  )
}
