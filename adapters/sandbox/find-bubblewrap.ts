import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { promisify } from 'node:util'
import { platformOf } from '../../domain/platform.ts'
import { liesIn, outermost } from '../files/inside.ts'
import { findProgram } from '../processes/programs.ts'
import { inWorkspaces } from '../processes/workspaces.ts'
import { SandboxUnavailable } from './error.ts'

export interface BubblewrapOptions {
  /** The real path of the only writable folder. Null: none. */
  readonly workspace: string | null
  /** Paths to hide: the data folder, the vault, tokens. Missing paths are skipped. */
  readonly hide: readonly string[]
  readonly env?: NodeJS.ProcessEnv | undefined
  /** The absolute path of bubblewrap. Default: the first bubblewrap that no agent can write. */
  readonly bwrap?: string | undefined
  readonly dataFolder?: string | undefined
}

export interface Bubblewrap {
  /** Absolute path. */
  readonly bwrap: string
  /** Whether this bubblewrap can limit the size of folders in memory. */
  readonly bounds: boolean
  /** Real paths, none below another. */
  readonly hide: readonly string[]
}

export const TRIAL_MS = 10_000

/**
 * Finds bubblewrap and its features. Rejects with SandboxUnavailable if there is none, or if the workspace is in a
 * hidden path.
 */
export async function foundBubblewrap(options: BubblewrapOptions): Promise<Bubblewrap> {
  if (!platformOf(process.platform).hasNamespaces)
    throw new SandboxUnavailable(`bubblewrap needs Linux, this is ${process.platform}`)
  const { workspace } = options
  const bwrap = options.bwrap ?? find(options)
  if (!existsSync(bwrap)) throw new SandboxUnavailable('bubblewrap (bwrap) was not found')
  // A path below another hidden path needs no mount of its own.
  const hide = outermost([...new Set((await Promise.all(options.hide.map(realPaths))).flat())])
  const covering = workspace === null ? undefined : hide.find((path) => liesIn(path, workspace))
  if (covering !== undefined)
    throw new SandboxUnavailable(`the workspace ${workspace} lies in the hidden ${covering}`, { isOfRequest: true })
  const bounds = await promisify(execFile)(bwrap, ['--help'], { env: {}, timeout: TRIAL_MS }).then(
    ({ stdout, stderr }) => `${stdout}${stderr}`.includes('--size'),
    () => false,
  )
  return { bwrap, bounds, hide }
}

function find({ workspace, env, dataFolder }: BubblewrapOptions): string {
  // Without a workspace, exclude programs in the workspaces of the data folder.
  const writable = workspace ?? dataFolder
  try {
    return findProgram('bwrap', {
      ...(env && { env }),
      ...(writable !== undefined && { writable: inWorkspaces(writable, dataFolder) }),
    })
  } catch (error) {
    throw new SandboxUnavailable(`bubblewrap: ${(error as Error).message}`, { cause: error })
  }
}

/** The real path of a path to hide; none if it is missing: other programs remove data folders meanwhile. */
const realPaths = (path: string): Promise<string[]> =>
  realpath(path).then(
    (real) => [real],
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      return []
    },
  )
