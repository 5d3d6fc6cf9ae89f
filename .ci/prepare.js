// After an installation in a clone: builds the page and the documents that `keepup serve` shows. An installation without what development needs
// has no bundler, and does without them.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const vite = join(root, 'node_modules/vite/bin/vite.js')
const config = join(root, 'api/web/vite.config.ts')
if (existsSync(vite) && existsSync(config)) {
  const inRoot = { cwd: root, stdio: 'inherit' }
  execFileSync(process.execPath, [vite, 'build', '--config', config, '--logLevel', 'warn'], inRoot)
  execFileSync(join(root, 'node_modules/.bin/node'), [join(root, 'api/site/main.ts')], inRoot)
}
