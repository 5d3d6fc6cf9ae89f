// After an installation in a clone: builds the page and the documents that `keepup serve` shows. An installation without what development needs
// has no bundler, and does without them.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const vite = join(root, 'node_modules/vite/bin/vite.js')
const config = join(root, 'api/web/vite.config.ts')

/**
 * A Node that reads TypeScript: that of the lock file, or the one that runs. The file in .bin is a script of a shell on
 * Windows, and is missing after `--omit=optional`. Null: neither does.
 */
function nodeForTypes() {
  const pinned = join(root, 'node_modules/.bin/node')
  if (spawnSync(pinned, ['--version'], { stdio: 'ignore' }).status === 0) return pinned
  return Number(process.versions.node.split('.')[0]) >= 24 ? process.execPath : null
}

if (existsSync(vite) && existsSync(config)) {
  const inRoot = { cwd: root, stdio: 'inherit' }
  execFileSync(process.execPath, [vite, 'build', '--config', config, '--logLevel', 'warn'], inRoot)
  const node = nodeForTypes()
  if (node === null) console.warn('prepare: the documents are not built: that needs Node 24 or newer')
  else if (spawnSync(node, [join(root, 'api/site/main.ts')], inRoot).status !== 0)
    console.warn('prepare: building the documents failed; "npm run build:docs" tries it again')
}
