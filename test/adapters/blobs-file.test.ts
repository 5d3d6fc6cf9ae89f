import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FileBlobs } from '../../adapters/files/blobs/store.ts'
import { blobStoreContract } from '../contracts/blob-store.ts'
import { tempFolder } from '../support/folders.ts'

const hash = 'ab'.repeat(32)
const bytes = new Uint8Array(100_000).map((_, index) => index % 251)
const code = (name: string) => expect.objectContaining({ code: name })

blobStoreContract(async () => new FileBlobs(join(tempFolder(), 'blobs')))

test('a blob is one file per run and hash, readable by its owner only', async () => {
  const folder = join(tempFolder(), 'blobs')
  const blobs = new FileBlobs(folder)
  await Promise.all([blobs.put('r2', hash, bytes), blobs.put('r2', hash, bytes)])
  expect(readdirSync(join(folder, 'r2', 'r2'))).toEqual([hash])
  expect(readdirSync(join(folder, 'tmp'))).toEqual([])
  expect(statSync(join(folder, 'r2', 'r2', hash)).mode & 0o777).toBe(0o600)
})

test('a folder without the right to write gives an error with the check to make, and leaves no half file', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'r1'), '')
  const blobs = new FileBlobs(folder)
  await expect(blobs.put('r1', hash, bytes)).rejects.toMatchObject({
    code: 'LOG_UNAVAILABLE',
    message: expect.stringContaining('may write'),
  })
  mkdirSync(join(folder, 'r2', 'r2', hash), { recursive: true })
  await expect(blobs.put('r2', hash, bytes)).rejects.toEqual(code('LOG_UNAVAILABLE'))
  for (const run of ['r1', 'r2']) await expect(blobs.get(run, hash)).rejects.toEqual(code('BLOB_MISSING'))
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

test('a half-written file that cannot be removed does not prevent a put', async () => {
  const folder = tempFolder()
  const stuck = join(folder, 'tmp', 'stuck')
  mkdirSync(stuck, { recursive: true })
  utimesSync(stuck, 1, 1)
  const blobs = new FileBlobs(folder)
  await blobs.put('r1', hash, bytes)
  await blobs.put('r2', hash, bytes)
  expect(Buffer.compare(await blobs.get('r2', hash), bytes)).toBe(0)
})

test('a blob is durable under its name before it is acknowledged', { tags: ['strace'] }, () => {
  const folder = tempFolder()
  const trace = join(folder, 'trace')
  const module = new URL('../../adapters/files/blobs/store.ts', import.meta.url).href
  const program = `import { FileBlobs } from ${JSON.stringify(module)}
      await new FileBlobs(process.argv[1]).put('r1', '${hash}', new Uint8Array(9))
      process.stdout.write('ack')`
  const calls = 'trace=fsync,fdatasync,rename,renameat,renameat2,write'
  const traced = ['-f', '-y', '-e', calls, '-o', trace, process.execPath, '--input-type=module', '-e', program]
  execFileSync('strace', [...traced, join(folder, 'blobs')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const happened = readFileSync(trace, 'utf8')
    .split('\n')
    .flatMap((line) => {
      if (/fsync\(\d+<[^>]*\/tmp\/ab/.test(line)) return ['file synced']
      if (/rename\w*\(.*\/tmp\/ab/.test(line)) return ['named']
      if (/fsync\(\d+<[^>]*\/r1\/r1>/.test(line)) return ['name synced']
      return /write\(1<[^>]*>, "ack"/.test(line) ? ['acknowledged'] : []
    })
  expect(happened).toEqual(['file synced', 'named', 'name synced', 'acknowledged'])
})
