import type { MiddlewareHandler } from 'hono'
import { echo } from '../../domain/log/issues.ts'
import { jsonFault } from '../../domain/log/json-fault.ts'
import { Problem } from '../operations/problem.ts'
import { betweenPasses, jsonText } from './json-bounds.ts'
import type { HttpCode } from './status.ts'

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/** The host name of a Host header or an origin, without the port, lower case. */
const hostName = (host: string): string => host.replace(/:\d+$/, '').toLowerCase()

/** Whether a Host header names this machine itself. */
export const isLoopback = (host: string): boolean => LOOPBACK.includes(hostName(host))

/**
 * Refuses unknown host names, because a page with a rebound DNS name reaches loopback with its own Host header. Also
 * refuses requests from pages of other origins.
 */
export function hostGuard(allowed: readonly string[]): MiddlewareHandler {
  const names = new Set([...LOOPBACK, ...allowed.map((h) => h.toLowerCase())])
  return async (c, next) => {
    const host = c.req.header('host') ?? new URL(c.req.url).host
    if (!names.has(hostName(host))) {
      throw new Problem<HttpCode>(
        'HOST_REFUSED',
        'this host name is not served; add it to "hosts" in the configuration',
      )
    }
    const origin = c.req.header('origin')
    if (origin !== undefined && !(URL.canParse(origin) && names.has(hostName(new URL(origin).host)))) {
      throw new Problem<HttpCode>('ORIGIN_REFUSED', 'requests of other sites are not served')
    }
    await next()
  }
}

/**
 * Reads the body with a size limit and replaces the request. A request made by node-server cannot be rebuilt with `new
 * Request(request)`, as hono's own limit does. `limitOf`: a different limit for a path; null: `most`.
 */
export function sizeGuard(most: number, limitOf: (path: string) => number | null = () => null): MiddlewareHandler {
  return async (c, next) => {
    const maxBytes = limitOf(c.req.path) ?? most
    const tooLarge = () => new Problem<HttpCode>('REQUEST_TOO_LARGE', `a request may have at most ${maxBytes} bytes`)
    const { body, headers, signal, method, url } = c.req.raw
    if (body === null) return next()
    if (Number(headers.get('content-length') ?? 0) > maxBytes) throw tooLarge()
    const chunks: Uint8Array[] = []
    let size = 0
    try {
      for await (const chunk of body) {
        size += chunk.byteLength
        if (size > maxBytes) break
        chunks.push(chunk)
      }
    } catch {
      // The connection is broken, so the client does not receive this answer.
      throw new Problem<HttpCode>('REQUEST_BROKEN_OFF', 'the request ended before its body did; send it again')
    }
    if (size > maxBytes) throw tooLarge()
    c.req.raw = new Request(url, { method, headers, signal, ...(size === 0 ? {} : { body: Buffer.concat(chunks) }) })
    await betweenPasses(size)
    await next()
  }
}

/**
 * Accepts only JSON bodies in well-formed UTF-8, of bounded depth and number of values. Reports a fault with its position.
 * Runs before the schemas. `reads`: routes that read their bodies themselves.
 */
export function jsonGuard(reads: (path: string) => boolean = () => false): MiddlewareHandler {
  return async (c, next) => {
    if (!['POST', 'PUT', 'PATCH'].includes(c.req.method) || reads(c.req.path)) return next()
    const bytes = await c.req.arrayBuffer()
    if (bytes.byteLength > 0) {
      if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(c.req.header('content-type') ?? '')) {
        throw new Problem<HttpCode>('MEDIA_TYPE', 'send the body as "Content-Type: application/json"')
      }
      const text = jsonText(bytes, 'send less at a time, or nest it less deeply')
      await betweenPasses(bytes.byteLength)
      const fault = jsonFault(text)
      if (fault) {
        const { line, column, expected, repeats } = fault
        const place = `at line ${line}, column ${column}`
        const twice = `the body has the key "${echo(repeats ?? '')}" a second time in one object ${place}; send it once`
        const broken = `the body is no JSON: ${place} ${expected} was expected`
        throw new Problem<HttpCode>('INVALID_JSON', repeats === undefined ? broken : twice)
      }
      await betweenPasses(bytes.byteLength)
    }
    await next()
  }
}
