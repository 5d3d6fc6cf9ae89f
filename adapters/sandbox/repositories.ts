import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Folders of a workspace that are looked into at most, those near its root first. */
const MAX_FOLDERS = 20_000
const AT_ONCE = 64

/** Every `.git` of a workspace, its own and those beneath; installed packages are not looked into. */
async function repositoriesIn(workspace: string, most: number): Promise<{ found: string[]; whole: boolean }> {
  const found: string[] = []
  const folders = [workspace]
  for (let at = 0; at < Math.min(folders.length, most); ) {
    const some = folders.slice(at, Math.min(at + AT_ONCE, most))
    at += some.length
    const entries = await Promise.all(some.map((folder) => readdir(folder, { withFileTypes: true }).catch(none)))
    for (const [index, folder] of some.entries()) {
      for (const entry of entries[index] as Dirent[]) {
        if (entry.name === '.git' && (entry.isDirectory() || entry.isFile())) found.push(join(folder, entry.name))
        else if (entry.isDirectory() && entry.name !== 'node_modules') folders.push(join(folder, entry.name))
      }
    }
  }
  return { found, whole: folders.length <= most }
}

/** Gone since it was named, or closed to this user. */
const none = (): Dirent[] => []

/**
 * The repositories of a workspace that are the user's: all but those that commands have made. What a repository's settings,
 * hooks and `commondir` name runs at the user's next `git status`, outside of any sandbox; and whoever may rename a part of
 * it can put another in its place.
 */
export function userRepositories(workspace: string, warn: (text: string) => void, most = MAX_FOLDERS) {
  const made = new Set<string>()
  let told = false
  const look = async (): Promise<string[]> => {
    const { found, whole } = await repositoriesIn(workspace, most)
    if (!whole && !told) {
      warn(`only ${most} folders of ${workspace} were looked into: commands can change a .git beyond them`)
      told = true
    }
    return found
  }
  return {
    /** Runs a command with the `.git`s that it must not change. */
    async around<T>(command: (theirs: readonly string[]) => Promise<T>): Promise<T> {
      const before = await look()
      for (const path of made) if (!before.includes(path)) made.delete(path)
      const theirs = before.filter((path) => !made.has(path))
      try {
        return await command(theirs)
      } finally {
        const known = new Set(theirs)
        for (const path of await look()) if (!known.has(path)) made.add(path)
      }
    },
  }
}
