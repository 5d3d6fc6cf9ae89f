import { beside, firstMessage } from '../../../../adapters/threads/first-message.ts'
import { Semaphore } from '../../../../domain/stream/runtime/concurrency.ts'
import { Problem } from '../../problem.ts'
import { type BlamedLines, blameLines } from './blame-lines.ts'
import { type Patch, patchOf } from './patch.ts'

export type DiffWork =
  | { readonly kind: 'blame'; readonly versions: readonly (string | null)[] }
  | { readonly kind: 'patch'; readonly path: string; readonly before: string; readonly after: string }

const LIMIT_MS = 30_000
/** Shorter texts are compared in this thread, because starting a thread takes longer. In characters. */
const SHORT = 2_048
/** The most threads. Other work waits. */
const AT_ONCE = new Semaphore(2)

/** {@link blameLines} in a separate thread. Rejects with `TIME_LIMIT`. */
export async function blameApart(versions: readonly (string | null)[], limitMs = LIMIT_MS): Promise<BlamedLines[]> {
  if (versions.reduce((sum, text) => sum + (text?.length ?? 0), 0) <= SHORT) return blameLines(versions)
  return apart({ kind: 'blame', versions }, limitMs)
}

/** {@link patchOf} in a separate thread. Rejects with `TIME_LIMIT`. */
export async function patchApart(path: string, before: string, after: string): Promise<Patch> {
  if (before.length + after.length <= SHORT) return patchOf(path, before, after)
  return apart({ kind: 'patch', path, before, after }, LIMIT_MS)
}

async function apart<T>(work: DiffWork, limitMs: number): Promise<T> {
  return AT_ONCE.run(async () => {
    const limit = AbortSignal.timeout(limitMs)
    try {
      return await firstMessage<T>(beside(import.meta.url, 'diff-thread'), work, limit)
    } catch (error) {
      if (!limit.aborted) throw error
      throw new Problem('TIME_LIMIT', `comparing the texts takes more than ${limitMs} ms; look at an earlier step`)
    }
  })
}
