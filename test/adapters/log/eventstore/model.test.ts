import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { openEventStoreLog } from '../../../../adapters/eventstore/open.ts'
import { MemoryLog } from '../../../../adapters/memory/log.ts'
import type { RecordedEvent } from '../../../../domain/log/envelope.ts'
import { SHORT } from '../../../support/eventstore/logs.ts'
import { StandIn } from '../../../support/eventstore/stand-in.ts'
import { ask, Model, step, told } from '../../../support/log/log-plan.ts'
import { BEFORE, bytesOf, collect } from '../../../support/log/sealing.ts'
import { property } from '../../../support/property.ts'

// One generated plan drives the memory log and EventStoreDB's; every answer must be the same, while connections are cut
// in between. Permitted differences: positions, which are offsets there; the order of what was sent at once to several
// streams; erasing, which is refused there.

const url = process.env.EVENTSTORE_URL
const server = await new StandIn().start()
afterAll(() => server.stop())

const steps = step.filter(({ op }) => op !== 'erase')
const plan = fc.array(fc.record({ s: steps, cut: fc.integer({ min: 0, max: 9 }).map((n) => n === 0) }), {
  minLength: 10,
  maxLength: 40,
})

/** An answer without positions. */
const plain = (answer: unknown): unknown =>
  JSON.parse(
    JSON.stringify(answer, (key, value) => {
      if (key === 'position') return undefined
      return value instanceof Uint8Array ? [...value] : value
    }),
  )

const byStream = (events: readonly RecordedEvent[]) => {
  const streams = Object.groupBy(events, ({ header }) => header.stream)
  return Object.entries(streams)
    .map(([name, some]) => [name, some!.map(({ id }) => id)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

let logs = 0
test('memory and EventStoreDB give one answer to one plan', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (planned) => {
      const random = { bytes: (length: number) => bytesOf('log', length) }
      const memory = new MemoryLog({ clock: BEFORE, random })
      const namespace = `m${Date.now().toString(36)}x${logs++}`
      const options = { namespace, limits: SHORT, clock: BEFORE, random }
      const stored = await openEventStoreLog({ connectionString: url ?? server.url, ...options })
      const model = new Model()
      const stop = new AbortController()
      const heard: RecordedEvent[] = []
      const listening = (async () => {
        for await (const page of stored.subscribe(null, stop.signal)) heard.push(...page)
      })()
      try {
        for (const { s, cut } of planned) {
          const calls = model.callsOf(s)
          const send = (log: MemoryLog | typeof stored) =>
            Promise.all(calls.map((call) => told(log.append(call.stream, call.expected, call.batch))))
          const [one, two] = await Promise.all([send(memory), send(stored), cut ? server.drop() : undefined])
          expect(plain(two), JSON.stringify(s)).toEqual(plain(one))
          calls.forEach((call, index) => {
            const head = model.tip(call.stream).revision
            model.sent.push(call)
            if ('is' in (one[index] as object) && call.expected === head) model.wrote(call)
          })
          const [asked, same] = await Promise.all([memory, stored].map((log) => ask(log, s, model)))
          expect(plain(same), JSON.stringify(s)).toEqual(plain(asked))
        }
        const all = await collect(stored.readAll(null))
        expect(byStream(all)).toEqual(byStream(await collect(memory.readAll(null))))
        await expect.poll(() => heard.length).toBeGreaterThanOrEqual(all.length)
        expect(heard.map(({ id }) => id)).toEqual(all.map(({ id }) => id))
      } finally {
        stop.abort()
        await listening.catch(() => undefined)
        await stored.close()
      }
    }),
    property(6, { endOnFailure: true }),
  )
})
