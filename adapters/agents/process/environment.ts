import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { liesIn } from '../../files/inside.ts'
import { commandEnvironment, searchPath } from '../../sandbox/environment.ts'
import { MARKER } from '../../sandbox/registry.ts'

/** The parts of this machine that agents may be given. */
export interface Allowed {
  /** Names of variables that a request may set. Absent: any. */
  readonly env?: readonly string[]
  /** Real paths of folders in which agents may work, and below. Absent: any. */
  readonly folders?: readonly string[]
}

/**
 * The environment of an agent: a few variables of ours that hold no secret, those that its backend names (its key and base
 * URL), those that the backend sets, and last those of the request. Nothing else of ours is passed on.
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

/** The part of a request that is not allowed here, as a sentence that repeats no value; null: none. */
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
