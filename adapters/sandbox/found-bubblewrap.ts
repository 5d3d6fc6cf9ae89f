import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { promisify } from 'node:util'
import { liesIn } from '../files/inside.ts'
import { findProgram } from '../processes/programs.ts'
import { inWorkspaces } from '../processes/workspaces.ts'
import { SandboxUnavailable } from './error.ts'

export interface BubblewrapOptions {
  /** Real path of the only folder that can be changed; null: none. */
  readonly workspace: string | null
  /** Paths that must not be seen: the data folder, the vault, tokens. Missing paths are skipped. */
  readonly hide: readonly string[]
  readonly env?: NodeJS.ProcessEnv | undefined
  /** Absolute path of bubblewrap. Default: the first one that no agent can write. */
  readonly bwrap?: string | undefined
  readonly dataFolder?: string | undefined
}

export interface Bubblewrap {
  /** Absolute path. */
  readonly bwrap: string
  /** It can limit its folders in memory. */
  readonly bounds: boolean
  /** Real paths, none within another. */
  readonly hide: readonly string[]
}

export const TRIAL_MS = 10_000

/** bubblewrap as it is here. Rejects with SandboxUnavailable where there is none, or the workspace lies in a hidden path. */
export async function foundBubblewrap(options: BubblewrapOptions): Promise<Bubblewrap> {
  if (process.platform !== 'linux') throw new SandboxUnavailable(`bubblewrap needs Linux, this is ${process.platform}`)
  const { workspace } = options
  const bwrap = options.bwrap ?? find(options)
  if (!existsSync(bwrap)) throw new SandboxUnavailable('bubblewrap (bwrap) was not found')
  const hidden = new Set(await Promise.all(options.hide.filter(existsSync).map((path) => realpath(path))))
  // A path below another hidden path needs no mount of its own.
  const hide = [...hidden].filter((path) => ![...hidden].some((other) => other !== path && liesIn(other, path)))
  const covering = workspace === null ? undefined : hide.find((path) => liesIn(path, workspace))
  if (covering !== undefined) throw new SandboxUnavailable(`the workspace ${workspace} lies in the hidden ${covering}`)
  const bounds = await promisify(execFile)(bwrap, ['--help'], { env: {}, timeout: TRIAL_MS }).then(
    ({ stdout, stderr }) => `${stdout}${stderr}`.includes('--size'),
    () => false,
  )
  return { bwrap, bounds, hide }
}

function find({ workspace, env, dataFolder }: BubblewrapOptions): string {
  // Without a workspace of its own, the folders that it may not come from are those of the data folder.
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
