import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
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
  let [isLooking, hasEnded] = [false, false]
  const look = async () => {
    if (isLooking) return
    isLooking = true
    const share = await far().catch(() => null)
    isLooking = false
    if (share !== null && !hasEnded) progress.at(share)
  }
  const timer = setInterval(look, LOOK_MS)
  try {
    return await work
  } finally {
    hasEnded = true
    clearInterval(timer)
  }
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
