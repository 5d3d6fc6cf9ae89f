import { constants as fsConstants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { ToolError } from '../../domain/calls/errors.ts'
import { needsPosix, platformOf } from '../../domain/platform.ts'
import type { Workspace } from '../../domain/ports/index.ts'
import { makeFolder } from '../files/folders.ts'
import { liesIn } from '../files/inside.ts'
import { WorkspaceError } from './error.ts'
import { workspaceFiles } from './files.ts'
import { searchFiles } from './search.ts'
import { shadowVersions } from './shadow.ts'
import { NO_SECRETS, openShadowRepository, type VersionSecrets } from './shadow-repository.ts'

export interface WorkspaceOptions {
  /** The data folder, created if missing. Neither folder may contain the other. */
  readonly dataFolder: string
  /** Removes secrets from the shadow versions. Default: files are stored unchanged. */
  readonly secrets?: VersionSecrets
  /** The absolute path of git. Default: the first git that no agent can write. */
  readonly git?: string
  /** True: the path was recorded as a real path. It is refused if it now leads to another folder. */
  readonly recorded?: boolean
  /** Receives warnings, such as files that cannot be versioned. */
  readonly warn?: (text: string) => void
}

/** Opens a folder as a workspace. Rejects with WorkspaceError if the folder cannot be used. */
export async function openWorkspace(path: string, options: WorkspaceOptions): Promise<Workspace> {
  // File tools open each folder on the way. So a link that replaces a folder later has no effect.
  if (!platformOf(process.platform).opensFolders)
    throw new WorkspaceError('WORKSPACE_UNREADABLE', needsPosix('a workspace'))
  const root = await usableFolder(path)
  if (options.recorded && root !== path) {
    throw new WorkspaceError(
      'WORKSPACE_MOVED',
      `the workspace ${path} leads to another folder now, ${root}; put the original folder back`,
    )
  }
  await refuseNested(root, options.dataFolder)
  makeFolder(options.dataFolder)
  const place = await openShadowRepository(await realpath(options.dataFolder), root, options.git)
  const files = workspaceFiles(root)
  return {
    path: root,
    ...files,
    search: async (query, signal) => {
      if (await files.exists(query.path)) return searchFiles(place, await files.resolve(query.path), query, signal)
      throw new ToolError('RESOURCE_NOT_FOUND', `${JSON.stringify(query.path)} does not exist`)
    },
    versions: shadowVersions(place, options.secrets ?? NO_SECRETS, options.warn ?? (() => {})),
  }
}

/**
 * Rejects with WorkspaceError WORKSPACE_HOLDS_DATA if one of workspace and data folder contains the other. `what` names
 * the data folder in the message. The folders need not exist.
 */
export async function refuseNested(workspace: string, dataFolder: string, what = 'the data folder'): Promise<void> {
  const root = await nearestReal(resolve(workspace))
  const data = await nearestReal(resolve(dataFolder))
  if (liesIn(root, data)) {
    throw new WorkspaceError(
      'WORKSPACE_HOLDS_DATA',
      `${what} ${data} lies inside the workspace ${root}, where tools could reach it; move it, or name another folder`,
    )
  }
  if (liesIn(data, root)) {
    throw new WorkspaceError(
      'WORKSPACE_HOLDS_DATA',
      `the workspace ${root} lies inside ${what} ${data}, which is hidden from tools; name another folder`,
    )
  }
}

async function usableFolder(path: string): Promise<string> {
  const real = await realpath(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') {
      throw new WorkspaceError('WORKSPACE_MISSING', `the workspace ${path} does not exist; make the folder first`)
    }
    throw unreadable(path, error)
  })
  if (!(await stat(real)).isDirectory()) {
    throw new WorkspaceError(
      'WORKSPACE_NOT_A_FOLDER',
      `the workspace ${path} is not a folder; name the folder it lies in`,
    )
  }
  await access(real, fsConstants.R_OK | fsConstants.X_OK).catch((error) => {
    throw unreadable(path, error)
  })
  return real
}

const unreadable = (path: string, cause: NodeJS.ErrnoException) =>
  new WorkspaceError('WORKSPACE_UNREADABLE', `the workspace ${path} cannot be read (${cause.code}); check its rights`, {
    cause,
  })

/** The real path of the existing part of a path, with the rest appended. */
export async function nearestReal(path: string): Promise<string> {
  return realpath(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || dirname(path) === path) throw error
    return resolve(await nearestReal(dirname(path)), relative(dirname(path), path))
  })
}
