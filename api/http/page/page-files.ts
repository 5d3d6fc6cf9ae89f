import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Context, MiddlewareHandler } from 'hono'
import { PAGE_HEADERS } from './page-headers.ts'

const BUILT = new URL('../../web/dist/', import.meta.url)
const BUILT_DOCS = new URL('../../site/dist/', import.meta.url)
/** Where the documents are. */
const DOCS = '/docs/'

const TEXT = 'text/plain; charset=utf-8'
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.py': TEXT,
  '.service': TEXT,
  '.sql': TEXT,
}

interface PageFile {
  readonly type: string
  readonly plain: Buffer<ArrayBuffer>
  readonly gzip: Buffer<ArrayBuffer>
}

/** The files of a built folder by path. Empty: it was not built. */
export function readBuilt(folder: URL, root = '/'): ReadonlyMap<string, PageFile> {
  if (!existsSync(folder)) return new Map()
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => TYPES[extname(name)])
  return new Map(
    names.map((name) => {
      const plain = readFileSync(fileURLToPath(new URL(name, folder)))
      const path = root + name.replaceAll('\\', '/').replace(/(^|\/)index\.html$/, '$1')
      return [path, { type: TYPES[extname(name)]!, plain, gzip: gzipSync(plain, { level: 9 }) }]
    }),
  )
}

/** The files of the page. */
export const readPage = (): ReadonlyMap<string, PageFile> => readBuilt(BUILT)
const readDocs = (): ReadonlyMap<string, PageFile> => readBuilt(BUILT_DOCS, DOCS)

const NOT_BUILT = 'The page is not built in this folder. Build it with: npm run build:web\n'
const NO_DOCS = 'The documents are not built in this folder. Build them with: npm run build:docs\n'

function answer(c: Context, path: string, file: PageFile) {
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

/**
 * Serves the page to browsers: its files by name, the documents below {@link DOCS}, and the page itself at every other path
 * that a browser navigates to, because the page has client-side routes. The files contain no user data, so they need no token.
 */
export function pageFiles(read: () => ReadonlyMap<string, PageFile> = readPage): MiddlewareHandler {
  let files: ReadonlyMap<string, PageFile> | null = null
  let docs: ReadonlyMap<string, PageFile> | null = null
  return async (c, next) => {
    const { method, path } = c.req
    if ((method !== 'GET' && method !== 'HEAD') || path === '/v1' || path.startsWith('/v1/')) return next()
    if (`${path}/` === DOCS) return c.redirect(DOCS, 301)
    if (path.startsWith(DOCS)) {
      docs ??= readDocs()
      const file = docs.get(path.replace(/\/index\.html$/, '/'))
      if (file !== undefined) return answer(c, path, file)
      return docs.size === 0
        ? c.text(NO_DOCS, 503, PAGE_HEADERS)
        : c.text(`There is no page here; see ${DOCS}\n`, 404, PAGE_HEADERS)
    }
    files ??= read()
    const navigates = path === '/' || (c.req.header('accept')?.includes('text/html') ?? false)
    const asset = path === '/' ? undefined : files.get(path)
    const file = asset ?? (navigates ? files.get('/') : undefined)
    if (file !== undefined) return answer(c, path, file)
    return navigates ? c.text(NOT_BUILT, 503, PAGE_HEADERS) : next()
  }
}
