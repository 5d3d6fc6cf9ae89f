import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openSqliteLog } from '../../../adapters/log-sqlite/open.ts'
import type { RunSize } from '../../../adapters/log-sqlite/usage.ts'
import { canonicalHeader } from '../../../domain/log/canonical.ts'
import { GENESIS, saltBody, seal } from '../../../domain/log/seal.ts'
import { StreamVerifier } from '../../../domain/log/verify.ts'
import { tempFolder } from '../../support/folders.ts'
import { anyHeader } from '../../support/headers.ts'
import { property } from '../../support/property.ts'
import { BEFORE, bytesOf, collect, NEW, Sealer, tipOf } from '../../support/sealing.ts'
import { bodyBytes, typicalRun } from '../../support/typical-run.ts'

const code = (name: string) => expect.objectContaining({ code: name })
const stream = 'agent-a1'

async function owner(folder = tempFolder()) {
  const log = await openSqliteLog({ folder, mode: 'owner', clock: BEFORE })
  onTestFinished(() => log.close())
  return log
}

/** Somebody else's connection to the file, as a tool for SQLite would open it. */
function raw(folder: string): DatabaseSync {
  const db = new DatabaseSync(join(folder, 'log.db'))
  onTestFinished(() => {
    if (db.isOpen) db.close()
  })
  return db
}

test('any header and body of the format is rebuilt exactly, also by the next process', async () => {
  const event = fc.record({ header: anyHeader, body: fc.uint8Array({ maxLength: 3000 }), text: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 5, maxLength: 20 }), async (drafts) => {
      const inOrder = [...drafts].sort((a, b) => (a.header.timestamp < b.header.timestamp ? -1 : 1))
      const sealed = inOrder.map(({ header, body, text }, index) => {
        const salted = saltBody(text ? Buffer.from('words '.repeat(400)) : body, bytesOf(`${index}`, 16))
        const own = { ...header.body, salt: salted.header.salt, hash: salted.header.hash, size: salted.bytes.length }
        const stored = header.body.place === 'inline' ? salted.bytes : null
        const place = { stream: `${index}${header.stream}`, revision: 0 }
        return seal(
          GENESIS,
          { ...header, ...place, commandId: `${header.agentId}${header.commandId}`, body: own },
          stored,
        )
      })
      const folder = tempFolder()
      const clock = { now: () => Date.parse('0001-01-01T00:00:00.000Z') }
      const log = await openSqliteLog({ folder, mode: 'owner', clock })
      await Promise.all(sealed.map((one) => log.append(one.header.stream, -1, [one])))
      await log.close()
      const again = await openSqliteLog({ folder, mode: 'reader' })
      const events = (await collect(again.readAll(null))).slice(1)
      await again.close()
      expect(events.map(({ header }) => canonicalHeader(header))).toEqual(
        sealed.map(({ header }) => canonicalHeader(header)),
      )
      expect(events.map(({ hash }) => hash)).toEqual(sealed.map(({ hash }) => hash))
      events.forEach(({ body }, index) => {
        expect(body && Buffer.compare(body, sealed[index]!.body!)).toBe(sealed[index]!.body && 0)
      })
    }),
    property(12),
  )
})

