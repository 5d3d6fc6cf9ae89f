// After an installation in a clone: builds the page that `keepup serve` shows. An installation without what development needs
// has no bundler, and does without the page.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const vite = join(root, 'node_modules/vite/bin/vite.js')
const config = join(root, 'api/web/vite.config.ts')
if (existsSync(vite) && existsSync(config)) {
  execFileSync(process.execPath, [vite, 'build', '--config', config, '--logLevel', 'warn'], {
    cwd: root,
    stdio: 'inherit',
  })
}
