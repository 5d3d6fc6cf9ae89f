import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SqliteSnapshots } from '../../adapters/sqlite/snapshots.ts'
import { snapshotsContract } from '../contracts/snapshots.ts'
import { tempFolder } from '../support/folders.ts'
import { bytesOf } from '../support/log/sealing.ts'

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

test.each([
  ['put', (snapshots: SqliteSnapshots) => snapshots.put('a', 1, at(2))],
  ['cleared', (snapshots: SqliteSnapshots) => snapshots.clear()],
])('a file with a torn page is replaced when it is %s', async (_, change) => {
  const { path, remove } = await tornFile()
  const torn = SqliteSnapshots.open(path, remove)
  onTestFinished(() => torn.close())
  expect(await torn.latest('a', 1, {})).toBe(null)
  await change(torn)
  await torn.put('a', 1, at(3))
  expect(await torn.latest('a', 1, {})).toEqual(at(3))
})

test('a damaged file that cannot be replaced is replaced when the cause is gone', async () => {
  const { path, remove } = await tornFile()
  let refused: Error | null = new Error('the file is open elsewhere')
  const torn = SqliteSnapshots.open(path, (one) => {
    if (refused !== null) throw refused
    remove(one)
  })
  onTestFinished(() => torn.close())
  await expect(torn.put('a', 1, at(2))).rejects.toThrow('open elsewhere')
  await expect(torn.clear()).rejects.toThrow('open elsewhere')
  await expect(torn.put('a', 1, at(2))).rejects.toThrow('open elsewhere')
  expect(await torn.latest('a', 1, {})).toBe(null)
  refused = null
  await torn.clear()
  await torn.put('a', 1, at(3))
  expect(await torn.latest('a', 1, {})).toEqual(at(3))
})

/** A file that opens and whose states are damaged. */
async function tornFile() {
  const path = join(tempFolder(), 's.db')
  const remove = (one: string) => rmSync(one, { force: true })
  const before = SqliteSnapshots.open(path, remove)
  const large = bytesOf('state', 30_000)
  await before.put('a', 1, { ...at(1), state: { large: Buffer.from(large).toString('base64') } })
  before.close()
  // The schema is on the first page, so the file opens.
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0xff, 4096))
  return { path, remove }
}
