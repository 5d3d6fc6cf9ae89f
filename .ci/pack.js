// Makes the package that is published, in dist/package: the bundle of the program and of the library, the declarations that a
// user's compiler reads, and a manifest that says what a user needs (no scripts, no development, none of the packages that
// carry Node for the clone).

import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { registryEntry } from './acp-registry.ts'
import { billOfMaterials } from './bill-of-materials.js'
import { bundle, ENTRIES, inPackage, LEFT_OUT } from './bundle.ts'
import { reachable } from './types.js'

const root = resolve(import.meta.dirname, '..')
const dist = join(root, 'dist')
const made = join(dist, 'package')
const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Threads and processes that the program starts from files of their own. */
const STARTED = [
  'adapters/loro/markup/worker.ts',
  'adapters/workspace/search-worker.ts',
  'api/operations/export/worker.ts',
  'api/operations/files/diff/diff-thread.ts',
  'api/process/embedded/past/fold-worker.ts',
  'api/process/embedded/sql/child.ts',
]
/** Files that run alone where the rest of the package cannot be read: they import nothing but Node's modules. */
const ALONE = ['adapters/agents/process/fake-agent.js', 'adapters/web/convert-process.js']
/** Packages whose installation has many times the files that keepup uses: only these files are packed. */
const ONLY = { 'loro-crdt': { main: 'nodejs/index.js', files: /^(nodejs\/.*\.(js|wasm)|LICENSE)$/ } }

const compiled = (path) => path.replace(/\.ts$/, '')
const exported = (path) =>
  path.endsWith('.ts') ? { types: `${compiled(path)}.d.ts`, default: `${compiled(path)}.js` } : path
const put = (path, from = join(root, path)) => cpSync(from, join(made, path), { recursive: true })

rmSync(made, { recursive: true, force: true })
const library = Object.values(own.exports).filter((path) => path.endsWith('.ts'))
const entries = ['api/node-version.ts', ...ENTRIES, ...STARTED, ...library.map((path) => path.slice(2))]
const bundled = await bundle(made, { entries, placeOf: inPackage(made) })
for (const path of ALONE) put(path, join(dist, path))

const types = reachable(library.map((path) => join(dist, `${compiled(path)}.d.ts`)))
for (const file of types.files) put(relative(dist, file), file)

for (const [name, { main, files }] of Object.entries(ONLY)) {
  const from = join(root, 'node_modules', name)
  const to = join(made, 'node_modules', name)
  const { version, license, author, repository } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
  for (const path of readdirSync(from, { recursive: true }).filter((one) => files.test(one.replaceAll('\\', '/'))))
    cpSync(join(from, path), join(to, path))
  const manifest = { name, version, license, author, repository, main }
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

const { name, version, description, license, type, engines, bin, peerDependencies, peerDependenciesMeta } = own
const MAN = 'api/docs/keepup.1'
const needed = Object.entries(own.dependencies).filter(([id]) => LEFT_OUT.test(id) || types.packages.includes(id))
const known = { ...own.dependencies, ...peerDependencies }
const undeclared = types.packages.filter((id) => !Object.hasOwn(known, id))
if (undeclared.length > 0) throw new Error(`the declarations name ${undeclared.join(', ')}, which is no dependency`)
const manifest = {
  ...{ name, version, description, license, type, engines, bin },
  // A scoped package is private unless it says otherwise.
  publishConfig: { access: 'public' },
  exports: Object.fromEntries(Object.entries(own.exports).map(([key, path]) => [key, exported(path)])),
  dependencies: Object.fromEntries(needed),
  // A user who connects an SDK brings it.
  ...{ peerDependencies, peerDependenciesMeta },
  bundleDependencies: Object.keys(ONLY),
  // npm links the pages of a list only.
  man: [`./${MAN}`],
}
for (const path of [
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'api/docs',
  'api/site/dist',
  'api/cli/acp/registry',
  ...Object.values(bin),
  'api/demo/architect.json',
  'api/demo/project',
  'api/demo/script.json',
  'api/demo/team.json',
  'api/web/dist',
]) {
  put(path)
}
for (const path of Object.values(bin)) chmodSync(join(made, path), 0o755)
// The benchmarks run the compiled modules one by one, with the same manifest.
for (const folder of [made, dist]) writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
const page = execFileSync(process.execPath, [join(made, bin.keepup), 'man'], {
  env: { NODE_DISABLE_COMPILE_CACHE: '1' },
})
writeFileSync(join(made, MAN), page)
writeFileSync(join(made, 'api/cli/acp/registry/agent.json'), `${JSON.stringify(registryEntry(own), null, 2)}\n`)
const folders = [...bundled.values(), ...needed.map(([id]) => join(root, 'node_modules', id))]
writeFileSync(join(made, 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(manifest, folders), null, 2)}\n`)
execFileSync('npm', ['pack', '--silent', '--pack-destination', root, made], {
  cwd: made,
  stdio: 'inherit',
  shell: process.platform === 'win32',
})
