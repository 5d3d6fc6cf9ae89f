import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SqliteSnapshots } from '../../adapters/sqlite/snapshots.ts'
import { snapshotsContract } from '../contracts/snapshots.ts'
import { tempFolder } from '../support/folders.ts'

function opened() {
  const snapshots = SqliteSnapshots.open(join(tempFolder(), 's.db'), (path) => rmSync(path))
  onTestFinished(() => {
    snapshots.close()
  })
  return snapshots
}

const at = (revision: number) => ({ revision, step: revision * 2, state: { revision } })

snapshotsContract(opened)

test('a closed store has no snapshots', async () => {
  const snapshots = SqliteSnapshots.open(join(tempFolder(), 's.db'), (path) => rmSync(path))
  await snapshots.put('a', 1, at(1))
  snapshots.close()
  expect(await snapshots.latest('a', 1, {})).toBe(null)
})
