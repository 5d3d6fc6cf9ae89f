// Makes the package that is published: `dist` becomes its root, beside what the compiler does not copy, with a manifest
// that says what a user needs (no scripts, no development, none of the packages that carry Node for the clone).

import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { registryEntry } from './acp-registry.ts'
import { bundle, inPackage } from './bundle.ts'

const root = resolve(import.meta.dirname, '..')
const dist = join(root, 'dist')
const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const compiled = (path) => path.replace(/\.ts$/, '')
const exported = (path) =>
  path.endsWith('.ts') ? { types: `${compiled(path)}.d.ts`, default: `${compiled(path)}.js` } : path

// The program starts in less than half of the time; the library stays as many files.
await bundle(dist, { placeOf: inPackage(dist) })

const { name, version, description, license, type, engines, bin, dependencies } = own
const { peerDependencies, peerDependenciesMeta } = own
const manifest = {
  ...{ name, version, description, license, type, engines, bin },
  // A scoped package is private unless it says otherwise.
  publishConfig: { access: 'public' },
  exports: Object.fromEntries(Object.entries(own.exports).map(([key, path]) => [key, exported(path)])),
  dependencies,
  // A user who connects an SDK brings it.
  ...{ peerDependencies, peerDependenciesMeta },
}
for (const path of [
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'api/docs',
  'api/cli/acp/registry',
  ...Object.values(bin),
  'api/demo/architect.json',
  'api/demo/project',
  'api/demo/script.json',
  'api/demo/team.json',
  'api/web/dist',
]) {
  cpSync(join(root, path), join(dist, path), { recursive: true })
}
for (const path of Object.values(bin)) chmodSync(join(dist, path), 0o755)
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
writeFileSync(join(dist, 'api/cli/acp/registry/agent.json'), `${JSON.stringify(registryEntry(own), null, 2)}\n`)
execFileSync('npm', ['pack', '--silent', '--pack-destination', root, dist], {
  cwd: dist,
  stdio: 'inherit',
  shell: process.platform === 'win32',
})
