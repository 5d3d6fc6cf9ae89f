import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openKeepUp } from '../../api/index.ts'
import { unsalted } from '../../domain/log/seal.ts'
import { DELEGATING } from '../support/external/delegating.ts'
import { killedIn, marked, place } from '../support/external/noting-agent.ts'

// kill -9 of keepup at the boundaries of a delegation to another agent: birth, start, reports, end, and what parent and child
// tell each other. The run goes on, the agent is started once at most, and its end is known once. FAULT_ALL=1: all boundaries.

const CHILD = join(import.meta.dirname, '../support/external/delegating-child.ts')

function killed(nth: number, side: 'before' | 'after') {
  const at = place()
  mkdirSync(at.data, { recursive: true })
  writeFileSync(join(at.data, 'keepup.json'), JSON.stringify(DELEGATING.settings))
  return killedIn(at, CHILD, nth, side)
}

/** Appends of a delegation: birth twice (parent, child), its delivery, start, reports, end, and the end's two deliveries. */
const APPENDS = 9

test('a run that is not killed says how many boundaries there are', async () => {
  const { said, started, end, stderr } = await killed(0, 'before')
  expect([end, stderr, started()]).toEqual([0, '', 1])
  expect(said).toEqual([`appends ${APPENDS}`])
})

const all = process.env.FAULT_ALL === '1'
const cases = Array.from({ length: APPENDS }, (_, n) => [[n + 1, 'before'] as const, [n + 1, 'after'] as const]).flat()

/** The birth, the start on both sides, the reports and the last delivery. */
const SAMPLE = [1, 6, 7, 11, 16]

test.each(all ? cases : cases.filter((_, n) => SAMPLE.includes(n)))('kill -9 at append %i, %s', async (nth, side) => {
  const { data, root, work, started, end } = await killed(nth, side)
  expect([0, 'SIGKILL']).toContain(end)
  const before = started()
  const keepup = await openKeepUp({ data, sandboxed: false, scripts: DELEGATING.scripts })
  onTestFinished(() => keepup.close())
  const { runId } = await keepup.start(DELEGATING.start(work))
  // A process that drives by itself finds the run: what the other agent owes counts as the run's.
  const { read } = keepup.services
  const due = async () => {
    await read.caughtUp()
    return (await read.due(Number.MAX_SAFE_INTEGER, { asked: false })).map((one) => one.runId)
  }
  await expect.poll(due).toContain(runId)
  const rest = await keepup.drive(runId)
  expect(rest).toEqual({ end: 'done' })
  const log = (await Array.fromAsync(keepup.services.log.readAll(null))).flat()
  const count = (type: string) => log.filter(({ header }) => header.type === type).length
  expect(['child_delegated', 'external_started', 'process_start', 'external_ended', 'child_ended'].map(count)).toEqual([
    ...[1, 1, 1, 1, 1],
  ])
  const told = log.find(({ header }) => header.type === 'tool_call_end')!
  const { success, error } = JSON.parse(new TextDecoder().decode(unsalted(told.body!)))
  const outcome = success ? 'success' : error.code
  const ended = log.find(({ header }) => header.type === 'external_ended')!
  const { outcome: how } = JSON.parse(new TextDecoder().decode(unsalted(ended.body!)))
  // What may have been started before is not started again; what was not is started now.
  if (how === 'unknown') expect([outcome, started()]).toEqual(['UNKNOWN_OUTCOME', before])
  else expect([how, outcome, started()]).toEqual(['exited', 'success', 1])
  expect((await keepup.verifyRun({ id: runId })).ok).toBe(true)
  await expect.poll(() => marked(root)).toEqual([])
})
