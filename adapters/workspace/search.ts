import { matchesGlob } from 'node:path/posix'
import { Worker } from 'node:worker_threads'
import { ToolError } from '../../domain/agent/errors.ts'
import type { SearchMatch, SearchQuery } from '../../domain/ports.ts'
import type { GitPlace } from './git.ts'
import type { SearchWork } from './search-worker.ts'
import { allPaths, rawOf, shownPath } from './worktree.ts'

/** A search that takes longer is given up: its pattern is catastrophic. In ms. */
export const SEARCH_LIMIT_MS = 10_000

interface Found {
  readonly matches: readonly SearchMatch[]
  readonly truncated: boolean
}

/** Looks through the files of a workspace beneath a real path, in path order; ignored files and binaries aside. */
export async function searchFiles(
  place: GitPlace,
  under: string,
  query: SearchQuery,
  signal: AbortSignal,
  limitMs = SEARCH_LIMIT_MS,
): Promise<Found> {
  signal.throwIfAborted()
  const source = query.regex ? query.pattern : RegExp.escape(query.pattern)
  refuseBadPattern(source)
  const raw = rawOf(under)
  const paths = (await allPaths(place))
    .filter((path) => raw === '' || path === raw || path.startsWith(`${raw}/`))
    .filter((path) => query.glob === undefined || globbed(shownPath(path), query.glob))
    .filter((path) => query.only?.(shownPath(path)) ?? true)
    .sort()
  const flags = query.caseSensitive ? '' : 'i'
  return runWorker({ folder: place.workTree, paths, source, flags, limit: query.limit }, signal, limitMs)
}

function refuseBadPattern(source: string): void {
  if (source === '') throw new ToolError('INVALID_ARGUMENTS', 'the query must not be empty')
  try {
    new RegExp(source)
  } catch (error) {
    throw new ToolError('INVALID_ARGUMENTS', `the query is no regular expression: ${(error as Error).message}`)
  }
}

/** A glob without a slash is about file names, as people expect from `*.ts`. */
const globbed = (path: string, glob: string): boolean =>
  matchesGlob(glob.includes('/') ? path : path.slice(path.lastIndexOf('/') + 1), glob)

function runWorker(work: SearchWork, signal: AbortSignal, limitMs: number): Promise<Found> {
  // The compiled package has .js beside this file, the source tree has .ts.
  const file = import.meta.url.endsWith('.ts') ? './search-worker.ts' : './search-worker.js'
  const worker = new Worker(new URL(file, import.meta.url), { workerData: work, env: {}, execArgv: [] })
  return new Promise<Found>((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      void worker.terminate().then(settle, settle)
    }
    const abort = () => end(() => reject(signal.reason))
    const timer = setTimeout(
      () =>
        end(() => reject(new ToolError('TIMEOUT', `the search took more than ${limitMs} ms; use a simpler pattern`))),
      limitMs,
    )
    signal.addEventListener('abort', abort)
    worker.on('message', (found: Found) => end(() => resolve(found)))
    worker.on('error', (error) => end(() => reject(error)))
  })
}
