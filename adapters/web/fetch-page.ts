import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { ToolError } from '../../domain/calls/errors.ts'
import { hostOfUrl } from '../../domain/secrets/hosts.ts'
import { type AddressRule, isLoopback } from './addresses.ts'
import { ENCODINGS, readBody } from './body.ts'
import { hostOf, openConnection, type Resolve } from './connection.ts'
import { requestFailure, statusFailure } from './failures.ts'

export interface FetchLimits {
  /** The time limit from the first connection to the end of the body, including redirects. In ms. */
  readonly timeMs: number
  /** The size limit of the body, before and after decompression. In bytes. */
  readonly maxBytes: number
  readonly maxRedirects: number
}

export interface FetchedPage {
  /** The final address of the page, after redirects. */
  readonly url: URL
  readonly status: number
  /** The server's media type in lower case, without parameters. Empty: the server sent none. */
  readonly mediaType: string
  /** The server's charset. Null: the server sent none. */
  readonly charset: string | null
  readonly bytes: Uint8Array
}

export interface Fetching {
  readonly mayConnect: AddressRule
  readonly resolve: Resolve
  readonly limits: FetchLimits
  readonly userAgent: string
  /** The only host to which requests may go, because the address contains a secret; see `hostOfUrl`. */
  readonly secretsTo?: string | undefined
}

/** The longest accepted address, in characters. */
export const MAX_URL = 4_096
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/**
 * Reads a page by GET, without cookies, credentials or a proxy. Checks every address at the connection. Every redirect
 * is a new request with the same checks. Rejects with ToolError, and with the signal's reason when aborted.
 */
export async function fetchPage(start: URL, fetching: Fetching, signal: AbortSignal): Promise<FetchedPage> {
  const { limits } = fetching
  const late = AbortSignal.timeout(limits.timeMs)
  const either = AbortSignal.any([signal, late])
  let url = start
  try {
    for (let redirects = 0; ; redirects++) {
      checkUrl(url)
      mustBeGranted(url, fetching.secretsTo)
      const response = await get(url, fetching, either)
      try {
        const status = response.statusCode ?? 0
        const { location } = response.headers
        if (!REDIRECTS.has(status) || location === undefined) return await pageOf(url, status, response, limits)
        if (redirects === limits.maxRedirects) throw tooManyRedirects(limits.maxRedirects)
        url = redirected(url, location)
      } finally {
        response.destroy()
      }
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (late.aborted)
      throw new ToolError('TIMEOUT', `${url.host} did not send the page within ${limits.timeMs} ms`, {
        transient: true,
      })
    throw requestFailure(error, url.host)
  }
}

/** Throws ToolError INVALID_ARGUMENTS if the URL cannot be that of a web page. */
export function checkUrl(url: URL): void {
  const invalid = (why: string): never => {
    throw new ToolError('INVALID_ARGUMENTS', `url: ${why}`, { beforeEffect: true })
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') invalid('expected http:// or https://')
  if (url.username !== '' || url.password !== '') invalid('expected an address without user and password')
  // Other services below port 1024 (mail, files, printers) might execute parts of the request as commands.
  if (url.port !== '' && Number(url.port) < 1024 && url.port !== '80' && url.port !== '443')
    invalid(`port ${url.port} is not one of web servers; expected 80, 443, or 1024 and above`)
}

/** Throws ToolError SECRET_UNAVAILABLE if an address with a secret, or a redirect of one, leads to another host. */
function mustBeGranted(url: URL, secretsTo: string | undefined): void {
  if (secretsTo === undefined || hostOfUrl(url) === secretsTo) return
  // The address is not told, because a host may contain an altered form of the secret.
  throw new ToolError(
    'SECRET_UNAVAILABLE',
    `the address has a secret for ${secretsTo} and leads to another host or port, or to an unencrypted connection, where ` +
      'nothing was sent; leave the secret out, or ask for the page that does not redirect',
  )
}

function get(url: URL, fetching: Fetching, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)({
      host: hostOf(url),
      path: `${url.pathname}${url.search}`,
      // Without an agent, connections are neither kept nor shared, and proxy variables have no effect.
      createConnection: () => openConnection(url, ruleFor(url, fetching), fetching.resolve),
      headers: {
        host: url.host,
        accept: 'text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,application/json;q=0.9,*/*;q=0.1',
        'accept-encoding': ENCODINGS,
        'user-agent': fetching.userAgent,
      },
      signal,
    })
    request.on('response', resolve)
    request.on('error', reject)
    // keepup never requests an upgrade, so this server does not send a page.
    request.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(new ToolError('EXECUTION_FAILED', `${url.host} does not send a page`))
    })
    request.end()
  })
}

/** A secret goes unencrypted to this machine only, to which the name must also lead. */
const ruleFor = ({ protocol }: URL, { mayConnect, secretsTo }: Fetching): AddressRule =>
  secretsTo === undefined || protocol === 'https:'
    ? mayConnect
    : (address) => isLoopback(address) && mayConnect(address)

async function pageOf(url: URL, status: number, response: IncomingMessage, limits: FetchLimits): Promise<FetchedPage> {
  const failure = statusFailure(url.host, status, response.headers)
  if (failure !== null) throw failure
  const [mediaType = '', ...parameters] = (response.headers['content-type'] ?? '').split(';')
  const charset = parameters.flatMap((parameter) => /^\s*charset\s*=\s*"?([\w:.-]+)/i.exec(parameter)?.[1] ?? [])[0]
  const bytes = await readBody(response, limits.maxBytes)
  return { url, status, mediaType: mediaType.trim().toLowerCase(), charset: charset ?? null, bytes }
}

const tooManyRedirects = (most: number) =>
  new ToolError('EXECUTION_FAILED', `the address redirects more than ${most} times, so the page cannot be read`)

function redirected(from: URL, location: string): URL {
  const to = URL.parse(location, from)
  if (to === null || to.href.length > MAX_URL)
    throw new ToolError('EXECUTION_FAILED', `${from.host} redirects to an address that cannot be used`)
  return to
}
