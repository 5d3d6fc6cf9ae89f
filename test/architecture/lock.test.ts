import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

// A clone is installed from the lock file, on any machine and from any registry.

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
type Packages = Readonly<Record<string, Locked>>
const packagesOf = (folder: string): Packages => {
  const lock = readFileSync(resolve(import.meta.dirname, '../..', folder, 'package-lock.json'), 'utf8')
  return (JSON.parse(lock) as { packages: Packages }).packages
}
const packages = packagesOf('.')

test.each(['.', 'test/bench/peers'])('the lock in %s names no registry, and the hash of every package', (folder) => {
  const packages = packagesOf(folder)
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

test('peers of the bench are pinned exactly, and a clone installs none of them', () => {
  const { '': peers } = packagesOf('test/bench/peers')
  const pinned = Object.entries(peers!.dependencies!)
  expect(pinned.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
  const installed = pinned.map(([name]) => name).filter((name) => packages[`node_modules/${name}`])
  // keepup has a checkpointer for LangGraph, and its tables in PostgreSQL.
  const used = ['@langchain/core', '@langchain/langgraph', '@langchain/langgraph-checkpoint', 'pg']
  expect(installed.filter((name) => !used.includes(name))).toEqual([])
})
