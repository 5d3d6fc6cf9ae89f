import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FileBlobs } from '../../adapters/blobs-file/store.ts'
import { tempFolder } from '../support/folders.ts'

const hash = 'ab'.repeat(32)
const bytes = new Uint8Array(100_000).map((_, index) => index % 251)
const code = (name: string) => expect.objectContaining({ code: name })

test('bytes come back, twice the same address is fine, runs are apart', async () => {
  const folder = join(tempFolder(), 'blobs')
  const blobs = new FileBlobs(folder)
  await Promise.all([blobs.put('r1', hash, bytes), blobs.put('r1', hash, bytes), blobs.put('r2', hash, bytes)])
  expect(Buffer.compare(await blobs.get('r1', hash), bytes)).toBe(0)
  await blobs.delete('r1', hash)
  await blobs.delete('r1', hash)
  await blobs.delete('none', hash)
  await expect(blobs.get('r1', hash)).rejects.toEqual(code('BLOB_MISSING'))
  expect(Buffer.compare(await blobs.get('r2', hash), bytes)).toBe(0)
  expect(readdirSync(join(folder, 'r2', 'r2'))).toEqual([hash])
  expect(readdirSync(join(folder, 'tmp'))).toEqual([])
  expect(statSync(join(folder, 'r2', 'r2', hash)).mode & 0o777).toBe(0o600)
})

test('an address that would lead elsewhere is refused', async () => {
  const blobs = new FileBlobs(tempFolder())
  for (const [run, address] of [
    ['../x', hash],
    ['', hash],
    ['r1', '../../x'],
    ['r1', hash.toUpperCase()],
  ] as const)
    await expect(blobs.put(run, address, bytes)).rejects.toEqual(code('APPEND_INVALID'))
})

test('a folder that cannot be written says what to check, and leaves nothing half', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'r1'), '')
  const blobs = new FileBlobs(folder)
  await expect(blobs.put('r1', hash, bytes)).rejects.toMatchObject({
    code: 'LOG_UNAVAILABLE',
    message: expect.stringContaining('may write'),
  })
  mkdirSync(join(folder, 'r2', 'r2', hash), { recursive: true })
  await expect(blobs.put('r2', hash, bytes)).rejects.toEqual(code('LOG_UNAVAILABLE'))
  expect(readdirSync(join(folder, 'tmp'))).toEqual([])
})

test('halves that a dead process left are removed, those of a living one are not', async () => {
  const folder = tempFolder()
  mkdirSync(join(folder, 'tmp'))
  const [old, fresh] = ['old', 'fresh'].map((name) => join(folder, 'tmp', name))
  for (const path of [old!, fresh!]) writeFileSync(path, 'half')
  utimesSync(old!, 1, 1)
  await new FileBlobs(folder).put('r1', hash, bytes)
  expect(readdirSync(join(folder, 'tmp'))).toEqual(['fresh'])
})
