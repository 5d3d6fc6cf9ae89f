import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Runtime } from '../../../../domain/agent/runtime/runtime.ts'
import type { EventLog } from '../../../../domain/ports/index.ts'
import type { DriveEnd } from '../../../../domain/tree/runtime/drive.ts'
import { openLog, standIn } from '../../../support/eventstore/logs.ts'
import {
  call,
  calls,
  completes,
  harness,
  seededRandom,
  testModel,
  testSpec,
  toolSpec,
} from '../../../support/harness.ts'
import { checkHistory } from '../../../support/invariants.ts'

const clock = {
  now: () => Date.now(),
  sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, signal ? { signal } : {}),
}
const answer = (_: unknown, n: number) => (n <= 4 ? calls(call('send', { n })) : completes())

function counting() {
  let effects = 0
  const run = async () => {
    effects++
    return { content: 'sent' }
  }
  return { send: { spec: toolSpec('send', { effect: 'irreversible' }), run }, effects: () => effects }
}

/** The log, with something done to its server when the nth append has been asked for. */
function disturbed(log: EventLog, disturb: (nth: number) => void): EventLog {
  const append = log.append.bind(log)
  let nth = 0
  log.append = (...args) => {
    const written = append(...args)
    disturb(nth++)
    return written
  }
  return log
}

test('a run whose connections are cut at every append is the run of a calm log', async () => {
  const still = counting()
  const calm = harness(answer, { tools: [still.send], ports: { clock } })
  const calmId = await calm.start(testSpec({}, [still.send]))
  await calm.drive(calmId)
  const server = await standIn()
  const { send, effects } = counting()
  const log = disturbed(await openLog(server.url), () => setImmediate(() => server.drop()))
  const h = harness(answer, { tools: [send], log, ports: { clock } })
  const runId = await h.start(testSpec({}, [send]))
  expect(await h.drive(runId)).toEqual({ end: 'done' })
  expect(effects()).toBe(4)
  checkHistory(await h.events(runId))
  expect((await h.runtime.verify(runId)).problems).toEqual([])
  expect(await h.types(runId)).toEqual(await calm.types(calmId))
})

test('a driver that claims the run while another waits for its model finishes the run, and the other stops', async () => {
  const server = await standIn()
  const { send, effects } = counting()
  const [log, otherLog] = await Promise.all([openLog(server.url), openLog(server.url)])
  let taken: Promise<DriveEnd> | null = null
  const slow = async (request: unknown, n: number) => {
    if (n === 2) {
      const second = new Runtime({ ...h.ports, log: otherLog, random: seededRandom('the other process') })
      taken = second.drive(runId, { signal: new AbortController().signal })
      await taken
    }
    return answer(request, n)
  }
  const h = harness(slow, { tools: [send], log, ports: { clock } })
  // The model answers when the other one has done it all, on whatever machine.
  const patient = { requested: 'test-model', safeDefault: 'test-model', known: [{ ...testModel, timeoutMs: 110_000 }] }
  const runId = await h.start(testSpec({ models: patient }, [send]))
  expect(await h.drive(runId)).toMatchObject({ end: 'overtaken', epoch: 2 })
  expect(await taken).toEqual({ end: 'done' })
  // The first one's, and what the model asked the second for.
  expect(effects()).toBe(3)
  checkHistory(await h.events(runId))
  expect((await h.runtime.verify(runId)).problems).toEqual([])
})
