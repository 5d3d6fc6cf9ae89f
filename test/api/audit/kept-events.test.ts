// @module-tag git
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSql } from '../../../api/process/embedded/open-sql.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { foldPast } from '../../../projections/index.ts'
import { tempFolder } from '../../support/folders.ts'
import { dumpFile } from '../../support/projections/kit.ts'
import { bodyOf, eventsIn, openWorld } from '../support/http.ts'

// Tables with kept events say the same as tables beside an embedded log.

const world = await openWorld()
afterAll(() => world.close())
const { ask, driven, services } = world
const { log, blobs } = services

let [erased, fork] = ['', '']
beforeAll(async () => {
  const workspace = world.workspace()
  const source = await driven('both', { workspace })
  const forked = await ask('POST', `/v1/runs/${source}/fork`, {
    body: { step: 1, drive: true, workspace: `${workspace}-fork` },
  })
  expect([forked.status, await forked.clone().text()]).toEqual([201, expect.any(String)])
  fork = (await bodyOf<{ runId: string }>(forked)).runId
  await services.drivers.ended(fork)
  erased = await driven('a private matter')
  await ask('POST', `/v1/runs/${erased}/erase`, { body: { revision: 1, reason: 'private' } })
})

/** The answers of tables that were folded up to an event, with kept events or beside the log. */
async function answersAt(event: RecordedEvent, keepsEvents: boolean, ...questions: readonly string[]) {
  const path = join(tempFolder(), 't.db')
  await foldPast({ log, blobs, keepsEvents })(path, log.cursor(event))
  const { db, close } = openSql(world.data, { path, position: event.position, keepsEvents })
  try {
    return { tables: dumpFile(path), rows: questions.map((text) => db.prepare(text).all()) }
  } finally {
    close()
  }
}

it('events, checkpoints and all tables are the same at any position', async () => {
  const all = await eventsIn(services)
  const questions = [
    'select * from events order by id',
    'select * from checkpoints order by id',
    // Steps before those of the last question.
    'select * from checkpoints where step = 1 order by id',
  ]
  const at = [2, Math.floor(all.length / 3), Math.floor(all.length / 2), all.length - 1]
  let checkpoints: readonly { readonly thread_id?: unknown }[] = []
  for (const event of at.map((place) => all[place]!)) {
    const [kept, beside] = [await answersAt(event, true, ...questions), await answersAt(event, false, ...questions)]
    expect(kept.rows).toEqual(beside.rows)
    expect(kept.rows[0]).toHaveLength(all.filter(({ position }) => position <= event.position).length)
    checkpoints = kept.rows[1]!
    const { event_rows: _, ...others } = kept.tables
    expect(others).toEqual(beside.tables)
  }
  expect(checkpoints.map(({ thread_id }) => thread_id)).toContain(fork)
})

it('a body that was erased is null, and messages are read from its residue', async () => {
  const last = (await eventsIn(services)).at(-1)!
  const texts = ['events', 'checkpoints'].map((table) => `select * from ${table} where thread_id = '${erased}'`)
  const { rows } = await answersAt(last, true, ...texts)
  expect(JSON.stringify(rows)).not.toContain('private matter')
  expect(rows[0]!.filter(({ payload }) => payload === null).length).toBeGreaterThan(0)
})
