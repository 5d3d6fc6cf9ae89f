import { once } from 'node:events'
import { matchesGlob } from 'node:path/posix'
import { Worker } from 'node:worker_threads'
import { ToolError } from '../../domain/agent/errors.ts'
import type { SearchMatch, SearchQuery } from '../../domain/ports.ts'
import type { GitPlace } from './git.ts'
import type { SearchWork } from './search-worker.ts'
import { allPaths, rawOf, shownPath } from './worktree.ts'

/** The time limit of a search: a longer one has a catastrophic pattern. In ms. */
export const SEARCH_LIMIT_MS = 10_000

interface Found {
  readonly matches: readonly SearchMatch[]
  readonly truncated: boolean
}

/**
 * Searches the files of a workspace beneath a real path, in path order, without ignored files and binaries. Rejects with
 * ToolError INVALID_ARGUMENTS for a bad pattern, TIMEOUT after `limitMs`, and with the signal's reason.
 */
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
    throw new ToolError(
      'INVALID_ARGUMENTS',
      `the query is not a regular expression: ${(error as Error).message}; correct it, or set regex to false`,
    )
  }
}

/** A glob without a slash matches file names, as people expect of `*.ts`. */
const globbed = (path: string, glob: string): boolean =>
  matchesGlob(glob.includes('/') ? path : path.slice(path.lastIndexOf('/') + 1), glob)

async function runWorker(work: SearchWork, signal: AbortSignal, limitMs: number): Promise<Found> {
  // The compiled package has .js beside this file, the source tree has .ts.
  const file = import.meta.url.endsWith('.ts') ? './search-worker.ts' : './search-worker.js'
  const worker = new Worker(new URL(file, import.meta.url), { workerData: work, env: {}, execArgv: [] })
  const limit = AbortSignal.timeout(limitMs)
  try {
    const [found] = await once(worker, 'message', { signal: AbortSignal.any([signal, limit]) })
    return found as Found
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (!limit.aborted) throw error
    throw new ToolError('TIMEOUT', `the search took more than ${limitMs} ms; use a simpler pattern`)
  } finally {
    await worker.terminate()
  }
}
