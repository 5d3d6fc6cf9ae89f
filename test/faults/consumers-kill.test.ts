import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { openKeepUp } from '../../api/index.ts'
import { PROOF_STREAM } from '../../domain/proof/kind.ts'
import { start } from '../support/child.ts'
import { openRows } from '../support/consumers/rows.ts'
import { tempFolder } from '../support/folders.ts'

const CHILD = fileURLToPath(new URL('../support/consumers/consume-child.ts', import.meta.url))
const KILLS = Number(process.env.CONSUMER_KILLS ?? 3)
const WRITTEN = Math.max(240, KILLS * 60)

interface Session {
  /** The position that keepup had when the program began. */
  readonly begun: string
  readonly ids: string[]
}

/** What the program wrote between its kills. */
function sessionsIn(file: string): Session[] {
  const sessions: Session[] = []
  // A kill can cut the last line of a session.
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
    const [first = '', second = ''] = line.split(' ')
    if (first === 'begun') sessions.push({ begun: second, ids: [] })
    else if (second !== '') sessions.at(-1)!.ids.push(first)
  }
  return sessions
}

test('a program that is killed at random misses no event, repeats only from its last ack, and has each row once', {
  timeout: 3_600_000,
}, async () => {
  const folder = tempFolder()
  const data = join(folder, 'data')
  const expected = await written(data)
  const ids = expected.map(({ id }) => id)
  const file = join(folder, 'got')
  const last = () => Math.max(-1, ...sessionsIn(file).map((session) => ids.indexOf(session.ids.at(-1) ?? '')))
  let kills = 0
  // A program on a busy machine can read everything before its kill. The next ones are killed while they wait.
  for (; kills < KILLS || last() < ids.length - 1; kills += 1) {
    expect(kills).toBeLessThan(KILLS * 20)
    const child = start(process.execPath, [CHILD, folder])
    const sessions = sessionsIn(file).length
    const begun = last()
    const goal = kills < KILLS ? Math.min(ids.length - 1, begun + 1 + ((kills * 37) % 120)) : ids.length - 1
    const due = Date.now() + 120_000
    while (sessionsIn(file).length === sessions || last() < goal) {
      expect(Date.now(), 'the program reads on').toBeLessThan(due)
      await sleep(3)
    }
    await sleep((kills * 13) % 40)
    child.process.kill('SIGKILL')
    expect((await child.ended).end, (await child.ended).stderr).toBe('SIGKILL')
  }
  let reached = -1
  for (const { begun, ids: got } of sessionsIn(file)) {
    const acked = begun === 'null' ? -1 : expected.findIndex(({ cursor }) => cursor === begun)
    expect(acked).toBeLessThanOrEqual(reached)
    expect(got).toEqual(ids.slice(acked + 1, acked + 1 + got.length))
    reached = Math.max(reached, acked + got.length)
  }
  expect(reached).toBe(ids.length - 1)

  // The rows catch up, and have each event of their filter once, in order.
  const keepup = await openKeepUp({ data, by: 'ada' })
  const rows = openRows(join(folder, 'rows.db'))
  const wanted = { name: 'rows', filter: { types: ['variable_set'] }, positionIn: rows, once: true } as const
  await keepup.consume(wanted, async (events, tx) => {
    for (const { id } of events) await tx.insertInto('seen').values({ id }).execute()
  })
  const seen = await rows.selectFrom('seen').select('id').orderBy('place').execute()
  expect(seen.map(({ id }) => id)).toEqual(expected.filter(({ type }) => type === 'variable_set').map(({ id }) => id))
  await rows.destroy()
  await keepup.close()
})

/** Writes a log. Returns its events in order, with their cursors. */
async function written(data: string) {
  const keepup = await openKeepUp({ data, by: 'ada' })
  const store = keepup.contextStore('desk', 'ada')
  for (let n = 0; n < WRITTEN; n += 10)
    await Promise.all(Array.from({ length: 10 }, (_, m) => store.set(`k${m}`, `${n} ${'x'.repeat(2_000)}`)))
  // The first signed head records its key. Every event of the log is written before the programs begin.
  await vi.waitFor(async () => expect(await keepup.services.log.head(PROOF_STREAM)).not.toBeNull(), { timeout: 30_000 })
  const events: { readonly id: string; readonly cursor: string; readonly type: string }[] = []
  await keepup.consume({ name: 'writer', once: true }, (all) => void events.push(...all))
  await keepup.close()
  return events
}
