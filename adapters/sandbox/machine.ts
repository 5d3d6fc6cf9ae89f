import { existsSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { certificatePaths, searchPath } from './environment.ts'
import { type PrivateEntry, privateEntries } from './private-entries.ts'
import { toolPaths } from './toolchains.ts'

/** The parts of this machine that confined programs see, and the hidden parts within them. */
export interface Machine {
  /** The home folder, from the environment. */
  readonly home: string
  /** Other homes: the user's home according to the system. */
  readonly otherHomes: readonly string[]
  /** Files and folders of tools and certificates outside the system's folders. */
  readonly tools: readonly string[]
  /** Entries of `/etc` that some users may not read. */
  readonly masked: readonly PrivateEntry[]
}

/** The machine as programs with these variables see it. `workspace`: a real path. */
export async function machineOf(env: NodeJS.ProcessEnv, workspace: string | null): Promise<Machine> {
  const home = homeOf(env)
  const otherHomes = systemHomes()
  const tools = toolPaths({ home, otherHomes, node: process.execPath, path: searchPath(env), workspace })
  const certificates = certificatePaths(env).filter(existsSync)
  return { home, otherHomes, tools: [...tools, ...certificates], masked: await privateEntries('/etc') }
}

export const homeOf = (ours: NodeJS.ProcessEnv): string => ours.HOME || homedir()

/** The user's home in the system's list of users. A user without an entry, as in containers, has none. */
function systemHomes(): string[] {
  try {
    return [userInfo().homedir]
  } catch {
    return []
  }
}
