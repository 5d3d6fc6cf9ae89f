import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

// A clone is installed from the lock file, on any machine and from any registry.

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
const lock = readFileSync(resolve(import.meta.dirname, '../../package-lock.json'), 'utf8')
const { packages } = JSON.parse(lock) as { packages: Record<string, Locked> }

test('the lock names no registry, and the hash of every package', () => {
  const wrong = Object.entries(packages).filter(([path, p]) => p.resolved || (path && !(p.version && p.integrity)))
  expect(wrong.map(([path]) => path)).toEqual([])
})

test('the lock holds the optional packages of every platform, not only of the one where it was written', () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !packages[`node_modules/${name}`] && !packages[`${path}/node_modules/${name}`],
    ),
  )
  expect(missing).toEqual([])
})
