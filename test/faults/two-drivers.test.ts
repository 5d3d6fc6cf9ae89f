// @module-tag git
import { expect, test, vi } from 'vitest'
import type { CrashPoint } from '../../domain/ports/runtime.ts'
import { newPlace, type Place } from '../support/faults/cli.ts'
import { driversOf, holdAt } from '../support/faults/drivers.ts'
import { factsOf, filesIn } from '../support/faults/inspect.ts'
import { effectsIn, effectsJob, expectedEffects, modelOf } from '../support/faults/jobs.ts'
import { draws, each, FAULT_ALL, FAULT_SEED, FAULT_TIMEOUT_MS, sample } from '../support/faults/seed.ts'

// Real processes: on a busy machine each of them takes seconds.
vi.setConfig({ testTimeout: FAULT_TIMEOUT_MS, hookTimeout: FAULT_TIMEOUT_MS })

// Two drivers, each of which takes itself for the one, over one SQLite log with real tools.

const LONG = new AbortController().signal
type Drivers = Awaited<ReturnType<typeof driversOf>>

async function inPlace<T>(use: (place: Place, drivers: Drivers) => Promise<T>): Promise<T> {
  const place = newPlace()
  effectsJob.prepare(place)
  const drivers = await driversOf(place, modelOf(place))
  try {
    return await use(place, drivers)
  } finally {
    await drivers.close()
    place.remove()
  }
}

/** The first driver is held at a point, a second one takes over, then the first is let go. */
async function overtake(at: (name: CrashPoint, n: number) => boolean, look?: (place: Place) => void) {
  return inPlace(async (place, { runtime, start }) => {
    const runId = await start('Leave two lines')
    const hold = holdAt(at)
    const first = runtime(hold.pass).drive(runId, { signal: LONG })
    const point = await Promise.race([hold.held, first.then(() => null)])
    if (point === null) return null
    const claimed = (await factsOf(place)).some((fact) => fact.type === 'driver_claimed')
    const successor = runtime()
    const second = await successor.drive(runId, { signal: LONG })
    look?.(place)
    hold.letGo()
    const end = await first
    let last = await successor.drive(runId, { signal: LONG })
    if (last.end === 'waiting') {
      // Neither driver performed the call. A person looks, and answers so.
      expect(last.for).toBe('doubt')
      const toolCallId = last.toolCallIds[0]!
      expect(effectsJob.became(place, toolCallId)).toBeNull()
      const resolve = { kind: 'resolve_doubt', toolCallId, decision: 'run' } as const
      await successor.execute(runId, resolve, { by: { kind: 'user', id: 'ada' } })
      last = await successor.drive(runId, { signal: LONG })
    }
    expect(last).toEqual({ end: 'done' })
    expect(effectsIn(place)).toBe(expectedEffects)
    expect(Object.keys(filesIn(place.workspace)).sort()).toEqual(['README.md', 'effects.txt', 'large.txt'])
    const proof = await successor.verify(runId)
    expect(proof).toMatchObject({ ok: true, problems: [] })
    const facts = await factsOf(place)
    const ends = facts.filter((fact) => fact.type === 'tool_call_end').map((fact) => fact.toolCallId)
    expect(new Set(ends).size).toBe(ends.length)
    // An overtaken driver performs nothing. If the run has ended meanwhile, the drive may return that end.
    if (claimed) expect(['overtaken', ...(second.end === 'done' ? ['done'] : [])]).toContain(end.end)
    return { point, end, second, facts, runId }
  })
}

test('held at sampled points and overtaken, nothing happens twice', async () => {
  const points = await inPlace(async (_, { runtime, start }) => {
    const counting = holdAt(() => false)
    expect(await runtime(counting.pass).drive(await start('Leave two lines'), { signal: LONG })).toEqual({
      end: 'done',
    })
    return counting.passed.length
  })
  expect(points).toBeGreaterThan(40)
  const all = Array.from({ length: points }, (_, i) => i + 1)
  const chosen = FAULT_ALL ? all : sample(draws(FAULT_SEED), 3, points)
  await each(chosen, 2, async (k) => {
    expect(await overtake((_, n) => n === k)).not.toBeNull()
  })
})

/** Holds at the second pass of a point that concerns a tool: the first command that cannot be undone. */
const atCommand = (wanted: CrashPoint) => {
  let passes = 0
  return (name: CrashPoint) => name === wanted && ++passes === 2
}

test('the late result of an overtaken driver is a fact, and settles the doubt about it', async () => {
  const done = await overtake(atCommand('after_tool'), (place) => expect(effectsIn(place)).toBe('two\n'))
  expect(done).toMatchObject({ second: { end: 'waiting', for: 'doubt' }, end: { end: 'overtaken', epoch: 2 } })
  const { facts, runId } = done!
  const about = facts.filter((fact) => fact.toolCallId === `${runId}.t2.c0`)
  expect(about.map((fact) => [fact.type, fact.epoch])).toEqual([
    ['tool_call_start', 1],
    ['tool_call_unknown', 2],
    ['tool_call_end', 1],
  ])
  expect(about.at(-1)!.body).toMatchObject({ success: true })
})

test('a driver that was overtaken right before an effect does not perform it', async () => {
  const done = await overtake(atCommand('before_tool'), (place) => expect(effectsIn(place)).toBe(''))
  expect(done).toMatchObject({ second: { end: 'waiting', for: 'doubt' }, end: { end: 'overtaken', epoch: 2 } })
  const about = done!.facts.filter((fact) => fact.toolCallId === `${done!.runId}.t2.c0`)
  expect(about.filter((fact) => fact.type === 'tool_call_end')).toHaveLength(1)
  expect(about.find((fact) => fact.type === 'tool_call_resolved')?.body).toMatchObject({ decision: 'run' })
})
