import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Context } from '../context.ts'
import type { Share } from '../output/progress.ts'
import { bytes } from '../output/units.ts'

/** The time between two reads of the progress, in ms. */
const LOOK_MS = 1_000

/** Waits for work, and shows its progress. `far` returns the progress; null: unknown at present. Errors of `far` are ignored. */
export async function measured<T>(
  { progress }: Pick<Context, 'progress'>,
  far: () => Promise<Share | null>,
  work: Promise<T>,
): Promise<T> {
  if (progress === null) return work
  const over = new AbortController()
  const ended = work.finally(() => over.abort())
  ended.catch(() => undefined)
  while (!over.signal.aborted) {
    await wait(LOOK_MS, undefined, { signal: over.signal }).catch(() => undefined)
    if (over.signal.aborted) break
    const share = await far().catch(() => null)
    if (share !== null) progress.at(share)
  }
  return ended
}

/** The bytes in a folder, compared with those of the files and folders to copy. The total is computed once. */
export function copyProgress(parts: readonly string[], folder: string): () => Promise<Share> {
  let total: Promise<number> | null = null
  const sizes = async (paths: readonly string[]) =>
    (await Promise.all(paths.map(sizeOf))).reduce((sum, n) => sum + n, 0)
  return async () => {
    total ??= sizes(parts)
    return { done: await sizeOf(folder), total: await total, unit: '', amount: bytes }
  }
}

/** The bytes of a file, or of all files in a folder. 0: it is missing. */
async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => null)
  if (found === null || !found.isDirectory()) return found?.size ?? 0
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const each = await Promise.all(files.map((file) => stat(file).catch(() => null)))
  return each.reduce((sum, one) => sum + (one?.size ?? 0), 0)
}
