import { realpathSync } from 'node:fs'
import { delimiter, dirname, join, relative } from 'node:path'
import { quoted } from './output/text.ts'

/** How this process was started. `file`: the real path of the program. */
export interface Called {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly file: string
  readonly node: string
}

/**
 * The command that starts this same program again from this folder. `npx keepup` only if npx would find this program,
 * because elsewhere npx finds a different package; `keepup` if the PATH leads to this program; otherwise its path.
 */
export function calledAs({ env, cwd, file, node }: Called): string {
  const { npm_command: npm, npm_config_local_prefix: prefix } = env
  if (npm !== undefined && prefix !== undefined && within(prefix, cwd) && within(prefix, file)) return 'npx keepup'
  const named = onPath(env, 'keepup')
  if (named === file || named === join(dirname(file), 'bin', 'keepup')) return 'keepup'
  const runtime = onPath(env, 'node') === real(node) ? 'node' : quoted(node)
  return `${runtime} ${quoted(file)}`
}

const within = (folder: string, path: string): boolean => !/^\.\.(?:[/\\]|$)|^\/|^\w:/.test(relative(folder, path))

function real(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

/** The file that the PATH gives for a name. Null: none. */
function onPath(env: Called['env'], name: string): string | null {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.map((folder) => real(join(folder, name))).find((found) => found !== null) ?? null
}
