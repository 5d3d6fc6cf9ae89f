import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { MiddlewareHandler } from 'hono'
import { PAGE_HEADERS } from './page-headers.ts'

const BUILT = new URL('../../web/dist/', import.meta.url)

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
}

interface PageFile {
  readonly type: string
  readonly plain: Buffer<ArrayBuffer>
  readonly gzip: Buffer<ArrayBuffer>
}

/** The files of the built page by path. Empty: the page was not built. */
export function readPage(folder: URL = BUILT): ReadonlyMap<string, PageFile> {
  if (!existsSync(folder)) return new Map()
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => TYPES[extname(name)])
  return new Map(
    names.map((name) => {
      const plain = readFileSync(fileURLToPath(new URL(name, folder)))
      const path = name === 'index.html' ? '/' : `/${name}`
      return [path, { type: TYPES[extname(name)]!, plain, gzip: gzipSync(plain, { level: 9 }) }]
    }),
  )
}

const NOT_BUILT = 'The page is not built in this folder. Build it with: npm run build:web\n'

/**
 * Serves the page to browsers: its files by name, and the page itself at every other path that a browser navigates to,
 * because the page has client-side routes. The files contain no user data, so they need no token.
 */
export function pageFiles(read: () => ReadonlyMap<string, PageFile> = readPage): MiddlewareHandler {
  let files: ReadonlyMap<string, PageFile> | null = null
  return async (c, next) => {
    const { method, path } = c.req
    if ((method !== 'GET' && method !== 'HEAD') || path === '/v1' || path.startsWith('/v1/')) return next()
    files ??= read()
    const navigates = path === '/' || (c.req.header('accept')?.includes('text/html') ?? false)
    const asset = path === '/' ? undefined : files.get(path)
    const file = asset ?? (navigates ? files.get('/') : undefined)
    if (file === undefined && !navigates) return next()
    if (file === undefined) return c.text(NOT_BUILT, 503, PAGE_HEADERS)
    const packed = c.req.header('accept-encoding')?.includes('gzip') ?? false
    return c.body(packed ? file.gzip : file.plain, 200, {
      ...PAGE_HEADERS,
      'content-type': file.type,
      vary: 'accept-encoding',
      ...(packed && { 'content-encoding': 'gzip' }),
      // Asset names contain a content hash.
      'cache-control': path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    })
  }
}
