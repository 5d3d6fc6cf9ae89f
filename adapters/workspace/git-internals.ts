import type { OpenFolder } from './open-folder.ts'
import { leadsOut } from './paths.ts'

/**
 * Throws SANDBOX_VIOLATION if the entry would be in a folder that git recognizes as a repository, or would make the
 * folder a repository. The criteria are git's own. A `.git` may be a link or file that names such a folder, so the name
 * of the folder is not enough.
 */
export function refuseGitFolder(path: string, folder: OpenFolder, name: string): void {
  const has = (sign: string) => folder.has(sign) || name.toLowerCase() === sign.toLowerCase()
  if (has('HEAD') && (has('commondir') || (has('objects') && has('refs'))))
    throw leadsOut(
      path,
      "lies in a git repository's own folder, or makes one; tools may read such a folder but not write",
    )
}
