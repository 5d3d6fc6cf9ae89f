import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

const FOLDER = import.meta.dirname
const ROOT = join(FOLDER, '../../..')
/** Names what the folder's packages were installed from. */
const STAMP = join(FOLDER, 'node_modules/.installed-from')

/** Installs the peers from their lock file, unless they are, and compiles their contenders. Writes to stderr only. */
export function installPeers(): void {
  const lock = createHash('sha256').update(readFileSync(join(FOLDER, 'package-lock.json')))
  // Their drivers of SQLite are compiled for the Node that installs them.
  const from = lock.update(`${process.versions.modules} ${process.platform} ${process.arch}`).digest('hex')
  if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== from) {
    process.stderr.write('installing the peers; compiling their SQLite takes some minutes\n')
    run('npm', ['ci', '--no-audit', '--no-fund'])
    writeFileSync(STAMP, from)
  }
  run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', FOLDER])
}

function run(program: string, given: readonly string[]): void {
  const bin = dirname(process.execPath)
  const env: NodeJS.ProcessEnv = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` }
  // The headers of this Node, where it brings them; node-gyp would download them.
  const node = dirname(bin)
  if (existsSync(join(node, 'include/node/node_version.h'))) env.npm_config_nodedir = node
  execFileSync(program, given, { cwd: FOLDER, env, stdio: ['ignore', 2, 2] })
}

/** The exact version of each package of the folder. */
export function versionsOfPeers(): Readonly<Record<string, string>> {
  const { dependencies } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  return dependencies
}
