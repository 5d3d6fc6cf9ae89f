// `npm run setup`: installs the programs of the system that the tests need and this machine lacks, with apt-get. It asks before
// it uses sudo; `--yes` answers yes. Plain JavaScript, because it runs on the Node of the host, before `npm ci`.

import { spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline/promises'
import { PROGRAMS, remedyOf } from './programs.js'

const missing = () => PROGRAMS.filter((program) => !program.works())

function fail(text) {
  console.error(`setup: ${text}`)
  process.exit(1)
}

async function agreesTo(command) {
  if (process.argv.includes('--yes')) return true
  if (!process.stdin.isTTY) return false
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question(`Run "${command.join(' ')}"? [y/N] `)
  terminal.close()
  return /^y(es)?$/i.test(answer.trim())
}

const lacking = missing()
if (lacking.length === 0) {
  console.log(`setup: nothing is missing (${PROGRAMS.map(({ name }) => name).join(', ')})`)
  process.exit(0)
}
console.log(`setup: missing: ${lacking.map(({ name }) => name).join(', ')}`)
for (const program of lacking.filter((one) => one.package === null)) {
  console.log(`setup: no package provides "${program.name}"; ${remedyOf(program)}`)
}
const packages = lacking.flatMap((program) => program.package ?? [])
if (packages.length > 0) {
  if (spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status !== 0)
    fail(`apt-get is not available; install ${packages.join(', ')} with the package manager of this system`)
  const asRoot = process.getuid() === 0 ? [] : ['sudo']
  const aptGet = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get']
  const install = [...aptGet, 'install', '-y', '--no-install-recommends', ...packages]
  if (asRoot.length > 0 && !(await agreesTo(install)))
    fail(`nothing was installed; run "${install.join(' ')}", or "npm run setup -- --yes"`)
  const run = ([file, ...args]) => spawnSync(file, args, { stdio: ['inherit', 'ignore', 'inherit'] }).status
  // An index that cannot be updated may still hold the packages.
  run([...aptGet, 'update', '-qq'])
  if (run(install) !== 0) fail(`"${install.join(' ')}" failed; its message stands above`)
}
const left = missing().filter((program) => program.package !== null)
if (left.length > 0)
  fail(`${left.map(({ name }) => name).join(', ')} is installed and does not work here; npm test leaves out its tests`)
console.log('setup: done')
