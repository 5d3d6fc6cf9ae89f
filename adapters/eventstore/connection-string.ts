import { isIP } from 'node:net'
import { LogError } from '../../domain/log/errors.ts'

/** The parsed parts of a connection string. */
export interface Address {
  /** The client's connection string with keepup's defaults, without the keep-alive interval. */
  readonly text: string
  /** The silence of a connection before the client sends a keep-alive ping, in ms. */
  readonly keepAliveMs: number
  /** Hosts and ports without credentials, for messages. */
  readonly servers: string
  readonly tls: boolean
  /** The path of a file with the certificate authority of the servers. Null: the system's authorities. */
  readonly caFile: string | null
  readonly endpoints: readonly { readonly host: string; readonly port: number }[]
}

const lower = (names: readonly string[]) => new Set(names.map((name) => name.toLowerCase()))
const NUMBERS = lower([
  'maxDiscoverAttempts',
  'discoveryInterval',
  'gossipTimeout',
  'keepAliveTimeout',
  'defaultDeadline',
])
const TEXTS = lower(['tls', 'tlsCAFile', 'userCertFile', 'userKeyFile', 'connectionName', 'keepAliveInterval'])

/** The client logs a warning for a shorter interval. */
const KEEP_ALIVE = 10_000

/**
 * The connection string of the `n`th client of the process. Channels to one server with equal settings share a
 * connection, even one that hangs. Each client's keep-alive interval therefore differs by a millisecond.
 */
export function connectionString({ text, keepAliveMs }: Address, n: number): string {
  return `${text}${/[?&]$/.test(text) ? '' : '&'}keepaliveinterval=${keepAliveMs + n}`
}

const refused = (why: string) => new LogError('LOG_REFUSED', `the event store's connection string ${why}`)

/**
 * Parses and checks a connection string. The client would print the whole string, with the password, when it rejects
 * something, and would accept some settings silently. Throws `LOG_REFUSED`, without the password in the message.
 */
export function parseAddress(text: string): Address {
  const m = /^esdb(\+discover)?:\/\/(?:([^@/?]*)@)?([^@/?]+)\/?(?:\?(.*))?$/.exec(text.trim())
  if (!m) throw refused('is not esdb://[user:password@]host:port[,host:port…][?tls=false]; write it like that')
  const [, discover, credentials, hosts = '', query = ''] = m
  if (credentials !== undefined && !/^[^:]+:.+$/.test(credentials)) throw refused('has a user without password; add it')
  const options = new Map(query === '' ? [] : query.split('&').map(option))
  const tls = options.get('tls') !== 'false'
  if (credentials !== undefined && !tls)
    throw refused('has a user and tls=false, where the client would silently not send it; remove one of the two')
  const endpoints = hosts.split(',').map(endpoint)
  // The client cannot use TLS with a server whose name is an IP address.
  const digits = tls ? endpoints.find(({ host }) => isIP(host) !== 0) : undefined
  if (digits !== undefined)
    throw refused(
      `names ${digits.host}, where TLS needs a name; put its host name, or add tls=false if it speaks no TLS`,
    )
  const cluster = discover !== undefined || endpoints.length > 1
  // When the client looks for the leader, a node that hangs must not use up the time limit of a call.
  if (cluster && !options.has('gossiptimeout')) options.set('gossiptimeout', '2')
  const keepAliveMs = Number(options.get('keepaliveinterval') ?? KEEP_ALIVE)
  if (!Number.isSafeInteger(keepAliveMs) || keepAliveMs < KEEP_ALIVE)
    throw refused(`has a keepAliveInterval that is not a number of ms from ${KEEP_ALIVE} on`)
  options.delete('keepaliveinterval')
  const user = credentials === undefined ? '' : `${credentials}@`
  return {
    text: `esdb${discover ?? ''}://${user}${hosts}?${[...options].map(([key, value]) => `${key}=${value}`).join('&')}`,
    keepAliveMs,
    servers: hosts,
    tls,
    caFile: decoded(options.get('tlscafile') ?? '') || null,
    endpoints,
  }
}

function option(text: string): [string, string] {
  const at = text.indexOf('=')
  const name = text.slice(0, Math.max(at, 0)).toLowerCase().replaceAll(/[_-]/g, '')
  const value = text.slice(at + 1)
  if (value === '' || !(TEXTS.has(name) || NUMBERS.has(name)))
    throw refused(`has the option "${text.slice(0, Math.max(at, 0)) || text}", which is not used here; remove it`)
  if (NUMBERS.has(name) && !/^[1-9]\d{0,8}$/.test(value))
    throw refused(`has a ${text.slice(0, at)} that is no number from 1 on`)
  if (name === 'connectionname' && !/^[\x21-\x7e]+$/.test(decoded(value)))
    throw refused('has a connectionName with other characters than visible ones of ASCII')
  if (name === 'tls' && value !== 'true' && value !== 'false') throw refused('has a tls that is neither true nor false')
  return [name, value]
}

function endpoint(text: string): { host: string; port: number } {
  const m = /^([^:]+)(?::(\d{1,5}))?$/.exec(text)
  const port = Number(m?.[2] ?? 2113)
  if (!m || port < 1 || port > 65_535) throw refused(`names "${text}", which is not host:port`)
  return { host: m[1]!, port }
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return ''
  }
}
