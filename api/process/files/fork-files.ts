import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readdir, realpath, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { lockWorkspace } from '../../../adapters/workspace/lock.ts'
import { openWorkspace, refuseNested } from '../../../adapters/workspace/open.ts'
import { CommandRejected } from '../../../domain/calls/errors.ts'
import { LogError, type LogErrorCode, notWritten } from '../../../domain/log/errors.ts'
import { agentStream, sha256 } from '../../../domain/log/ids.ts'
import type { Versions } from '../../../domain/ports/index.ts'
import { ContentionError, TimeLimitError } from '../../../domain/stream/runtime/errors.ts'
import { asProblem, Problem } from '../../operations/problem.ts'
import type { ForkFiles, ForkFolder } from '../../operations/services.ts'
import type { FileSources, FilesAtPoint } from './file-sources.ts'
import { asFolder, entriesOf, makeAsked } from './named-folder.ts'

/**
 * Writes the files of a fork's point to a new or empty folder, never over existing files, and records the fork with
 * them. If nothing was recorded, restores the folder to its previous state. If that is unknown, the files stay: a
 * repeated request for the same fork and folder finds them and adds missing ones.
 */
export async function forkInto<T>(
  sources: FileSources,
  point: FilesAtPoint,
  fork: Required<ForkFolder>,
  record: (files: ForkFiles) => Promise<T>,
): Promise<T> {
  const { dataFolder } = sources
  const path = resolve(fork.folder)
  // Check before anything is created, so that no refused folder is left behind.
  await asFolder(path, () => refuseNested(path, dataFolder))
  const note = noteOf(dataFolder, fork.runId)
  const begun = note.read() === path
  const found = existsSync(path)
  const leaveAsFound = async () => {
    if (begun) return
    const made = found ? (await readdir(path)).map((name) => join(path, name)) : [path]
    for (const one of made) await rm(one, { recursive: true, force: true })
    note.remove()
  }
  await makeAsked(path, 0o777)
  // Of two forks into one folder, the second must find it locked or not empty.
  const lock = lockWorkspace(path, dataFolder, null)
  let files: ForkFiles
  try {
    if (!begun && (await entriesOf(path)).length > 0) {
      throw notEmpty(`${path} is not empty; name a new folder for the fork, or empty this one`)
    }
    if (fork.keyed) note.write(path)
    files = await put(sources, point, path, begun).catch(async (error: unknown) => {
      await leaveAsFound()
      throw error
    })
  } finally {
    lock.release()
  }
  try {
    const made = await record(files)
    note.remove()
    return made
  } catch (error) {
    if (!(await isUnrecorded(sources, fork.runId, error))) throw leftIn(path, error)
    await leaveAsFound()
    throw error
  }
}

/** Removes the note about a fork's files, after the fork's run was found. */
export const forkFound = (dataFolder: string, runId: string): void => noteOf(dataFolder, runId).remove()

async function put(
  sources: FileSources,
  { state, tree }: FilesAtPoint,
  path: string,
  begun: boolean,
): Promise<ForkFiles> {
  if (tree === null) return { path: await realpath(path), tree }
  const { versions: secrets } = await sources.boundary(state.spec)
  const { versions, path: real } = await openWorkspace(path, { dataFolder: sources.dataFolder, secrets })
  if (begun) await complete(versions, tree, path)
  else await versions.materialize(tree, path)
  return { path: real, tree }
}

/**
 * Adds the missing files. Throws if a person has changed files since, because the outcome of the first request was
 * unknown.
 */
async function complete(versions: Versions, tree: string, path: string): Promise<void> {
  const changes = await versions.changes(await versions.snapshot(), tree)
  if (changes.some(({ change }) => change !== 'added')) {
    throw notEmpty(
      `${path} holds files of this fork that were changed since, or others; move them elsewhere and ask again, or name a ` +
        'new folder for the fork',
    )
  }
  if (changes.length > 0) await versions.restore(tree)
}

const notEmpty = (detail: string) => new Problem('FOLDER_NOT_EMPTY', detail)

/** Whether a fork is not recorded and never will be. An append without an answer may still succeed. */
async function isUnrecorded({ log }: FileSources, runId: string, error: unknown): Promise<boolean> {
  if (error instanceof CommandRejected || error instanceof ContentionError || notWritten(error)) return true
  if (error instanceof TimeLimitError || (error instanceof LogError && UNANSWERED.has(error.code))) return false
  const head = await log.head(agentStream(runId)).catch(() => undefined)
  return head === null
}

const UNANSWERED: ReadonlySet<LogErrorCode> = new Set(['LOG_UNAVAILABLE', 'LOG_CLOSED'])

/** Adds the folder to the error: other requests cannot use it, and a person who named no folder does not know it. */
function leftIn(path: string, error: unknown): unknown {
  const problem = asProblem(error)
  if (problem === null) return error
  const { code, message, errors } = problem
  const what = `its files are in ${path}: a request with another key needs a new folder, or this one emptied`
  return new Problem<string>(code, `${message}; ${what}`, errors, { cause: error })
}

/** A note with the folder of a fork's files, until the outcome of the fork is known. */
function noteOf(dataFolder: string, runId: string) {
  const file = join(dataFolder, 'locks', `fork-${sha256(Buffer.from(runId)).slice(0, 32)}`)
  return {
    read: (): string | null => (existsSync(file) ? readFileSync(file, 'utf8') : null),
    write: (path: string): void => writeFileSync(file, path, { mode: 0o600 }),
    remove: (): void => rmSync(file, { force: true }),
  }
}
