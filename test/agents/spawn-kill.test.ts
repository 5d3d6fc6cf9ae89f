import { mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fakeProgram } from '../../adapters/agents/process/fake-steps.ts'
import { processes } from '../../adapters/sandbox/process-table.ts'
import { AgentRuntime, ClaudeCodeProvider, openKeepUp } from '../../api/index.ts'
import { spawnedRunId } from '../../domain/log/ids.ts'
import { start } from '../support/child.ts'
import { tempFolder } from '../support/folders.ts'
import { ends, INIT, says } from '../support/spawn/fake-claude.ts'

// kill -9 of a program that spawns and waits (seed 004; CONTRACTS 14), at every boundary of its streams.

const CHILD = join(import.meta.dirname, '../support/spawn/spawn-child.ts')
const CONFIG = { id: 'lead', prompt: 'Go.', model: 'm' }

/** A folder whose `claude` notes each of its starts and leaves a grandchild behind. */
function place() {
  const root = realpathSync(tempFolder())
  const [bin, work, starts] = [join(root, 'bin'), join(root, 'work'), join(root, 'starts')]
  for (const folder of [bin, work]) mkdirSync(folder)
  writeFileSync(starts, '')
  const steps = [{ do: 'grandchild', pidFile: join(root, 'pid') } as const, INIT, says('I look.'), ends('All done')]
  renameSync(fakeProgram(bin, steps), join(bin, 'real'))
  const script = `#!/bin/sh\necho "$*" >> '${starts}'\nexec '${join(bin, 'real')}' "$@"\n`
  writeFileSync(join(bin, 'claude'), script, { mode: 0o755 })
  const { PATH, HOME } = process.env
  // The home folder marks every process that comes of it.
  Object.assign(process.env, { PATH: `${bin}:${dirname(process.execPath)}:${PATH}`, HOME: root })
  onTestFinished(() => void Object.assign(process.env, { PATH, HOME }))
  const started = () => readFileSync(starts, 'utf8').split('\n').filter(Boolean)
  return { root, data: join(root, 'data'), work, started }
}

async function killed(nth: number, side: 'before' | 'after') {
  const at = place()
  const child = start(process.execPath, [CHILD, at.data, at.work, String(nth), side])
  const said: string[] = []
  for await (const line of child.lines) said.push(line)
  return { ...at, said, ...(await child.ended) }
}

async function afterwards({ data, work }: { data: string; work: string }) {
  const keepup = await openKeepUp({ data, sandboxed: false })
  onTestFinished(() => keepup.close())
  const store = keepup.contextStore('audit')
  const runtime = () => new AgentRuntime({ provider: new ClaudeCodeProvider({ keepup, workingDir: work }), store })
  return { keepup, store, runtime }
}

test('a program that is not killed has the boundaries that are tried here', async () => {
  const { said, end, stderr, started } = await killed(0, 'before')
  expect([end, stderr, started().length, said[0]]).toEqual([0, '', 1, '"All done"'])
  // A batch of events is an append of its own where the machine is slow.
  expect(Number(said[1]!.split(' ')[1])).toBeGreaterThanOrEqual(BOUNDARIES)
})

/** Start, session and events, end, result. */
const BOUNDARIES = 5
const ALL = Array.from({ length: BOUNDARIES }, (_, n) => n + 1).flatMap((nth) => [
  [nth, 'before'] as const,
  [nth, 'after'] as const,
])
const SAMPLE = ALL.filter((_, i) => [0, 1, 4, 7].includes(i))

const marked = (root: string) => processes().filter(({ environment }) => environment().includes(`HOME=${root}\0`))
const code = (run: Promise<{ readonly result: unknown }>) =>
  run.then(
    ({ result }) => result,
    ({ code }: { readonly code: string }) => code,
  )

// All of them: FAULT_ALL=1 npm run test:agents
test.each(process.env.FAULT_ALL === '1' ? ALL : SAMPLE)('kill -9 at append %i, %s', async (nth, side) => {
  const at = await killed(nth, side)
  expect(at.end).toBe('SIGKILL')
  const { runtime, store, keepup } = await afterwards(at)
  const first = at.started().length
  const again = runtime()
  const ran = await code(again.run(again.create(CONFIG)))
  if (nth === 1 && side === 'before') {
    // Nothing was recorded, and nothing was done.
    expect([first, ran, at.started().length]).toEqual([0, 'All done', 1])
    return
  }
  // What may have been done is not done again.
  expect([ran, at.started().length]).toEqual(['DUPLICATE_AGENT', first])
  const resuming = runtime()
  const resumed = await code(resuming.resume(CONFIG))
  const more = at.started().slice(first)
  if (resumed === 'NOT_RESUMABLE') {
    expect([more, await store.list()]).toEqual([[], []])
    expect(await resuming.end('lead')).toBe(true)
    expect(await store.get('agent-result-lead')).toEqual({ error: 'ended after a crash' })
  } else {
    expect(resumed).toBe('All done')
    expect(await store.get('agent-result-lead')).toBe('All done')
    // An end that was recorded is taken as it is; else the same session goes on.
    const recorded = (await keepup.externalRuns.recorded(spawnedRunId('audit', 'lead', 1)))!.state.stage
    const ended = recorded.at === 'ended' && recorded.outcome.kind === 'exited'
    expect(more).toEqual(ended ? [] : [expect.stringContaining('--resume s-1')])
  }
  // Afterwards there is one result, however often it is asked for.
  expect(await code(runtime().resume(CONFIG))).toEqual(
    resumed === 'NOT_RESUMABLE' ? { error: 'ended after a crash' } : resumed,
  )
  await expect.poll(() => marked(at.root)).toEqual([])
})
