import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openSqliteLog } from '../../../../adapters/sqlite/log/open.ts'
import { StreamVerifier } from '../../../../domain/log/verify.ts'
import { tempFolder } from '../../../support/folders.ts'
import { collect, NEW, Sealer, tipOf } from '../../../support/log/sealing.ts'
import { owner, raw } from '../../../support/log/sqlite-log.ts'
import { typicalRun } from '../../../support/typical-run.ts'

const code = (name: string) => expect.objectContaining({ code: name })
const stream = 'agent-a1'

describe('opening', () => {
  test('again gives the same log, its time and its events', async () => {
    const log = await owner()
    const batch = new Sealer().batch(stream, NEW, [{ ms: 4000 }])
    await log.append(stream, -1, batch)
    const { logId, folder } = log
    await log.close()
    const again = await owner(folder)
    expect(again.logId).toBe(logId)
    expect(again.floor()).toBe(Date.parse(batch[0]!.header.timestamp))
    expect((await collect(again.readAll(null))).map(({ header }) => header.type)).toEqual(['log_created', 'noted'])
  })

  test('two new logs have two ids', async () => {
    const [a, b] = [await owner(), await owner()]
    expect(a.logId).not.toBe(b.logId)
  })

  test('a file of another format or program is refused and left alone', async () => {
    const text = tempFolder()
    writeFileSync(join(text, 'log.db'), 'these are notes, not a database. '.repeat(100))
    const other = tempFolder()
    raw(other).exec('CREATE TABLE notes(a); INSERT INTO notes VALUES (1)')
    for (const folder of [text, other]) {
      const before = readFileSync(join(folder, 'log.db'))
      for (const mode of ['owner', 'reader'] as const)
        await expect(openSqliteLog({ folder, mode })).rejects.toEqual(code('LOG_FOREIGN'))
      expect(Buffer.compare(readFileSync(join(folder, 'log.db')), before)).toBe(0)
    }
    await expect(openSqliteLog({ folder: tempFolder(), mode: 'reader' })).rejects.toEqual(code('LOG_FOREIGN'))
  })

  test('a log of a newer schema is refused', async () => {
    const log = await owner()
    await log.close()
    raw(log.folder).exec('PRAGMA user_version = 999')
    for (const mode of ['owner', 'reader'] as const)
      await expect(openSqliteLog({ folder: log.folder, mode })).rejects.toEqual(code('LOG_NEWER'))
  })

  test('in a place without the right to write names the check to make', async () => {
    const file = join(tempFolder(), 'file')
    writeFileSync(file, '')
    await expect(openSqliteLog({ folder: file, mode: 'owner' })).rejects.toMatchObject({
      code: 'LOG_UNAVAILABLE',
      message: expect.stringContaining('may write'),
    })
  })

  test('a file that was left empty by a crash becomes a log', async () => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'log.db'), '')
    const log = await owner(folder)
    expect((await collect(log.readAll(null))).length).toBe(1)
  })

  test('a damaged file is named as damaged when the damage is read', async () => {
    const log = await owner()
    for (const batch of typicalRun('r1', 30)) await log.append('agent-r1', batch[0]!.header.revision - 1, batch)
    await log.close()
    const file = join(log.folder, 'log.db')
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.fill(0xa5, bytes.length / 2, bytes.length / 2 + 3 * 4096))
    const damaged = await openSqliteLog({ folder: log.folder, mode: 'reader' })
    onTestFinished(() => damaged.close())
    await expect(collect(damaged.readAll(null))).rejects.toMatchObject({
      code: 'LOG_CORRUPT',
      message: expect.stringContaining('backup'),
    })
  })
})

describe('beside the owner', () => {
  test('a second owner is locked out, a reader reads and follows', async () => {
    const log = await owner()
    const { folder } = log
    await expect(openSqliteLog({ folder, mode: 'owner' })).rejects.toMatchObject({
      code: 'LOG_LOCKED',
      message: expect.stringContaining('reader'),
    })
    const reader = await openSqliteLog({ folder, mode: 'reader' })
    onTestFinished(() => reader.close())
    expect(reader.logId).toBe(log.logId)
    const stop = new AbortController()
    const followed: string[] = []
    const following = (async (after) => {
      for await (const page of reader.subscribe(after, stop.signal)) {
        followed.push(...page.map(({ id }) => id))
        if (followed.length >= 3) stop.abort()
      }
    })(await reader.headCursor())
    const batch = new Sealer().batch(stream, NEW, [{}, {}])
    await log.append(stream, -1, batch)
    await expect(reader.append(stream, 1, new Sealer('b').batch(stream, tipOf(batch), [{}]))).rejects.toEqual(
      code('LOG_LOCKED'),
    )
    expect((await collect(reader.read(stream))).length).toBe(2)
    await expect.poll(async () => (await reader.head(stream))?.revision).toBe(1)
    const more = new Sealer('more').batch(stream, tipOf(batch), [{ ms: 100 }])
    await log.append(stream, 1, more)
    await following
    expect(followed).toEqual([...batch, ...more].map(({ id }) => id))
    await log.close()
    await (await openSqliteLog({ folder, mode: 'owner' })).close()
  })
})

test('a backup taken while the log is written opens, verifies and holds a prefix', async () => {
  const log = await owner()
  const batches = [...typicalRun('r1', 60)]
  const writing = (async () => {
    for (const batch of batches) await log.append('agent-r1', batch[0]!.header.revision - 1, batch)
  })()
  const to = join(tempFolder(), 'copy')
  const cursor = await log.backup(to)
  await writing
  await expect(log.backup(to)).rejects.toThrow(/already/)
  const copy = await owner(to)
  expect(await copy.headCursor()).toEqual(cursor)
  const verifier = new StreamVerifier('agent-r1')
  for await (const page of copy.read('agent-r1')) verifier.page(page)
  expect(verifier.result().problems).toEqual([])
  const missing = await collect(log.readAll(cursor))
  expect(verifier.result().events + missing.length).toBe(batches.flat().length)
})

test('the folder is for this user alone', async () => {
  const folder = join(tempFolder(), 'deep', 'data')
  await owner(folder)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})