describe('the file refuses', () => {
  const prepared = async () => {
    const log = await owner()
    const sealer = new Sealer()
    const batch = sealer.batch(stream, NEW, [{}, { body: 'secret' }])
    await log.append(stream, -1, batch)
    const db = raw(log.folder)
    db.exec('PRAGMA recursive_triggers = OFF; PRAGMA foreign_keys = ON')
    return { log, db }
  }

  test.each([
    'UPDATE events SET turn = 1',
    "UPDATE bodies SET bytes = x'00'",
    'UPDATE bodies SET bytes = NULL',
    'UPDATE bodies SET position = 99 WHERE position = 2',
    'UPDATE kinds SET type = type',
    'UPDATE origins SET run_id = run_id',
    'UPDATE streams SET name = name',
    'DELETE FROM events WHERE position = 3',
    'DELETE FROM bodies',
    'DELETE FROM kinds',
    'DELETE FROM origins',
    'DELETE FROM streams',
    'INSERT OR REPLACE INTO events SELECT * FROM events WHERE position = 2',
    "INSERT OR REPLACE INTO bodies VALUES (2, 0, x'00')",
    'INSERT OR REPLACE INTO kinds SELECT * FROM kinds',
    'INSERT OR REPLACE INTO origins SELECT * FROM origins',
    'INSERT OR REPLACE INTO streams SELECT * FROM streams',
    'INSERT INTO erasures VALUES (2, 3)',
    'INSERT INTO erasures VALUES (2, 99)',
  ])('%s', async (sql) => {
    const { db } = await prepared()
    const before = db.prepare('SELECT * FROM events LEFT JOIN bodies USING (position)').all()
    expect(() => db.exec(sql)).toThrow()
    expect(db.prepare('SELECT * FROM events LEFT JOIN bodies USING (position)').all()).toEqual(before)
  })

  test('an erasure whose event of the same transaction is no erased fact', async () => {
    const { db } = await prepared()
    const next =
      'INSERT INTO events SELECT 4, stream, 2, kind, origin, turn, at, size, fold, command, causation, call, trace, nonce, proof FROM events WHERE position = 3'
    expect(() => db.exec(`BEGIN; INSERT INTO erasures VALUES (3, 4); ${next}; COMMIT`)).toThrow(/only an erased fact/)
    db.exec('ROLLBACK')
    expect(db.prepare('SELECT bytes FROM bodies WHERE position = 3').get()?.bytes).not.toBeNull()
  })
})

