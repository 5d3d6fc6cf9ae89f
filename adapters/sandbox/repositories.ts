import { isUtf8 } from 'node:buffer'
import type { Dirent } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { gitFolders, shownIn, unprotected } from './git-folders.ts'
import { type HeldFolder, holding } from './held-folder.ts'
import { isListening } from './listening.ts'
import { socketPaths } from './mounts.ts'
import { bytesAt, bytesOf, walk } from './walk.ts'

/** The workspace, and the paths in it that commands must not change. */
export interface Protected {
  /** The only folder that commands can change. Null: none. */
  readonly folder: HeldFolder | null
  /** Real paths. Commands can only read these, and cannot move them or a folder around them. */
  readonly readOnly: readonly string[]
  /** Real paths of sockets in the workspace. Commands cannot connect to these. */
  readonly sockets: readonly string[]
}

interface Found {
  /** The identity of each git folder by its path, in the form of {@link walk}. */
  readonly repositories: ReadonlyMap<string, string>
  /** Folders that this user may not read. Their owner could make them readable. */
  readonly unreadable: readonly string[]
  /** In the form of {@link walk}. */
  readonly sockets: readonly string[]
}

/** Whether a git folder is protected with all its contents. */
type IsTheirs = (path: string, identity: string) => boolean

/**
 * Finds every `.git` below a folder, and every folder that git recognizes as a repository by its contents. Also searches
 * the git folders that commands have made: a command can make one around the user's.
 */
async function repositoriesIn(workspace: HeldFolder, isTheirs: IsTheirs, limitMs?: number): Promise<Found> {
  const repositories = new Map<string, string>()
  const unreadable: string[] = []
  const sockets: string[] = []
  const isProtected = async (path: string): Promise<boolean> => {
    const identity = await identityOf(bytesAt(workspace, path))
    repositories.set(path, identity)
    return isTheirs(path, identity)
  }
  const visit = async (folder: string, entries: readonly Dirent[]): Promise<readonly Dirent[]> => {
    if (!repositories.has(folder) && isGitFolder(entries) && (await isProtected(folder))) return []
    const inner: Dirent[] = []
    for (const entry of entries) {
      if (entry.isSocket()) sockets.push(`${folder}/${entry.name}`)
      const closed = isDotGit(entry) && (await isProtected(`${folder}/${entry.name}`))
      if (entry.isDirectory() && !closed) inner.push(entry)
    }
    return inner
  }
  await walk(workspace, { visit, unreadable: (folder) => unreadable.push(folder), limitMs })
  return { repositories, unreadable, sockets }
}

const isDotGit = (entry: Dirent): boolean =>
  entry.name.toLowerCase() === '.git' && (entry.isDirectory() || entry.isFile() || entry.isSymbolicLink())

/** The same criteria as git's `is_git_directory`. */
function isGitFolder(entries: readonly Dirent[]): boolean {
  const names = new Set(entries.map(({ name }) => name.toLowerCase()))
  return names.has('head') && (names.has('commondir') || (names.has('objects') && names.has('refs')))
}

/** Distinguishes a file from a later file at the same path. */
const identityOf = (path: Buffer): Promise<string> =>
  lstat(path, { bigint: true }).then(
    ({ ino, birthtimeNs }) => `${ino} ${birthtimeNs}`,
    () => '',
  )

/** The sockets that programs listen on, without the ones that every start covers by name. */
async function listenedOn(folder: HeldFolder, sockets: readonly string[]): Promise<string[]> {
  const named = new Set(socketPaths())
  const paths = sockets.map((path) => bytesOf(path).toString('utf8')).filter((path) => !named.has(path))
  const live = await Promise.all(paths.map((path) => isListening(folder.at(path))))
  return paths.filter((_, index) => live[index])
}

/**
 * Protects the user's repositories in a workspace: all except those that commands have made. The user's next
 * `git status` runs the programs that a repository's settings, hooks and `commondir` name, outside any sandbox. A
 * command that can rename a part of a repository can replace it.
 */
export function userRepositories(workspace: string, limitMs?: number) {
  const made = new Map<string, string>()
  return {
    /**
     * Runs a command with the paths that it must not change, and reports the repositories that it made. Rejects with
     * ToolError EXECUTION_FAILED, before any effect, if a repository cannot be protected.
     */
    around: <T>(
      command: (theirs: Protected & { readonly folder: HeldFolder }) => Promise<T>,
      tell: (text: string) => void,
    ): Promise<T> =>
      holding(workspace, async (folder) => {
        const isTheirs: IsTheirs = (path, identity) => made.get(path) !== identity
        const { repositories, unreadable, sockets } = await repositoriesIn(folder, isTheirs, limitMs)
        const theirs = new Map([...repositories].filter(([path, identity]) => isTheirs(path, identity)))
        const readOnly = new Set<string>()
        for (const path of [...theirs.keys(), ...unreadable]) {
          const text = bytesOf(path).toString('utf8')
          if (!isUtf8(bytesOf(path))) throw unprotected(workspace, text, 'its path is not UTF-8; rename the folder')
          for (const part of unreadable.includes(path) ? [text] : await gitFolders(folder, text)) readOnly.add(part)
        }
        try {
          return await command({ folder, readOnly: [...readOnly], sockets: await listenedOn(folder, sockets) })
        } finally {
          const after = await repositoriesIn(folder, (path) => theirs.has(path), limitMs).catch((error: Error) => {
            tell(`${error.message}; repositories that the command made are read-only from now on`)
            return { repositories: new Map<string, string>() }
          })
          for (const path of made.keys()) if (!after.repositories.has(path)) made.delete(path)
          for (const [path, identity] of after.repositories) {
            if (theirs.has(path)) continue
            if (made.get(path) !== identity)
              tell(
                `the command made the git repository ${shownIn(workspace, bytesOf(path).toString('utf8'))}; git runs the programs that its settings name`,
              )
            made.set(path, identity)
          }
        }
      }),
  }
}
