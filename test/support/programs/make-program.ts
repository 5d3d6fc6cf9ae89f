import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { bundle, ENTRIES, inClone } from '../../../.ci/bundle.ts'

const root = resolve(import.meta.dirname, '../../..')
const kept = join(root, 'node_modules/.cache/keepup-program')
const SOURCES = [
  '{domain,adapters,projections,api}/**/*.ts',
  'test/support/{crash-images,faults}/*.ts',
  '.ci/bundle.ts',
  'api/cli/*.js',
]
/** Programs of tests. */
const PROGRAMS = [
  'test/support/faults/crashing.ts',
  ...['checker', 'child', 'part-child'].map((name) => `test/support/crash-images/${name}.ts`),
]
/** The age in ms at which an old bundle is removed. Other runs may still start processes from younger ones. */
const OLD_MS = 3_600_000

/** Identifies a state of the sources. */
function stamp(): string {
  const hash = createHash('sha256')
  for (const path of [...globSync(SOURCES, { cwd: root }).sort(), 'package-lock.json']) {
    const { size, mtimeMs } = statSync(join(root, path))
    hash.update(`${path} ${size} ${mtimeMs}\n`)
  }
  return hash.digest('hex').slice(0, 16)
}

function removeOld(): void {
  for (const name of existsSync(kept) ? readdirSync(kept) : []) {
    const path = join(kept, name)
    if (Date.now() - statSync(path, { throwIfNoEntry: false })!.mtimeMs > OLD_MS)
      rmSync(path, { recursive: true, force: true })
  }
}

/** Builds the bundle for the processes of this test run, once per state of the sources. */
export default async function setup(): Promise<void> {
  if (process.env.KEEPUP_MUTATION !== undefined) return
  const target = join(kept, stamp())
  if (!existsSync(target)) {
    removeOld()
    const half = `${target}-${process.pid}`
    await bundle(half, { entries: [...ENTRIES, ...PROGRAMS], placeOf: inClone(target) })
    mkdirSync(join(half, 'api/cli'), { recursive: true })
    copyFileSync(join(root, 'api/cli/keepup.js'), join(half, 'api/cli/keepup.js'))
    // Without it, Node parses each file twice to find out that it is a module.
    writeFileSync(join(half, 'package.json'), '{"type":"module"}\n')
    try {
      renameSync(half, target)
    } catch (error) {
      // Another run built the bundle first.
      if (!existsSync(target)) throw error
      rmSync(half, { recursive: true, force: true })
    }
  }
  process.env.TEST_PROGRAM = target
}
