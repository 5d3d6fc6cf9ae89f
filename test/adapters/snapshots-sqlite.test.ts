import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SqliteSnapshots } from '../../adapters/sqlite/snapshots.ts'
import { tempFolder } from '../support/folders.ts'

function opened() {
  const snapshots = SqliteSnapshots.open(join(tempFolder(), 's.db'), (path) => rmSync(path))
  onTestFinished(() => {
    snapshots.close()
  })
  return snapshots
}

const at = (revision: number) => ({ revision, step: revision * 2, state: { revision } })

test('gives the latest at or before a revision or a step', async () => {
  const snapshots = opened()
  for (const revision of [3, 7]) await snapshots.put('a', 1, at(revision))
  expect(await snapshots.latest('a', 1, {})).toEqual(at(7))
  expect(await snapshots.latest('a', 1, { revision: 6 })).toEqual(at(3))
  expect(await snapshots.latest('a', 1, { step: 13 })).toEqual(at(3))
  expect(await snapshots.latest('a', 2, {})).toBe(null)
})

test('throws all away, of every agent', async () => {
  const snapshots = opened()
  for (const agentId of ['a', 'b']) await snapshots.put(agentId, 1, at(1))
  await snapshots.clear()
  expect([await snapshots.latest('a', 1, {}), await snapshots.latest('b', 1, {})]).toEqual([null, null])
})

test('a closed store has no snapshots', async () => {
  const snapshots = SqliteSnapshots.open(join(tempFolder(), 's.db'), (path) => rmSync(path))
  await snapshots.put('a', 1, at(1))
  snapshots.close()
  expect(await snapshots.latest('a', 1, {})).toBe(null)
})
