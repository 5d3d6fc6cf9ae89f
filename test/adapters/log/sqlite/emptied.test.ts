import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ensureFile } from '../../../../adapters/sqlite/log/connection.ts'
import { markOf, readMark } from '../../../../adapters/sqlite/log/mark.ts'
import { openSqliteLog } from '../../../../adapters/sqlite/log/open.ts'
import { tempFolder } from '../../../support/folders.ts'
import { BEFORE, collect, NEW, Sealer } from '../../../support/log/sealing.ts'
import { owner } from '../../../support/log/sqlite-log.ts'

// A young log has all of its events in the WAL. Without it, the file holds the schema and no event.

/** A log that has lost its WAL. */
async function emptied() {
  const log = await owner()
  await log.append('agent-a1', -1, new Sealer().batch('agent-a1', NEW, [{}]))
  await log.close()
  for (const end of ['', '-wal', '-shm']) rmSync(join(log.folder, `log.db${end}`), { force: true })
  ensureFile(log.folder)
  return { folder: log.folder, logId: log.logId }
}

const refused = expect.objectContaining({ code: 'LOG_SHORTENED' })

test.each(['mark', 'tables'])(
  'the %s alone gives a log without events its id; it takes none until that is accepted',
  async (witness) => {
    const { folder, logId } = await emptied()
    if (witness === 'tables') rmSync(markOf(folder))
    const seenLogId = async () => (witness === 'tables' ? logId : null)
    const open = (mode: 'owner' | 'reader') => openSqliteLog({ folder, mode, seenLogId, clock: BEFORE })
    const reader = await open('reader')
    expect(reader.logId).toBe(logId)
    expect(await collect(reader.readAll(null))).toEqual([])
    await reader.close()
    const log = await open('owner')
    const batch = new Sealer().batch('agent-a1', NEW, [{}])
    await expect(log.append('agent-a1', -1, batch)).rejects.toEqual(refused)
    await log.acceptingLoss(async () => undefined)
    await log.append('agent-a1', -1, batch)
    await log.close()
    const again = await owner(folder)
    expect(again.logId).toBe(logId)
    expect((await collect(again.readAll(null))).map(({ header }) => header.type)).toEqual(['log_created', 'noted'])
    expect(again.end).toEqual({ state: 'whole', torn: false })
  },
)

test('without a witness of the id, a trace of the log prevents a new log', async () => {
  const { folder } = await emptied()
  rmSync(markOf(folder))
  const trace = join(tempFolder(), 'blobs')
  mkdirSync(trace)
  for (const mode of ['owner', 'reader'] as const)
    await expect(openSqliteLog({ folder, mode, traces: [trace] })).rejects.toMatchObject({
      code: 'LOG_MISSING',
      message: expect.stringContaining(trace),
    })
  expect(readMark(folder)).toEqual({ state: 'missing' })
})

test('a first start that was killed before the first event is begun again', async () => {
  const folder = tempFolder()
  ensureFile(folder)
  expect(await collect((await owner(folder)).readAll(null))).toHaveLength(1)
})
