import { ToolError } from '../../domain/calls/errors.ts'
import type { SearchMatch, SearchQuery } from '../../domain/ports/index.ts'
import { Semaphore } from '../../domain/stream/runtime/concurrency.ts'
import { beside, firstMessage } from '../threads/first-message.ts'
import type { GitPlace } from './git.ts'
import type { SearchWork } from './search-worker.ts'
import { allPaths, rawOf, shownPath } from './worktree.ts'

/** The time limit of a search, in ms. Only catastrophic patterns take longer. */
export const SEARCH_LIMIT_MS = 10_000
/** Each search takes a thread and the memory of a file. Other searches wait. */
const AT_ONCE = new Semaphore(4)

interface Found {
  readonly matches: readonly SearchMatch[]
  readonly truncated: boolean
}

/**
 * Searches the files of a workspace below a real path, in path order, without ignored files and binaries. Rejects with
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
  const { only, glob, caseSensitive, limit } = query
  const all = await allPaths(place)
  const paths = only === undefined ? all : all.filter((path) => only(shownPath(path)))
  const work: SearchWork = {
    ...{ folder: place.workTree, under: rawOf(under), paths, source, limit },
    flags: caseSensitive ? '' : 'i',
    ...(glob !== undefined && { glob }),
  }
  return AT_ONCE.run(() => runWorker(work, signal, limitMs), signal)
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

async function runWorker(work: SearchWork, signal: AbortSignal, limitMs: number): Promise<Found> {
  const limit = AbortSignal.timeout(limitMs)
  try {
    const either = AbortSignal.any([signal, limit])
    return await firstMessage<Found>(beside(import.meta.url, 'search-worker'), work, either)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (!limit.aborted) throw error
    throw new ToolError('TIMEOUT', `the search took more than ${limitMs} ms; use a simpler pattern or glob`)
  }
}
