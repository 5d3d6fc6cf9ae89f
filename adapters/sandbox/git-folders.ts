import { readFile, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { liesIn } from '../files/inside.ts'

/** The folders of a `.git`, which is a folder, or a link or file that names one. */
export interface GitFolders {
  /** Real paths in the workspace: its own, and its targets. */
  readonly paths: readonly string[]
  /** The target text of a link; null for a folder or file. */
  readonly link: string | null
}

/** The largest file that names a folder. In bytes. */
const MAX_NAME = 4_096

/**
 * Follows a `.git`: a link to its target, a file to its `gitdir:`, a folder to its `commondir`. Git reads settings and hooks
 * from all of them. Leaves out paths outside the workspace, and the workspace itself.
 */
export async function gitFolders(workspace: string, git: string): Promise<GitFolders> {
  const seen = new Set<string>()
  for (let at: string | null = git; at !== null; ) {
    const real: string | null = await realpath(at).catch(() => null)
    if (real === null || seen.has(real)) break
    seen.add(real)
    at = await named(real).catch(() => null)
  }
  const paths = [...seen].filter((path) => path !== workspace && liesIn(workspace, path))
  return { paths, link: await readlink(git).catch(() => null) }
}

async function named(path: string): Promise<string | null> {
  const isFolder = (await stat(path)).isDirectory()
  const file = isFolder ? join(path, 'commondir') : path
  if ((await stat(file)).size > MAX_NAME) return null
  const text = (await readFile(file, 'utf8')).replace(/[\r\n]+$/, '')
  if (isFolder) return text === '' ? null : resolve(path, text)
  const [, folder] = /^gitdir: (.+)$/s.exec(text) ?? []
  return folder === undefined ? null : resolve(dirname(path), folder)
}
