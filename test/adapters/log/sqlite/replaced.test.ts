import { randomBytes } from 'node:crypto'
import { copyFileSync, cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { openSqliteLog } from '../../../../adapters/sqlite/log/open.ts'
import { tempFolder } from '../../../support/folders.ts'
import { BEFORE, collect, NEW, Sealer, tipOf } from '../../../support/log/sealing.ts'

const replaced = {
  code: 'LOG_REPLACED',
  message: expect.stringMatching(/log\.db was moved, replaced .*remove log\.db-wal .*start this/),
}
const stream = 'agent-a'

/** A log with one event in a backup, and a second one after it. */
async function backedUp() {
  const [folder, backup] = [join(tempFolder(), 'log'), join(tempFolder(), 'log')]
  const log = await openSqliteLog({ folder, mode: 'owner', clock: BEFORE })
  onTestFinished(() => log.close())
  const sealer = new Sealer()
  const first = sealer.batch(stream, NEW, [{}])
  await log.append(stream, -1, first)
  await log.backup(backup)
  const second = sealer.batch(stream, tipOf(first), [{}])
  await log.append(stream, 0, second)
  const append = () => log.append(stream, 1, sealer.batch(stream, tipOf(second), [{}]))
  const inBackup = readFileSync(join(backup, 'log.db'))
  return { folder, backup, log, append, inBackup }
}

type World = Awaited<ReturnType<typeof backedUp>>

/** The ways to put a backup back. */
const WAYS: Readonly<Record<string, (world: World) => void>> = {
  'the folder was moved and a copy took its place': ({ folder, backup }) => {
    renameSync(folder, `${folder}.away`)
    cpSync(backup, folder, { recursive: true })
  },
  'the file was replaced by a renamed copy': ({ folder, backup }) => {
    copyFileSync(join(backup, 'log.db'), join(folder, 'log.db.new'))
    renameSync(join(folder, 'log.db.new'), join(folder, 'log.db'))
  },
  'the file was overwritten in place': ({ folder, inBackup }) => writeFileSync(join(folder, 'log.db'), inBackup),
}

test.each(Object.entries(WAYS))(
  '%s: nothing more is recorded, and the restored file stays as it is',
  async (_, put) => {
    const world = await backedUp()
    const { folder, log, append, inBackup } = world
    put(world)
    const outcomes = await Promise.allSettled([append(), append()])
    expect(outcomes).toMatchObject([{ reason: replaced }, { reason: replaced }])
    await expect(append()).rejects.toMatchObject(replaced)
    await expect(log.headCursor()).rejects.toMatchObject(replaced)
    await expect(collect(log.read(stream))).rejects.toMatchObject(replaced)
    await log.close()
    expect(readFileSync(join(folder, 'log.db')).equals(inBackup)).toBe(true)
  },
)

/** The log that the next start opens is the one in the backup, whole, without the pages of the replaced file. */
async function opensAsRestored(folder: string): Promise<void> {
  const log = await openSqliteLog({ folder, mode: 'owner', clock: BEFORE })
  const events = await collect(log.read(stream))
  await log.close()
  expect(events).toHaveLength(1)
  const db = new DatabaseSync(join(folder, 'log.db'), { readOnly: true })
  onTestFinished(() => db.close())
  expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
  expect(db.prepare('SELECT count(*) AS n FROM events').get()).toEqual({ n: 2 })
}

test.each(Object.entries(WAYS))(
  '%s, and the WAL was left there: the next start opens the restored file',
  async (_, put) => {
    const world = await backedUp()
    put(world)
    await expect(world.append()).rejects.toMatchObject(replaced)
    await world.log.close()
    await opensAsRestored(world.folder)
  },
)

test.each(Object.entries(WAYS))(
  '%s, and the log is closed at once: the restored file stays as it is',
  async (_, put) => {
    const world = await backedUp()
    put(world)
    await world.log.close()
    expect(readFileSync(join(world.folder, 'log.db')).equals(world.inBackup)).toBe(true)
    await opensAsRestored(world.folder)
  },
)

test('a WAL that was overwritten in place with the log stays there', async () => {
  const world = await backedUp()
  const { folder, log } = world
  WAYS['the file was overwritten in place']!(world)
  writeFileSync(join(folder, 'log.db-wal'), 'restored')
  await log.close()
  expect(readFileSync(join(folder, 'log.db-wal'), 'utf8')).toBe('restored')
})

test('a WAL that was restored with the log is not removed', async () => {
  const world = await backedUp()
  const { folder, log, append } = world
  WAYS['the folder was moved and a copy took its place']!(world)
  writeFileSync(join(folder, 'log.db-wal'), 'restored')
  await expect(append()).rejects.toMatchObject(replaced)
  await log.close()
  expect(readFileSync(join(folder, 'log.db-wal'), 'utf8')).toBe('restored')
})

test('an idle process notices it too, and its followers end', async () => {
  const { folder, log } = await backedUp()
  const following = collect(log.subscribe(await log.headCursor(), new AbortController().signal))
  const ended = expect(following).rejects.toMatchObject(replaced)
  rmSync(join(folder, 'log.db'))
  await ended
  await expect(log.headCursor()).rejects.toMatchObject(replaced)
})

test('own checkpoints are no change by others', async () => {
  const folder = tempFolder()
  const log = await openSqliteLog({ folder, mode: 'owner', clock: BEFORE })
  onTestFinished(() => log.close())
  const sealer = new Sealer()
  // More than the size from which a checkpoint runs, of bytes that do not compress.
  for (let n = 0; n < 110; n++) {
    const body = randomBytes(45_000).toString('base64')
    await log.append(`agent-${n}`, -1, sealer.batch(`agent-${n}`, NEW, [{ body }]))
  }
  expect(readFileSync(join(folder, 'log.db')).length).toBeGreaterThan(1_000_000)
})
