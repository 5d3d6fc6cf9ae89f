import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { CliAgent } from './cli-agent.ts'

/**
 * The first place with a login of the program: a variable's name or a path. Null: none. Does not read the login itself.
 */
export function foundLogin(
  { variables, files }: NonNullable<CliAgent['login']>,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const home = env.HOME || homedir()
  const variable = variables.find((name) => env[name] !== undefined && env[name] !== '')
  return variable ?? files.map((file) => join(home, file)).find((path) => existsSync(path)) ?? null
}
