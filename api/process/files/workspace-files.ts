import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { isAbsolute, posix, relative } from 'node:path'
import { lockWorkspace } from '../../../adapters/workspace/lock.ts'
import { openWorkspace } from '../../../adapters/workspace/open.ts'
import { ERASED } from '../../../domain/calls/events/residue.ts'
import { Policy } from '../../../domain/calls/policy-schema.ts'
import { readNow } from '../../../domain/calls/runtime/approved-files.ts'
import type { Workspace } from '../../../domain/ports/index.ts'
import type { AgentSpec } from '../../../domain/tree/spec.ts'
import { Problem } from '../../operations/problem.ts'
import { type FilePoint, type Files, MAX_NAMED_FILES, type NamedFile } from '../../operations/services.ts'
import type { AgentFiles } from './agent-files.ts'
import { fileBlame } from './file-blame.ts'
import type { FileSources } from './file-sources.ts'
import { forkFound, forkInto } from './fork-files.ts'
import { throwRestoreError } from './restore-error.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Null: the bytes are not UTF-8. */
function textOf(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes)
  } catch {
    return null
  }
}

/** The folder of a run's files. Throws WORKSPACE_ERASED if its path was erased. */
export function folderOf({ path }: { readonly path: string }, then = 'to fork it, name a folder for the fork'): string {
  if (path !== ERASED) return path
  throw new Problem('WORKSPACE_ERASED', `where this run worked was erased; ${then}`)
}
/** The parts of a run's definition for opening its files. */
type Worked = Pick<AgentSpec, 'secrets' | 'policy'> & {
  readonly workspace: { readonly path: string } | null
  /** False: the path is unresolved and may contain symbolic links. */
  readonly real?: false
}
const ofAgent = ({ path }: AgentFiles): Worked => ({
  ...{ secrets: [], policy: Policy.parse({}), real: false },
  workspace: path === null ? null : { path },
})
const NO_FILES = 'its files are not found from here any more, neither to compare nor to put back'

/** The name of a missing file, not another word: it has a folder or an extension, and is no address or text. */
const LOOKS_MISSING = /^(?!.*(?::\/\/|\s)).*(?:\/|\.[a-z])/i

/**
 * The file of a name in a command. Keeps the name of a link: a link can lead to another file later. Null: the name is a
 * folder, a word, or outside the workspace.
 */
async function namedFile(workspace: Workspace, folder: string, name: string): Promise<NamedFile | null> {
  const asked = isAbsolute(name) ? name : posix.join(folder, name)
  const real = await workspace.resolve(asked).catch((error: { code?: unknown }) => {
    return error.code === 'SANDBOX_VIOLATION' ? null : ''
  })
  const within = isAbsolute(name) ? relative(workspace.path, name) : asked
  const path = /^\.\.(?:\/|$)/.test(within) ? real : within.replace(/\/$/, '')
  if (path === null || path === '' || path === '.' || real === '') return null
  const { content } = await readNow(workspace, path)
  if (content === 'absent' && !LOOKS_MISSING.test(name)) return null
  if (content === 'unreadable' && (await workspace.list(path).then(Boolean, () => false))) return null
  return { path, content, ...(real !== path && { leadsTo: real }) }
}

/** The service for the files of runs: their present content, their content at a step, and restores. */
export function workspaceFilesOf(sources: FileSources): Files {
  const { dataFolder } = sources

  const open = async (spec: Worked): Promise<Workspace | null> => {
    if (spec.workspace === null) return null
    const { versions } = await sources.boundary(spec)
    return openWorkspace(folderOf(spec.workspace, NO_FILES), {
      dataFolder,
      secrets: versions,
      recorded: spec.real !== false,
    })
  }
  const treeAt = async ({ agentId, at }: FilePoint) => {
    const other = await sources.agentFilesAt(agentId, at)
    if (other !== null) return { spec: ofAgent(other), tree: other.tree }
    const { state, tree } = await sources.filesAt(agentId, at)
    return { spec: state.spec, tree }
  }

  return {
    async diff(a, b, maxBytes) {
      const [from, to] = await Promise.all([treeAt(a), treeAt(b)])
      const workspace = await open(from.spec)
      if (workspace === null || from.tree === null || to.tree === null) return null
      const changes = await workspace.versions.changes(from.tree, to.tree)
      return { changes, patch: await workspace.versions.diff(from.tree, to.tree, maxBytes) }
    },
    async blame(agentId, step, path) {
      const { spec } = await treeAt({ agentId, at: { step } })
      const workspace = await open(spec)
      const versions = workspace === null ? [] : await sources.versionsOf(agentId, step)
      return versions.length === 0 ? null : fileBlame(workspace!.versions, versions, path)
    },
    async current(agentId, path) {
      const { spec } = await treeAt({ agentId, at: null })
      const workspace = await open(spec)
      if (workspace === null) return { path, content: 'absent', text: null, size: null }
      const real = await workspace.resolve(path).catch(() => path)
      const { content, bytes, fault } = await readNow(workspace, real)
      const why = fault === undefined ? {} : { fault }
      return { path: real, content, text: bytes && textOf(bytes), size: bytes?.length ?? null, ...why }
    },
    unwritable: (folder) =>
      access(folder, constants.W_OK).then(
        () => null,
        (error: NodeJS.ErrnoException) => error.code ?? error.message,
      ),
    async named(agentId, folder, names) {
      const { spec } = await treeAt({ agentId, at: null })
      const workspace = await open(spec)
      const found = new Map<string, NamedFile>()
      for (const name of workspace === null ? [] : names) {
        const file = await namedFile(workspace!, folder, name)
        if (file === null || found.has(file.path)) continue
        if (found.size === MAX_NAMED_FILES) return { files: [...found.values()], more: true }
        found.set(file.path, file)
      }
      return { files: [...found.values()], more: false }
    },
    async restore(agentId, { to, dryRun, expected, begins }) {
      const at = 'tree' in to ? null : to
      const { spec, tree: recorded } = await treeAt({ agentId, at })
      const tree = 'tree' in to ? to.tree : recorded
      if (spec.workspace === null || tree === null) {
        throw new Problem('NO_WORKSPACE', 'this run has no versioned workspace')
      }
      const lock = lockWorkspace(folderOf(spec.workspace, NO_FILES), dataFolder, agentId)
      try {
        const { path, versions } = (await open(spec)) as Workspace
        const now = await versions.snapshot().catch((error) => throwRestoreError(error, path, false))
        const changes = await versions.changes(now, tree)
        if (expected !== undefined && expected !== now) {
          throw new Problem('FILES_CHANGED', 'files changed since they were looked at; look again')
        }
        if (dryRun) return { tree, changes, replaced: now }
        await begins?.({ tree, replaces: now })
        const { replaced } = await versions.restore(tree).catch((error) => throwRestoreError(error, path, true))
        return { tree, changes, replaced }
      } finally {
        lock.release()
      }
    },
    async fork(source, at, { runId, folder, keyed }, record) {
      const point = await sources.filesAt(source, at)
      const { workspace } = point.state.spec
      if (workspace === null) return record(null)
      const path = folder ?? `${folderOf(workspace)}-${runId.slice(-8)}`
      return forkInto(sources, point, { runId, folder: path, keyed }, record)
    },
    forkFound: (runId) => forkFound(dataFolder, runId),
  }
}
