import { openSync, readFileSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { markOf, readMark } from '../../../../adapters/sqlite/log/mark.ts'
import { openSqliteLog } from '../../../../adapters/sqlite/log/open.ts'
import { tempFolder } from '../../../support/folders.ts'
import { NEW, Sealer, type Tip, tipOf } from '../../../support/log/sealing.ts'
import { owner, raw } from '../../../support/log/sqlite-log.ts'

// A lost end is never silent (DESIGN, Event log): the mark beside the log says where it ended.

/** A log with so many appends to one stream, closed. */
async function written(appends = 3) {
  const log = await owner()
  const sealer = new Sealer()
  let tip: Tip = NEW
  for (let n = 0; n < appends; n++) {
    const batch = sealer.batch('agent-a1', tip, [{ body: { n } }])
    await log.append('agent-a1', tip.revision, batch)
    tip = tipOf(batch)
  }
  await log.close()
  return { folder: log.folder, sealer, tip }
}

/** Removes the events behind a position, past the log's own guards. */
function shorten(folder: string, last: number): void {
  const db = raw(folder)
  for (const { name } of db.prepare("select name from sqlite_schema where type = 'trigger'").all())
    db.exec(`drop trigger ${name}`)
  db.exec(`delete from bodies where position > ${last}; delete from events where position > ${last}`)
  db.close()
}

const refused = expect.objectContaining({ code: 'LOG_SHORTENED', message: expect.stringContaining('keepup repair') })

describe('the mark of a log', () => {
  test('names its last event when the append is acknowledged', async () => {
    const log = await owner()
    const batch = new Sealer().batch('agent-a1', NEW, [{}, {}])
    const { position } = await log.append('agent-a1', -1, batch)
    expect(readMark(log.folder)).toMatchObject({ state: 'read', position, hash: batch[1]!.hash, logId: log.logId })
  })

  test('beyond the end of the log makes the log read-only', async () => {
    const { folder, sealer, tip } = await written()
    shorten(folder, 2)
    const log = await owner(folder)
    expect(log.end).toMatchObject({ state: 'short', last: 2, mark: { position: 4, hash: tip.hash } })
    const next = sealer.batch('agent-b1', NEW, [{}])
    await expect(log.append('agent-b1', -1, next)).rejects.toEqual(refused)
    expect(await log.head('agent-a1')).toMatchObject({ revision: 0 })
    await log.close()
    expect((await owner(folder)).end.state).toBe('short')
  })

  test('stays until the acceptance of the loss is recorded', async () => {
    const { folder, sealer } = await written()
    shorten(folder, 2)
    const log = await owner(folder)
    const next = sealer.batch('agent-b1', NEW, [{}])
    const dies = log.acceptingLoss(async () => {
      await log.append('agent-b1', -1, next)
      throw new Error('killed')
    })
    await expect(dies).rejects.toThrow('killed')
    await log.close()
    const again = await owner(folder)
    expect(again.end.state).toBe('short')
    await again.acceptingLoss(async () => undefined)
    await again.append('agent-b1', 0, sealer.batch('agent-b1', tipOf(next), [{}]))
    await again.close()
    expect((await owner(folder)).end).toEqual({ state: 'whole', torn: false })
  })

  test('tells an older copy of the log that was put in its place', async () => {
    const { folder, sealer, tip } = await written()
    const old = readFileSync(join(folder, 'log.db'))
    const log = await owner(folder)
    await log.append('agent-a1', tip.revision, sealer.batch('agent-a1', tip, [{}]))
    await log.close()
    writeFileSync(join(folder, 'log.db'), old)
    const reader = await openSqliteLog({ folder, mode: 'reader' })
    expect(reader.end).toMatchObject({ state: 'short', last: 4, mark: { position: 5 } })
    await reader.close()
  })

  test('older than the log does not count as a loss', async () => {
    const { folder, sealer, tip } = await written()
    const before = readFileSync(markOf(folder))
    const log = await owner(folder)
    await log.append('agent-a1', tip.revision, sealer.batch('agent-a1', tip, [{}]))
    await log.close()
    writeFileSync(markOf(folder), before)
    expect((await owner(folder)).end).toEqual({ state: 'whole', torn: false })
  })

  test.each([
    ['missing', (path: string) => rmSync(path)],
    ['unreadable', (path: string) => truncateSync(path, 100)],
    ['unreadable', (path: string) => writeFileSync(path, Buffer.alloc(256, 7))],
  ])('that is %s is told once, and begun anew', async (state, lose) => {
    const { folder } = await written()
    lose(markOf(folder))
    const log = await owner(folder)
    expect(log.end).toMatchObject({ state, fresh: false })
    await log.close()
    expect((await owner(folder)).end).toEqual({ state: 'whole', torn: false })
  })

  test('with one torn record is the older one, and says so', async () => {
    const { folder } = await written(3)
    const found = readMark(folder)
    if (found.state !== 'read') throw new Error('no mark')
    const file = openSync(markOf(folder), 'r+')
    writeSync(file, Buffer.from([1]), 0, 1, (found.sequence % 2) * 128 + 30)
    expect(readMark(folder)).toMatchObject({ state: 'read', torn: true, position: found.position - 1 })
    expect((await openSqliteLog({ folder, mode: 'reader' })).end).toEqual({ state: 'whole', torn: true })
  })

  test('of a new log is neither missing nor short', async () => {
    const log = await owner()
    expect(log.end).toMatchObject({ state: 'missing', fresh: true })
    await log.close()
    expect((await owner(log.folder)).end).toEqual({ state: 'whole', torn: false })
  })
})

test('a backup has the mark of its own end; one of a log that has lost its end is refused', async () => {
  const { folder } = await written()
  const log = await owner(folder)
  const to = tempFolder()
  const cursor = await log.backup(to)
  await log.close()
  expect(readMark(to)).toMatchObject({ state: 'read', position: cursor.position, hash: cursor.hash })
  shorten(folder, 2)
  await expect((await owner(folder)).backup(tempFolder())).rejects.toEqual(refused)
})

test('positions are dense: events that were taken out of the middle are a gap', async () => {
  const { folder } = await written(4)
  const db = raw(folder)
  for (const { name } of db.prepare("select name from sqlite_schema where type = 'trigger'").all())
    db.exec(`drop trigger ${name}`)
  db.exec('delete from bodies where position in (2, 3); delete from events where position in (2, 3)')
  db.close()
  const log = await owner(folder)
  expect(log.end.state).toBe('whole')
  expect(await log.gaps()).toEqual([{ from: 2, to: 3 }])
})
