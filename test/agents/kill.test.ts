import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fakeProgram, type Step } from '../../adapters/agents-process/fake-steps.ts'
import { processes } from '../../adapters/sandbox/process-table.ts'
import { openKeepUp } from '../../api/index.ts'
import { start } from '../support/child.ts'
import { CLAUDE } from '../support/external/samples.ts'
import { tempFolder } from '../support/folders.ts'

// kill -9 of keepup at every boundary of an external run: before and after each append to its stream. The run is recorded as
// ended or unknown, or was never begun; the agent is never started a second time, and none of its processes is left.

const CHILD = join(import.meta.dirname, '../support/external/agent-child.ts')

/** A folder with an agent that notes each of its starts, leaves a grandchild behind, and plays a recorded run. */
function place() {
  const root = realpathSync(tempFolder())
  const [bin, work, starts] = [join(root, 'bin'), join(root, 'work'), join(root, 'starts')]
  for (const folder of [bin, work]) mkdirSync(folder)
  writeFileSync(starts, '')
  const plays = CLAUDE.lines.map((text): Step => ({ do: 'print', text }))
  const fake = fakeProgram(bin, [{ do: 'grandchild', pidFile: join(root, 'pid') }, ...plays])
  renameSync(fake, join(bin, 'real'))
  writeFileSync(join(bin, 'claude'), `#!/bin/sh\necho one >> '${starts}'\nexec '${join(bin, 'real')}' "$@"\n`, {
    mode: 0o755,
  })
  const started = () => readFileSync(starts, 'utf8').split('\n').length - 1
  return { root, data: join(root, 'data'), work, bin, started }
}

async function killed(nth: number, side: 'before' | 'after') {
  const at = place()
  const { PATH, HOME } = process.env
  // The home folder marks every process that comes of it.
  Object.assign(process.env, { PATH: `${at.bin}:${dirname(process.execPath)}:${PATH}`, HOME: at.root })
  onTestFinished(() => void Object.assign(process.env, { PATH, HOME }))
  const child = start(process.execPath, [CHILD, at.data, at.work, String(nth), side])
  const said: string[] = []
  for await (const line of child.lines) said.push(line)
  return { ...at, said, ...(await child.ended) }
}

const marked = (root: string) =>
  processes()
    .filter(({ environment }) => environment().includes(`HOME=${root}\0`))
    .map(({ pid }) => pid)

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
    const keepup = await openKeepUp({ data })
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
      expect((await keepup.verify(runId)).ok).toBe(true)
      // The same request again finds the run, and starts nothing.
      const again = await keepup.start({ agent: 'claude_code', task: 'go', workspace: work, key: 'k1' })
      expect([again.runId, again.created, started()]).toEqual([runId, false, before])
    }
    await expect.poll(() => marked(root)).toEqual([])
  },
)
