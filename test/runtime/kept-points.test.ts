import { expect, test } from 'vitest'
import { ERASED } from '../../domain/calls/events/residue.ts'
import type { At } from '../../domain/stream/point.ts'
import { draws } from '../support/faults/seed.ts'
import { call, calls, completes, USER } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

const SECRET = 'the name of a patient'
const SEED = Number(process.env.FC_SEED ?? Date.now() % 1_000_000)

/** A run of some turns with variables and results, and a fork of its middle that has gone on. */
async function told() {
  const look = tool('look', { effect: 'irreversible' }, ({ n }) => `${SECRET} ${n}`)
  const turns = Array.from({ length: 8 }, (_, n) =>
    n % 3 === 2 ? calls(call('set_context', { key: `k${n}`, value: n })) : calls(call('look', { n })),
  )
  const run = await given({ says: [...turns, completes()], tools: [look], task: 'go through it' })
  expect(await run.drive()).toEqual({ end: 'done' })
  const { runId: fork } = await run.runtime.fork(run.runId, { step: 9 }, {}, { by: USER })
  await run.say({ kind: 'erase', revision: 1, reason: 'asked for' })
  return { run, fork }
}

test(`a point that is read on from a kept one is the point itself, in forks too (FC_SEED=${SEED})`, async () => {
  const { run, fork } = await told()
  const draw = draws(SEED)
  for (const id of [run.runId, fork]) {
    const { state } = await run.elsewhere().at(id, null)
    for (let n = 0; n < 25; n++) {
      const at: At = draw(3) === 0 ? null : { step: draw(state.step + 1) }
      // The other runtime has kept nothing.
      expect(await run.runtime.at(id, at), JSON.stringify([id, at])).toEqual(await run.elsewhere().at(id, at))
    }
  }
})

test('a point that is asked for again is read from no body', async () => {
  const { run } = await told()
  const other = run.elsewhere()
  const first = await other.at(run.runId, { step: 12 })
  let bodies = 0
  const { read } = run.log
  run.log.read = (stream, options) => {
    if (options?.bodies !== false && (options?.types?.length ?? 0) > 1) bodies++
    return read.call(run.log, stream, options)
  }
  expect(await other.at(run.runId, { step: 12 })).toEqual(first)
  expect(bodies).toBe(0)
  await other.at(run.runId, { step: 14 })
  expect(bodies).toBe(1)
})

test('what a run has recorded behind a point is looked through once, however often points before it are asked for', async () => {
  const { run, fork } = await told()
  const other = run.elsewhere()
  let looked = 0
  const { read } = run.log
  run.log.read = (stream, options) => {
    const { types = [], limit = 1_000 } = options ?? {}
    if (types.length === 1) looked += limit
    return read.call(run.log, stream, options)
  }
  for (const step of [2, 2, 3, 4, 2]) await other.at(run.runId, { step })
  expect(looked).toBe(0)
  const { state } = await other.at(fork, null)
  await other.at(fork, { step: state.step })
  looked = 0
  await other.at(fork, { step: state.step })
  expect(looked).toBe(0)
})

test.each(['this process', 'another process'])(
  'a body that %s erases is in no kept point, nor in one of a fork',
  async (by) => {
    const { run, fork } = await told()
    const there = run.elsewhere()
    for (const id of [run.runId, fork]) expect(JSON.stringify(await there.at(id, { step: 9 }))).toContain(`${SECRET} 1`)
    const end = (await run.of('tool_call_end'))[1]!
    const eraser = by === 'this process' ? there : run.runtime
    await eraser.execute(run.runId, { kind: 'erase', revision: end.revision, reason: 'asked for' }, { by: USER })
    for (const id of [run.runId, fork])
      for (const step of [8, 9]) {
        const shown = JSON.stringify(await there.at(id, { step }))
        expect(shown).not.toContain(`${SECRET} 1`)
        expect(shown).toContain(ERASED)
      }
  },
)
