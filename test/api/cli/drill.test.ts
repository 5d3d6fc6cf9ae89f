// @module-tag git
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { newPlace } from '../../support/faults/cli.ts'
import { sandboxFlag, scripted } from '../../support/faults/jobs.ts'
import { inProcess } from '../support/cli.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const script = { script: 1 as const, turns: [{ calls: [{ tool: 'complete_task', arguments: { summary: 'Done.' } }] }] }

const temporary = () => readdirSync(tmpdir()).filter((name) => /^keepup-(drill|tables)-/.test(name))

describe('a drill', () => {
  const place = newPlace()
  const model = scripted(place, script)
  const backup = join(place.root, 'backup')
  const here = (args: readonly string[], data = place.data) => inProcess(['--data', data, '--by', 'ada', ...args])
  const run = () => here(['run', '--model', model, '-w', place.workspace, ...sandboxFlag, 'Write'])
  const drilled = async (data = place.data) => {
    const { code, out, err } = await here(['drill', backup, '-o', 'jsonl'], data)
    return { code, err, last: JSON.parse(out.trim().split('\n').at(-1) ?? '{}') as Record<string, unknown> }
  }
  afterAll(() => place.remove())
  beforeAll(async () => {
    expect(await run()).toMatchObject({ code: 0 })
    expect(await here(['backup', backup])).toMatchObject({ code: 0 })
  })

  test('verifies a backup, compares it with the data folder, and leaves nothing behind', async () => {
    const before = { files: readdirSync(backup, { recursive: true }).sort(), temporary: temporary() }
    expect(await drilled()).toMatchObject({ code: 0, last: { ok: true, continues: true } })
    expect({ files: readdirSync(backup, { recursive: true }).sort(), temporary: temporary() }).toEqual(before)
  })

  test('counts the events that a restore would lose', async () => {
    const { last } = await drilled()
    expect(await run()).toMatchObject({ code: 0 })
    const later = await drilled()
    expect(later).toMatchObject({ code: 0, last: { ok: true, continues: true } })
    expect(later.last.lost).toBeGreaterThan(Number(last.lost))
  })

  test('works without the data folder, as after its loss', async () => {
    const gone = await drilled(join(place.root, 'gone'))
    expect(gone).toMatchObject({ code: 0, last: { ok: true, continues: null, lost: null } })
  })

  test('verifies the backup beside a data folder that lost its log', async () => {
    const lost = join(place.root, 'lost')
    cpSync(place.data, lost, { recursive: true })
    rmSync(join(lost, 'log/log.db'))
    const { code, last } = await drilled(lost)
    expect({ code, last }).toMatchObject({ code: 0, last: { ok: true, continues: null, lost: null } })
  })

  test('names a backup of another log', async () => {
    const other = join(place.root, 'other')
    const began = await here(['run', '--model', model, '-w', place.workspace, ...sandboxFlag, 'Write'], other)
    expect(began).toMatchObject({ code: 0 })
    expect(await drilled(other)).toMatchObject({ code: 5, last: { ok: true, continues: false } })
  })

  test('names a damaged backup', async () => {
    const db = new DatabaseSync(join(backup, 'log/log.db'))
    for (const { name } of db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
      db.exec(`DROP TRIGGER ${name}`)
    db.exec('UPDATE events SET proof = zeroblob(length(proof)) WHERE position = 5')
    db.close()
    const { code, last } = await drilled()
    expect({ code, ok: last.ok }).toEqual({ code: 5, ok: false })
  })

  test('refuses what is no folder, and a folder without a log', async () => {
    const file = join(place.root, 'file')
    writeFileSync(file, '')
    const refused = { code: 2, err: expect.stringMatching(/is no backup, for it has no log/) }
    expect(await here(['drill', file])).toMatchObject(refused)
    rmSync(join(backup, 'log'), { recursive: true })
    expect(await here(['drill', backup])).toMatchObject(refused)
  })
})