test('an erased body is in no file of the log any more, while it is open', async () => {
  const log = await owner()
  const sealer = new Sealer()
  const noise = (seed: string, bytes: number) => Buffer.from(bytesOf(seed, bytes)).toString('base64')
  // Bodies on shared pages and on pages of their own, plain and compressed.
  const drafts = Array.from({ length: 30 }, (_, n) => ({
    body: noise(`${n}`, n % 3 === 0 ? 9000 : 300 * (n % 4) + 40),
  }))
  const batch = sealer.batch(stream, NEW, drafts)
  await log.append(stream, -1, batch)
  const db = raw(log.folder)
  const stored = db.prepare('SELECT bytes FROM bodies WHERE position > 1 ORDER BY position').all()
  db.close()
  const isHeld = (at: number) => {
    const part = Buffer.from(stored[at]!.bytes as Uint8Array).subarray(-32)
    return readdirSync(log.folder).some((name) => readFileSync(join(log.folder, name)).includes(part))
  }
  const gone = [0, 1, 7, 15, 22]
  for (const at of stored.keys()) expect(isHeld(at)).toBe(true)
  const facts = gone.map((revision) => {
    const bodyHash = batch[revision]!.header.body.hash
    return { type: 'erased', body: { revision, bodyHash, reason: 'asked for' } }
  })
  const erasures = gone.map((revision) => ({ stream, revision }))
  await log.append(stream, 29, sealer.batch(stream, tipOf(batch), facts), erasures)
  // The overwriting checkpoint follows the acknowledgement; the next answer comes after it.
  await log.append('agent-b', -1, sealer.batch('agent-b', NEW, [{}]))
  for (const at of stored.keys()) expect([at, isHeld(at)]).toEqual([at, !gone.includes(at)])
  const verifier = new StreamVerifier(stream)
  verifier.page(await collect(log.read(stream)))
  expect(verifier.result()).toMatchObject({
    ok: true,
    erased: gone.map((revision) => ({ revision, reason: 'asked for' })),
  })
  const other = raw(log.folder)
  expect(() => other.exec('UPDATE bodies SET position = 999 WHERE position = 2')).toThrow(/refuses UPDATE/)
})

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

  test('a file that is no SQLite file, or not ours, is refused and left alone', async () => {
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

  test('where nothing can be written says what to check', async () => {
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

describe('bytes', () => {
  test('of a typical run are at most 1.5 times its bodies, and grow with the run', async () => {
    const sizeOf = async (turns: number) => {
      const log = await owner()
      const batches = [...typicalRun('0abcdefghjkmnpqrstvwxyz', turns)]
      await Promise.all(
        batches.map((batch) => log.append(batch[0]!.header.stream, batch[0]!.header.revision - 1, batch)),
      )
      await log.close()
      return statSync(join(log.folder, 'log.db')).size / bodyBytes(batches)
    }
    const [short, long] = [await sizeOf(100), await sizeOf(400)]
    expect(long).toBeLessThanOrEqual(1.5)
    expect(short).toBeLessThanOrEqual(1.5)
    expect(long).toBeLessThanOrEqual(short * 1.05)
  })

  test('of the WAL stay bounded, however much is written', async () => {
    const log = await owner()
    const sealer = new Sealer()
    let tip = NEW
    let most = 0
    for (let n = 0; n < 250; n++) {
      const batch = sealer.batch(stream, tip, [{ body: Buffer.from(bytesOf(`${n}`, 45_000)).toString('base64') }])
      await log.append(stream, tip.revision, batch)
      tip = tipOf(batch)
      most = Math.max(most, statSync(join(log.folder, 'log.db-wal')).size)
    }
    expect(statSync(join(log.folder, 'log.db')).size).toBeGreaterThan(6 * 1024 * 1024)
    expect(most).toBeLessThan(8 * 1024 * 1024)
  })

  test('per run are told from counters, exactly, also after an erasure and a restart', async () => {
    const log = await owner()
    const sealer = new Sealer('sizes')
    for (const run of ['r1', 'r2'])
      for (const batch of typicalRun(run, 50, sealer))
        await log.append(`agent-${run}`, batch[0]!.header.revision - 1, batch)
    const counted = await log.sizes()
    expect(counted.map(({ runId, events }) => [runId, events])).toEqual([
      ['log', 1],
      ['r1', 350],
      ['r2', 350],
    ])
    const bodies = raw(log.folder).prepare(
      `SELECT sum(length(b.bytes)) AS bytes FROM events e JOIN origins o ON o.id = e.origin
       JOIN bodies b USING (position) GROUP BY o.run_id ORDER BY o.run_id`,
    )
    const headersOf = (sizes: readonly RunSize[]) => {
      const stored = bodies.all()
      return sizes.map(({ bytes }, index) => bytes - Number(stored[index]?.bytes))
    }
    const headers = headersOf(counted)
    counted.forEach(({ events }, index) => {
      expect(headers[index]! / events).toBeGreaterThan(100)
      expect(headers[index]! / events).toBeLessThan(220)
    })
    const head = await log.head('agent-r1')
    const [first] = await collect(log.read('agent-r1', { limit: 1 }))
    const body = { revision: 0, bodyHash: first!.header.body.hash, reason: 'asked for' }
    const fact = sealer.batch('agent-r1', head!, [{ type: 'erased', body, header: { runId: 'r1' } }])
    await log.append('agent-r1', head!.revision, fact, [{ stream: 'agent-r1', revision: 0 }])
    const after = await log.sizes()
    const ofFact = headersOf(after)[1]! - headers[1]!
    expect(ofFact).toBeGreaterThan(100)
    expect(ofFact).toBeLessThan(220)
    expect(after[2]).toEqual(counted[2])
    await log.close()
    expect(await (await owner(log.folder)).sizes()).toEqual(after)
  })
})

test('the folder is for this user alone', async () => {
  const folder = join(tempFolder(), 'deep', 'data')
  await owner(folder)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  mkdirSync(folder, { recursive: true })
})
