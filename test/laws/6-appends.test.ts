import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { Runtime } from '../../domain/agent/runtime/runtime.ts'
import { LogError } from '../../domain/log/errors.ts'
import type { EventLog } from '../../domain/ports/index.ts'
import { call, calls, completes, harness, seededRandom, testSpec, toolSpec, USER } from '../support/harness.ts'
import { checkHistory } from '../support/invariants.ts'
import { law } from '../support/laws.ts'
import { VirtualClock } from '../support/time/virtual-clock.ts'

// Law 6: an append retried after an unknown outcome is in the log once, or not at all. Two drivers with frozen clocks:
// one wins.

const unavailable = () => new LogError('LOG_UNAVAILABLE', 'no answer')

/** A log that now and then answers nothing: before it has written, or after. */
function shaky(log: EventLog, fates: readonly ('ok' | 'before' | 'after')[]): EventLog {
  let nth = 0
  const append = log.append.bind(log)
  log.append = async (...args) => {
    const fate = fates[nth++ % fates.length]
    if (fate === 'before') throw unavailable()
    const written = await append(...args)
    if (fate === 'after') throw unavailable()
    return written
  }
  return log
}

function counting() {
  let effects = 0
  const send = {
    spec: toolSpec('send', { effect: 'irreversible' }),
    run: async () => {
      effects++
      return { content: 'sent' }
    },
  }
  return { send, effects: () => effects }
}

const answer = (_: unknown, n: number) => (n <= 3 ? calls(call('send', { n })) : completes())

test('a log that fails before or after it has written leaves the history of one that does not', async () => {
  const still = counting()
  const calm = harness(answer, { tools: [still.send], ports: { clock: new VirtualClock() } })
  const calmId = await calm.start(testSpec({}, [still.send]))
  await calm.drive(calmId)
  const expected = await calm.types(calmId)
  // Fewer failures in a row than the runtime has patience for.
  const fates = fc.array(fc.constantFrom('ok' as const, 'before' as const, 'after' as const), {
    minLength: 1,
    maxLength: 6,
  })
  await law(fates, 40, async (given) => {
    const { send, effects } = counting()
    const log = shaky(new MemoryLog(), [...given, 'ok'])
    const h = harness(answer, { tools: [send], log, ports: { clock: new VirtualClock() } })
    const runId = h.runtime.newRunId()
    const start = { kind: 'start', spec: testSpec({}, [send]), task: 'do it' } as const
    await h.runtime.execute(runId, start, { by: USER, key: 'start' })
    expect(await h.drive(runId)).toEqual({ end: 'done' })
    expect(effects()).toBe(3)
    checkHistory(await h.events(runId))
    expect((await h.runtime.verify(runId)).problems).toEqual([])
    expect(await h.types(runId)).toEqual(expected)
  })
})

test('a log that stays away fails the drive, loudly; a later drive goes on', async () => {
  let away = false
  const log = new MemoryLog()
  const append = log.append.bind(log)
  log.append = async (...args) => {
    if (away) throw unavailable()
    return append(...args)
  }
  const { send, effects } = counting()
  const h = harness(
    (_, n) => {
      away = n === 2
      return answer(_, n)
    },
    { tools: [send], log, ports: { clock: new VirtualClock() } },
  )
  const runId = await h.start(testSpec({}, [send]))
  await expect(h.drive(runId)).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
  away = false
  expect(await h.drive(runId)).toEqual({ end: 'done' })
  expect(effects()).toBe(2)
})

test('two drivers with frozen clocks: one wins, the other is told', async () => {
  await law(fc.integer({ min: 0, max: 40 }), 40, async (lead) => {
    const { send, effects } = counting()
    const clock = {
      now: () => Date.UTC(2026, 0, 18),
      sleep: (_: number, signal?: AbortSignal) =>
        new Promise<void>((_r, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    }
    const h = harness(answer, { tools: [send], ports: { clock } })
    const runId = await h.start(testSpec({}, [send]))
    const second = new Runtime({ ...h.ports, random: seededRandom('the other process') })
    const signal = new AbortController().signal
    const first = h.drive(runId)
    for (let i = 0; i < lead; i++) await Promise.resolve()
    const other = second.drive(runId, { signal })
    const ends = [await first, await other].map(({ end }) => end)
    expect(ends).toContain('overtaken')
    const last = await second.drive(runId, { signal })
    const waiting = last.end === 'waiting' ? last.toolCallIds : []
    // The one that was overtaken may have sent before it could tell; then a person is asked, and nothing runs twice.
    for (const toolCallId of waiting) {
      const { state } = await second.at(runId, null)
      expect(state.machine.status).toBe('TOOL_WAIT')
      await second.execute(runId, { kind: 'resolve_doubt', toolCallId, decision: 'happened' }, { by: USER })
    }
    if (last.end === 'waiting') await second.drive(runId, { signal })
    const events = await h.events(runId)
    expect(checkHistory(events).machine.status).toBe('DONE')
    const sends = events.filter((event) => event.type === 'tool_call_start' && event.body.toolName === 'send').length
    expect(effects()).toBeLessThanOrEqual(sends)
    expect((await second.verify(runId)).problems).toEqual([])
  })
})
