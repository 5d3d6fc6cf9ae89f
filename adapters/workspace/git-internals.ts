import type { OpenFolder } from './open-folder.ts'
import { leadsOut } from './paths.ts'

/**
 * Throws SANDBOX_VIOLATION where an entry of this name would lie in a folder that git takes for a repository, or would make
 * the folder one. The signs are those that git itself uses. A `.git` may be a link or a file that names such a folder.
 */
export function refuseGitFolder(path: string, folder: OpenFolder, name: string): void {
  const has = (sign: string) => folder.has(sign) || name.toLowerCase() === sign.toLowerCase()
  if (has('HEAD') && (has('commondir') || (has('objects') && has('refs'))))
    throw leadsOut(
      path,
      "lies in a git repository's own folder, or makes one; tools may read such a folder but not write",
    )
}
