import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { liesIn } from '../../files/inside.ts'
import { commandEnvironment, searchPath } from '../../sandbox/environment.ts'
import { MARKER } from '../../sandbox/registry.ts'

/** The variables and folders that requests may give to agents. */
export interface Allowed {
  /** Names of variables that a request may set. Absent: any. */
  readonly env?: readonly string[]
  /** Real paths of folders. Agents may work in these folders and below. Absent: in any folder. */
  readonly folders?: readonly string[]
}

/**
 * The environment of an agent. Later entries win: a few of keepup's variables without secrets, the variables that its
 * backend names (key and base URL), the variables that the backend sets, and the variables of the request. No other
 * variable of keepup is passed on.
 */
export function agentEnvironment(
  ours: NodeJS.ProcessEnv,
  passes: readonly string[],
  scratch: string,
  ...more: readonly (Readonly<Record<string, string>> | undefined)[]
): Record<string, string> {
  const { CI: _, ...base } = commandEnvironment(ours, ours.HOME || homedir(), searchPath(ours))
  const passed = passes.flatMap((name) => (ours[name] === undefined ? [] : [[name, ours[name]] as const]))
  return Object.assign({ ...base, TMPDIR: scratch }, Object.fromEntries(passed), ...more)
}

/** Why a request is not allowed, as a sentence without values; null if it is allowed. */
export function notAllowed(
  allowed: Allowed,
  env: Readonly<Record<string, string>> = {},
  folders: readonly string[],
): string | null {
  const name = Object.keys(env)
    .sort()
    .find((key) => key === MARKER || (allowed.env !== undefined && !allowed.env.includes(key)))
  if (name !== undefined) return `env: ${JSON.stringify(name)} may not be set here`
  const outside = allowed.folders !== undefined && folders.some((folder) => !isWithin(folder, allowed.folders!))
  return outside ? 'workingDir: a folder lies outside of the allowed ones, or does not exist' : null
}

function isWithin(folder: string, allowed: readonly string[]): boolean {
  try {
    const real = realpathSync(folder)
    return allowed.some((one) => liesIn(one, real))
  } catch {
    return false
  }
}
