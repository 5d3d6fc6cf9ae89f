import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import type { RecordedEvent, SealedEvent } from '../../../domain/log/envelope.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import { tempFolder } from '../../support/folders.ts'
import { ask, Model, NAMES, shown, step, told } from '../../support/log/log-plan.ts'
import { BEFORE, bytesOf, collect, Sealer } from '../../support/log/sealing.ts'
import { property } from '../../support/property.ts'

// One generated plan drives the memory log and the SQLite log; every answer must be the same. Permitted differences:
// - 'late' (older than another stream's last event): only SQLite keeps time over the whole log, and says CONFLICT;
// - forged ids (see the contract kit): only SQLite compares more than ids. Plans hold none.

test('memory and SQLite give one answer to one plan', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (plan) => {
      const random = { bytes: (length: number) => bytesOf('log', length) }
      const memory = new MemoryLog({ clock: BEFORE, random })
      const sqlite = await openSqliteLog({ folder: tempFolder(), mode: 'owner', clock: BEFORE, random })
      const logs = [memory, sqlite]
      const model = new Model()
      const stop = new AbortController()
      const heard: RecordedEvent[][] = [[], []]
      const listening = logs.map(async (log, index) => {
        for await (const page of log.subscribe(null, stop.signal)) heard[index]!.push(...page)
      })
      try {
        for (const s of plan) {
          if (s.op === 'late') await late(sqlite, model, s.stream)
          const calls = model.callsOf(s)
          const answers = await Promise.all(
            logs.map((log) => Promise.all(calls.map((c) => told(log.append(c.stream, c.expected, c.batch))))),
          )
          expect(answers[1], JSON.stringify(s)).toEqual(answers[0])
          calls.forEach((call, index) => {
            const head = model.tip(call.stream).revision
            model.sent.push(call)
            if ('is' in (answers[0]![index] as object) && call.expected === head) model.wrote(call)
          })
          const [one, two] = await Promise.all(logs.map((log) => ask(log, s, model)))
          expect(two, JSON.stringify(s)).toEqual(one)
        }
        for (const name of NAMES)
          expect((await collect(sqlite.read(name))).map(({ id }) => id)).toEqual(
            (model.streams.get(name) ?? []).map(({ id }) => id),
          )
        const [all, same] = await Promise.all(logs.map(async (log) => (await collect(log.readAll(null))).map(shown)))
        expect(same).toEqual(all)
        const quiet = async () => heard.every((events) => events.length === all!.length)
        await expect.poll(quiet).toBe(true)
        stop.abort()
        await Promise.all(listening)
        for (const events of heard) expect(events.map(({ id }) => id)).toEqual(all!.map(({ id }) => id))
      } finally {
        stop.abort()
        await Promise.all(logs.map((log) => log.close()))
      }
    }),
    property(20, { endOnFailure: true }),
  )
})

async function late(sqlite: EventLog, model: Model, name: string): Promise<void> {
  const timeOf = (events: readonly SealedEvent[] = []) => Date.parse(events.at(-1)?.header.timestamp ?? '1970-01-01')
  const last = Math.max(...[...model.streams.values()].map(timeOf))
  const own = timeOf(model.streams.get(name))
  if (!(own < last)) return
  const tip = model.tip(name)
  const header = { timestamp: new Date(last - 1).toISOString() }
  const batch = new Sealer('late').batch(name, tip, [{ header }])
  expect(await told(sqlite.append(name, tip.revision, batch))).toEqual({ code: 'CONFLICT', actual: tip.revision })
}
