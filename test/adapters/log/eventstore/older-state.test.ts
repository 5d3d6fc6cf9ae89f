import { expect, test } from 'vitest'
import { code } from '../../../contracts/event-log-factory.ts'
import { openLog, standIn } from '../../../support/eventstore/logs.ts'
import type { StandIn } from '../../../support/eventstore/stand-in.ts'
import type { Store } from '../../../support/eventstore/store.ts'
import { collect, NEW, Sealer, tipOf } from '../../../support/log/sealing.ts'

const stream = 'agent-a'
const shortened = { code: 'LOG_SHORTENED', message: expect.stringMatching(/seen position \d+ of it.*keepup repair/) }

async function putBack(server: StandIn, older: Store): Promise<void> {
  await server.kill()
  server.restore(older)
  await server.start()
}

async function twoBatches() {
  const server = await standIn()
  const doubts: string[] = []
  const log = await openLog(server.url, { onDoubt: async () => void doubts.push('asked') })
  const sealer = new Sealer()
  const first = sealer.batch(stream, NEW, [{}])
  await log.append(stream, -1, first)
  const older = server.store.copy()
  const second = sealer.batch(stream, tipOf(first), [{}])
  await log.append(stream, 0, second)
  return { server, log, sealer, first, second, older, doubts }
}

test('no append reaches an older state of the log that was put back under a process', async () => {
  const { server, log, sealer, first, older } = await twoBatches()
  await putBack(server, older)
  const [held, seen] = [older.all.length, log.lost]
  const other = sealer.batch('agent-b', NEW, [{}])
  const next = sealer.batch(stream, tipOf(first), [{}])
  const refused = await Promise.allSettled([log.append('agent-b', -1, other), log.append(stream, 0, next)])
  expect(refused).toMatchObject([{ reason: shortened }, { reason: shortened }])
  await expect(log.append('agent-b', -1, other)).rejects.toMatchObject(shortened)
  expect(older.all).toHaveLength(held)
  expect(seen).toBeNull()
  // The older state can be read, and appended to once the owner has taken over what was lost.
  expect(await collect(log.read(stream))).toHaveLength(1)
  expect(log.lost!.position).toBeGreaterThan((await log.headCursor()).position)
  log.settle()
  await log.append(stream, 0, next)
  expect(older.events(`ns.${stream}`)).toHaveLength(2)
})

test('an append that was under way when an older state was put back is not sent to it', async () => {
  const { server, log, sealer, second, older } = await twoBatches()
  server.freeze()
  const given = expect(log.append(stream, 1, sealer.batch(stream, tipOf(second), [{}]))).rejects.toMatchObject(
    shortened,
  )
  const held = older.all.length
  await server.kill()
  server.thaw()
  server.restore(older)
  await server.start()
  await given
  expect(older.all).toHaveLength(held)
})

test('a follower tells the owner of the log that an older state was put back, without any append', async () => {
  const { server, log, first, older, doubts } = await twoBatches()
  const stop = new AbortController()
  const [start] = await collect(log.read(stream))
  expect(start!.id).toBe(first[0]!.id)
  const heard: string[] = []
  const following = (async () => {
    for await (const page of log.subscribe(null, stop.signal)) heard.push(...page.map(({ id }) => id))
  })()
  await expect.poll(() => heard).toHaveLength(3)
  const asked = doubts.length
  await putBack(server, older)
  await expect(following).rejects.toEqual(code('CURSOR_MISMATCH'))
  await expect(log.append('agent-b', -1, new Sealer('b').batch('agent-b', NEW, [{}]))).rejects.toMatchObject(shortened)
  expect(doubts.length).toBeGreaterThan(asked)
})

test('the same state that comes back is appended to as before, checked once for all that waits', async () => {
  const { server, log, sealer, second, doubts } = await twoBatches()
  const asked = doubts.length
  await server.kill()
  await server.start()
  const streams = ['agent-b', 'agent-c', 'agent-d']
  await Promise.all(streams.map((name) => log.append(name, -1, sealer.batch(name, NEW, [{}]))))
  await log.append(stream, 1, sealer.batch(stream, tipOf(second), [{}]))
  expect(log.lost).toBeNull()
  expect(doubts).toHaveLength(asked + 1)
})

test('an append rejects as the check of the owner does', async () => {
  const server = await standIn()
  let fault: Error | null = Object.assign(new Error('held'), { code: 'HELD' })
  const log = await openLog(server.url, {
    onDoubt: async () => (fault ? Promise.reject(fault) : undefined),
    limits: { patienceMs: 300 },
  })
  const batch = new Sealer().batch(stream, NEW, [{}])
  await expect(log.append(stream, -1, batch)).rejects.toMatchObject({ cause: fault })
  expect(server.store.events(`ns.${stream}`) ?? []).toEqual([])
  fault = null
  await log.append(stream, -1, batch)
})
