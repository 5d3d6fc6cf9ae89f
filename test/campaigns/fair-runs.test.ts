import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { ScriptInput } from '../../adapters/models/scripted/script.ts'
import { openKeepUp } from '../../api/index.ts'
import { newPlace } from '../support/faults/cli.ts'

// How much one hostile run slows the other runs of its process: rounds with and without it, one after the other. The hostile
// run never ends by itself: each turn has a long answer and several calls with large results, and its model never waits.

const ROUNDS = Number(process.env.FAIR_ROUNDS ?? 7)
const RUNS = 8
/** The most time of the ordinary runs beside a hostile one, as a multiple of their time without it. */
const MOST = 1.2

const place = newPlace()
afterAll(() => place.remove())
writeFileSync(join(place.workspace, 'large.txt'), 'a line of a large file\n'.repeat(40_000))

const read = { tool: 'read_file', arguments: { path: 'large.txt' } }
const scripts: Readonly<Record<string, ScriptInput>> = {
  ordinary: {
    script: 1,
    turns: [
      ...Array.from({ length: 8 }, (_, n) => ({
        ...{ delayMs: 100, text: 'thinking' },
        calls: [{ tool: 'set_context', arguments: { key: `k${n}`, value: n } }],
      })),
      { delayMs: 100, calls: [{ tool: 'complete_task', arguments: { summary: 'done' } }] },
    ],
  },
  hostile: {
    script: 1,
    turns: [{ label: 'again', text: 'word '.repeat(20_000), calls: [read, read, read, read], goto: 'again' }],
  },
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!

test(`8 runs take at most ${MOST} times as long beside a hostile one`, async () => {
  const keepup = await openKeepUp({ data: place.data, scripts })
  const ordinary = async () => {
    const { runId } = await keepup.start({ task: 'work', model: 'scripted:ordinary' })
    const began = performance.now()
    await keepup.drive(runId)
    return performance.now() - began
  }
  const round = async () => median(await Promise.all(Array.from({ length: RUNS }, ordinary)))
  const hostile = async () => {
    const { runId } = await keepup.start({
      ...{ task: 'flood', model: 'scripted:hostile', workspace: place.workspace },
      ...{ limits: { maxTurns: 10_000 }, policy: { mode: 'batch' } },
    })
    const drive = keepup.drive(runId)
    return async () => {
      await keepup.cancelRun({ id: runId })
      await drive
      return (await keepup.getRun({ id: runId })).run.turn
    }
  }
  try {
    await round()
    const [alone, beside]: [number[], number[]] = [[], []]
    let turns = 0
    for (let n = 0; n < ROUNDS; n++) {
      alone.push(await round())
      const end = await hostile()
      beside.push(await round())
      turns += await end()
    }
    const ratio = median(beside) / median(alone)
    const ms = (values: readonly number[]) => values.map((value) => Math.round(value)).join(', ')
    process.stdout.write(
      `ratio ${ratio.toFixed(2)}; alone ${ms(alone)} ms; beside a hostile run ${ms(beside)} ms; ${turns} hostile turns\n`,
    )
    expect(turns).toBeGreaterThan(ROUNDS)
    expect(ratio).toBeLessThanOrEqual(MOST)
  } finally {
    await keepup.close()
  }
}, 3_600_000)
