import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openSqliteLog } from '../../../../adapters/sqlite/log/open.ts'
import { tempFolder } from '../../../support/folders.ts'
import { collect, NEW, Sealer } from '../../../support/log/sealing.ts'
import { owner } from '../../../support/log/sqlite-log.ts'

const missing = expect.objectContaining({
  code: 'LOG_MISSING',
  message: expect.stringMatching(/restore log\.db.*move/),
})

/** A log with an event, closed; and a folder of what was written with it. */
async function written() {
  const log = await owner()
  await log.append('agent-a1', -1, new Sealer().batch('agent-a1', NEW, [{}]))
  await log.close()
  const traces = join(tempFolder(), 'tables')
  mkdirSync(traces)
  return { folder: log.folder, file: join(log.folder, 'log.db'), traces: [traces] }
}

describe('a missing log whose tables or blobs exist', () => {
  test.each([
    ['deleted', (file: string) => rmSync(file)],
    ['emptied', (file: string) => truncateSync(file, 0)],
  ])('%s, is refused and nothing is put in its place', async (_, lose) => {
    const { folder, file, traces } = await written()
    lose(file)
    const before = readdirSync(folder)
    for (const mode of ['owner', 'reader'] as const)
      await expect(openSqliteLog({ folder, mode, traces })).rejects.toEqual(missing)
    expect(readdirSync(folder)).toEqual(before)
    if (existsSync(file)) expect(statSync(file).size).toBe(0)
  })

  test('a database without tables is refused too', async () => {
    const { folder, file, traces } = await written()
    rmSync(file)
    // A first start that was killed before the tables were made leaves this.
    const { DatabaseSync } = await import('node:sqlite')
    const db = new DatabaseSync(file)
    db.exec('PRAGMA journal_mode = WAL')
    db.close()
    await expect(openSqliteLog({ folder, mode: 'owner', traces })).rejects.toEqual(missing)
  })

  test('its WAL alone is a trace, and is left as it is', async () => {
    const folder = tempFolder()
    const wal = join(folder, 'log.db-wal')
    writeFileSync(wal, 'the last events')
    await expect(openSqliteLog({ folder, mode: 'owner' })).rejects.toEqual(missing)
    expect(statSync(wal).size).toBe(15)
  })

  test('a first start, also a killed one, does not count as a loss', async () => {
    const folder = tempFolder()
    writeFileSync(join(folder, 'log.db'), '')
    const log = await openSqliteLog({ folder, mode: 'owner', traces: [join(folder, 'none')] })
    expect(await collect(log.readAll(null))).toHaveLength(1)
    await log.close()
  })
})
