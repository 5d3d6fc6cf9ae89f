import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { leadsOut } from './paths.ts'

/**
 * Rejects with SANDBOX_VIOLATION where a folder above a path is a git folder, by the signs that git itself uses. Its name may
 * be any, because a `.git` may be a link or a file that names it.
 */
export async function refuseGitFolders(root: string, path: string, segments: readonly string[]): Promise<void> {
  for (let depth = 1; depth < segments.length; depth++) {
    if (await isGitFolder(join(root, ...segments.slice(0, depth))))
      throw leadsOut(path, "lies in a git repository's own folder, which tools may read but not write")
  }
}

async function isGitFolder(folder: string): Promise<boolean> {
  const has = (name: string) =>
    stat(join(folder, name)).then(
      () => true,
      () => false,
    )
  if (!(await has('HEAD'))) return false
  return (await has('commondir')) || ((await has('objects')) && (await has('refs')))
}
