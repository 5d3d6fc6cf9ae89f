import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openKeepUp } from '../../api/index.ts'
import { killedIn, marked, place } from '../support/external/noting-agent.ts'

// kill -9 of keepup at every boundary of an external run: before and after each append to its stream. The run is recorded as
// ended or unknown, or was never begun; the agent is never started a second time, and none of its processes is left.

const CHILD = join(import.meta.dirname, '../support/external/agent-child.ts')

const killed = (nth: number, side: 'before' | 'after') => killedIn(place(), CHILD, nth, side)

test('the processes of a run are found by their mark', async () => {
  const { root } = place()
  const child = spawn('sleep', ['1000'], { env: { ...process.env, HOME: root } })
  onTestFinished(() => void child.kill('SIGKILL'))
  await expect.poll(() => marked(root)).toEqual([child.pid])
})

test('a run that is not killed says how many boundaries there are', async () => {
  const { said, started, end, stderr } = await killed(0, 'before')
  expect([end, stderr, started()]).toEqual([0, '', 1])
  expect(said[1]).toMatch(/^appends [3-9]$/)
})

test.each([1, 2, 3, 4].flatMap((nth) => [[nth, 'before'] as const, [nth, 'after'] as const]))(
  'kill -9 at append %i, %s',
  async (nth, side) => {
    const { data, root, work, started, end } = await killed(nth, side)
    expect([0, 'SIGKILL']).toContain(end)
    const keepup = await openKeepUp({ data, sandboxed: false })
    onTestFinished(() => keepup.close())
    const runs = []
    for await (const run of keepup.runs()) runs.push(run)
    const before = started()
    expect(before).toBeLessThanOrEqual(1)
    if (runs.length === 0) expect([nth, side, before]).toEqual([1, 'before', 0])
    for (const { runId, status, error } of runs) {
      if (end === 'SIGKILL' && !(status === 'completed' && side === 'after'))
        expect([status, error?.code]).toEqual(['failed', 'UNKNOWN_OUTCOME'])
      else expect(status).toBe('completed')
      expect((await keepup.verifyRun({ id: runId })).ok).toBe(true)
      // The same request again finds the run, and starts nothing.
      const again = await keepup.start({
        agent: 'claude_code',
        extensions: { 'backend.claude_code.permission_mode': 'plan' },
        task: 'go',
        workspace: work,
        key: 'k1',
      })
      expect([again.runId, again.created, started()]).toEqual([runId, false, before])
    }
    await expect.poll(() => marked(root)).toEqual([])
  },
)
