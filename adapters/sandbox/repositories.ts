import type { Dirent } from 'node:fs'
import { readdir, readlink, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { gitFolders } from './git-folders.ts'

/** The most folders of a workspace that are searched, those near its root first. */
const MAX_FOLDERS = 20_000
const AT_ONCE = 64

/** Paths that commands must not change. Real paths in the workspace. */
export interface Protected {
  /** Can be read only, and not moved with a folder around them. */
  readonly readOnly: readonly string[]
  /** Links, which stay where they are. */
  readonly links: readonly string[]
}

/** `packages`: a folder of installed packages or of their scopes. `package`: its own files are not searched. */
interface Folder {
  readonly path: string
  readonly is: 'source' | 'packages' | 'package'
}

/** Every `.git` of a workspace, its own and those beneath; of installed packages those at their roots. */
async function repositoriesIn(workspace: string, most: number): Promise<{ found: string[]; whole: boolean }> {
  const found: string[] = []
  const folders: Folder[] = [{ path: workspace, is: 'source' }]
  for (let at = 0; at < Math.min(folders.length, most); ) {
    const some = folders.slice(at, Math.min(at + AT_ONCE, most))
    at += some.length
    const entries = await Promise.all(some.map(({ path }) => readdir(path, { withFileTypes: true }).catch(none)))
    for (const [index, folder] of some.entries()) {
      for (const entry of entries[index] as Dirent[]) {
        const path = join(folder.path, entry.name)
        const is = entry.isDirectory() ? kindOf(entry.name, folder) : null
        if (entry.name === '.git' && (entry.isDirectory() || entry.isFile() || entry.isSymbolicLink())) found.push(path)
        else if (is) folders.push({ path, is })
      }
    }
  }
  return { found, whole: folders.length <= most }
}

function kindOf(name: string, around: Folder): Folder['is'] | null {
  if (name === 'node_modules') return 'packages'
  if (around.is === 'packages') return name.startsWith('@') ? 'packages' : 'package'
  return around.is === 'source' ? 'source' : null
}

/** The folder was removed since it was listed, or this user may not read it. */
const none = (): Dirent[] => []

/**
 * Protects the user's repositories in a workspace: all except those that commands have made. The user's next `git status`
 * runs the programs that a repository's settings, hooks and `commondir` name, outside of any sandbox. A command that may
 * rename a part of a repository can replace it. A link cannot be protected while a command runs, so it is put back after.
 */
export function userRepositories(workspace: string, warn: (text: string) => void, most = MAX_FOLDERS) {
  const made = new Set<string>()
  let told = false
  const look = async (): Promise<string[]> => {
    const { found, whole } = await repositoriesIn(workspace, most)
    if (!whole && !told) {
      warn(
        `only ${most} folders of ${workspace} were searched, so commands can change a .git beyond them; name a smaller workspace`,
      )
      told = true
    }
    return found
  }
  const putBack = async (path: string, target: string) => {
    if ((await readlink(path).catch(() => null)) === target) return
    await rm(path, { recursive: true, force: true })
    await symlink(target, path)
    warn(`a command replaced the link ${path}; it was put back`)
  }
  return {
    /** Runs a command with the paths that it must not change. */
    async around<T>(command: (theirs: Protected) => Promise<T>): Promise<T> {
      const before = await look()
      for (const path of made) if (!before.includes(path)) made.delete(path)
      const theirs = before.filter((path) => !made.has(path))
      const readOnly = new Set<string>()
      const links = new Map<string, string>()
      for (const git of theirs) {
        const { paths, link } = await gitFolders(workspace, git)
        for (const path of paths) readOnly.add(path)
        if (link !== null) links.set(git, link)
      }
      try {
        return await command({ readOnly: [...readOnly], links: [...links.keys()] })
      } finally {
        for (const [path, target] of links) await putBack(path, target)
        const known = new Set(theirs)
        for (const path of await look()) if (!known.has(path)) made.add(path)
      }
    },
  }
}
