import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openSqliteLog } from '../../adapters/sqlite/log/open.ts'
import { start } from '../support/child.ts'
import { tempFolder } from '../support/folders.ts'
import { orderOf, receiver } from '../support/webhooks/receiver.ts'
import { deliveries } from '../support/webhooks/world.ts'

const CHILD = fileURLToPath(new URL('../support/webhooks/deliver-child.ts', import.meta.url))

test('killed at random points, every notice arrives at least once, in order per run, with the same id', {
  timeout: 120_000,
}, async () => {
  const folder = tempFolder()
  const log = await openSqliteLog({ folder, mode: 'owner' })
  const { url, got, faults, answer } = await receiver()
  const world = deliveries({ url, folder, log })
  const expected = new Map<string, string[]>()
  for (let n = 0; n < 400; n += 1) {
    const run = `r${n % 10}`
    expected.set(run, [...(expected.get(run) ?? []), ...(await world.write(run))])
  }
  await world.fromStart()
  await log.close()
  let refuse = 0
  answer.with = (_, response) => {
    // Some answers are lost, and some failures are only for a while.
    refuse += 1
    setTimeout(() => response.writeHead(refuse % 7 === 0 ? 500 : 204).end(), 3)
  }
  const all = () => new Set(got.map(({ id }) => id)).size
  for (let kills = 0; all() < 400; kills += 1) {
    expect(kills).toBeLessThan(60)
    const child = start(process.execPath, [CHILD, folder, url])
    const goal = Math.min(400, all() + 20 + ((kills * 37) % 60))
    const due = Date.now() + 15_000
    while (all() < goal && Date.now() < due) await sleep(5)
    await sleep((kills * 13) % 40)
    child.process.kill('SIGKILL')
    expect((await child.ended).end).toBe('SIGKILL')
  }
  expect(faults).toEqual([])
  expect(got.length).toBeGreaterThan(400)
  for (const [run, ids] of expected) expect(orderOf(got, run)).toEqual(ids)
})
