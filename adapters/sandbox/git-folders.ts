import { readFile, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { ToolError } from '../../domain/calls/errors.ts'
import { liesIn } from '../files/inside.ts'
import { stepsTo } from '../processes/steps.ts'
import type { HeldFolder } from './held-folder.ts'

/** The largest file with the name of a folder, in bytes. */
const MAX_NAME = 8_192

/**
 * The real paths in the workspace that form a git folder: the folder itself, the folder that a file `.git` names with
 * `gitdir:`, and the folder of its `commondir`. Git reads settings and hooks from all of them. Leaves out paths outside
 * the workspace. Rejects with ToolError EXECUTION_FAILED, before any effect, if a command could replace a path: through
 * a link on the way, by making a missing path, or because the workspace itself is a git folder.
 */
export async function gitFolders(folder: HeldFolder, git: string): Promise<string[]> {
  const workspace = folder.path
  const found = new Set<string>()
  for (let at: string | null = git; at !== null && !found.has(at); at = await namedBy(folder, at)) {
    const real = settled(folder, git, at)
    if (real === null) break
    if (real === workspace)
      throw unprotected(workspace, git, 'the workspace itself is a git folder; name another workspace')
    at = real
    found.add(at)
  }
  return [...found].filter((path) => liesIn(workspace, path))
}

/** The real path. Null if it is missing or unreadable outside the workspace. */
function settled({ path: workspace, at: through, nameOf }: HeldFolder, git: string, path: string): string | null {
  // The search has entered the folder around the git folder, and follows no links.
  const start = [dirname(git), workspace].find((known) => liesIn(known, path)) ?? '/'
  let last = start
  try {
    for (const { at, link } of stepsTo(path, { start, through })) {
      if (link && liesIn(workspace, at))
        throw unprotected(
          workspace,
          git,
          `a command could replace the link ${shownIn(workspace, at)}; put a file there with the line "gitdir: FOLDER", or name the real folder`,
        )
      last = at
    }
    return last
  } catch (error) {
    if (error instanceof ToolError) throw error
    const missing = nameOf((error as NodeJS.ErrnoException).path ?? path)
    if (!liesIn(workspace, missing)) return null
    throw unprotected(
      workspace,
      git,
      `a command could make ${shownIn(workspace, missing)}, which is missing or cannot be looked into; make it, or remove its name`,
    )
  }
}

/** The folder that a git folder's `commondir` or a file `.git` names. Null: none, or one that git does not accept. */
async function namedBy({ at }: HeldFolder, path: string): Promise<string | null> {
  try {
    const isFolder = (await stat(at(path))).isDirectory()
    const file = at(isFolder ? join(path, 'commondir') : path)
    if ((await stat(file)).size > MAX_NAME) return null
    const text = (await readFile(file, 'utf8')).replace(/[\r\n]+$/, '')
    if (isFolder) return text === '' ? null : resolve(path, text)
    const [, folder] = /^gitdir: (.+)$/s.exec(text) ?? []
    return folder === undefined ? null : resolve(path, '..', folder)
  } catch {
    return null
  }
}

/** A path of the workspace for messages. */
export const shownIn = (workspace: string, path: string): string => JSON.stringify(relative(workspace, path) || '.')

export const unprotected = (workspace: string, git: string, why: string): ToolError =>
  new ToolError('EXECUTION_FAILED', `the repository of ${shownIn(workspace, git)} cannot be protected: ${why}`, {
    beforeEffect: true,
  })
