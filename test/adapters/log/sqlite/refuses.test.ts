import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { StreamVerifier } from '../../../../domain/log/verify.ts'
import { bytesOf, collect, erasedBody, NEW, Sealer, tipOf } from '../../../support/log/sealing.ts'
import { owner, raw } from '../../../support/log/sqlite-log.ts'

const stream = 'agent-a1'

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

  const STATEMENTS = [
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
  ]

  test('every change of a written event, by any tool', async () => {
    const { db } = await prepared()
    const before = db.prepare('SELECT * FROM events LEFT JOIN bodies USING (position)').all()
    for (const sql of STATEMENTS) {
      expect(() => db.exec(sql), sql).toThrow()
      expect(db.prepare('SELECT * FROM events LEFT JOIN bodies USING (position)').all(), sql).toEqual(before)
    }
  })

  test('an erasure without an event of erasure in the same transaction', async () => {
    const { db } = await prepared()
    const next =
      'INSERT INTO events SELECT 4, stream, 2, kind, origin, turn, at, size, fold, command, causation, call, trace, nonce, wake, proof FROM events WHERE position = 3'
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
  const parts = [gone.slice(0, 3), gone.slice(3)]
  const facts = parts.map((part) => ({ type: 'erased', body: erasedBody(...part.map((at) => batch[at]!)) }))
  await log.append(stream, 29, sealer.batch(stream, tipOf(batch), facts))
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
