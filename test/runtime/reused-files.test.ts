// @module-tag git
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openWorkspace } from '../../adapters/workspace/open.ts'
import type { Clock } from '../../domain/ports/index.ts'
import type { CrashPoint } from '../../domain/ports/runtime.ts'
import { SAMPLED, sampleOf } from '../support/faults/seed.ts'
import { freshFolders } from '../support/folders.ts'
import { call, calls, completes, USER } from '../support/harness.ts'
import { NO_SECRETS } from '../support/secrets/no-secrets.ts'
import { given, tool } from '../support/story.ts'

// A fork that takes recorded outcomes has the files of each call that changed them, in its own folder.

const REAL: Clock = {
  now: Date.now,
  sleep: (ms, signal) => sleep(ms, undefined, { ref: false, ...(signal ? { signal } : {}) }),
}
const signal = new AbortController().signal
const NEVER = new Promise<never>(() => undefined)
const writes = (n: number) => calls(call('write', { n }))

/** A run that has written a file in each of three turns, and a fork of it after the first, in a folder of its own. */
async function written() {
  const { ws, data, remove } = freshFolders()
  onTestFinished(remove)
  const own = `${ws}-fork`
  mkdirSync(own)
  const [source, fork] = [await openWorkspace(ws, { dataFolder: data }), await openWorkspace(own, { dataFolder: data })]
  const close = async () => undefined
  const write = tool('write', { effect: 'irreversible' }, ({ n }, { workspace }) =>
    workspace!.write(`${n}.txt`, Buffer.from(`written ${n}`)),
  )
  const run = await given({
    says: [writes(1), writes(2), writes(3), completes()],
    tools: [write],
    spec: { workspace: { path: source.path, tree: await source.versions.snapshot() } },
    ports: {
      clock: REAL,
      environment: async (spec) => ({
        ...{ workspace: spec.workspace?.path === fork.path ? fork : source, sandbox: null },
        ...{ secrets: NO_SECRETS, reap: close, close },
      }),
    },
  })
  await run.drive()
  const { tree } = (await run.runtime.at(run.runId, { turn: 1 })).state
  await fork.versions.restore(tree!)
  const options = { reuse: true, workspace: { path: fork.path, tree } } as const
  const { runId } = await run.runtime.fork(run.runId, { turn: 1 }, options, { by: USER })
  return { ...run, write, source, fork, forkId: runId, own, ws }
}

test('each call puts its recorded tree back in the folder of the fork, and not in that of its source', async () => {
  const { runtime, runId, forkId, own, ws, write, requests } = await written()
  writeFileSync(join(ws, '3.txt'), 'of the user')
  const asked = requests.length
  expect(await runtime.drive(forkId, { signal })).toEqual({ end: 'done' })
  const [a, b] = [(await runtime.at(runId, null)).state, (await runtime.at(forkId, null)).state]
  expect(b.tree).toBe(a.tree)
  for (const n of [1, 2, 3]) expect(readFileSync(join(own, `${n}.txt`), 'utf8')).toBe(`written ${n}`)
  expect(readFileSync(join(ws, '3.txt'), 'utf8')).toBe('of the user')
  expect(write.ran).toHaveLength(3)
  expect(requests).toHaveLength(asked)
  expect((await runtime.at(forkId, { turn: 2 })).state.tree).toBe((await runtime.at(runId, { turn: 2 })).state.tree)
  expect((await runtime.verify(forkId)).problems).toEqual([])
})

test('files that another hand has changed are not written over: the fork leaves its record', async () => {
  const { runtime, forkId, own, write } = await written()
  writeFileSync(join(own, '1.txt'), 'by hand')
  await runtime.drive(forkId, { signal })
  expect(readFileSync(join(own, '1.txt'), 'utf8')).toBe('by hand')
  const left = await runtime.reused(forkId)
  expect(left?.left).toMatchObject({ reason: 'the files of the workspace are not those of the record' })
  expect(write.ran.length).toBeGreaterThanOrEqual(3)
})

// Every point: npm run test:faults.
const POINTS: readonly CrashPoint[] = ['after_append', 'after_model', 'after_snapshot', 'after_tool']

test.each(sampleOf(POINTS, 1, (point) => point === 'after_tool'))(
  `killed %s, later in each life: it goes on, performs nothing, and is billed nothing (${SAMPLED})`,
  async (point) => {
    const made = await written()
    const asked = made.requests.length
    let dead = false
    for (let lives = 0; lives < 30; lives++) {
      const death = Promise.withResolvers<'killed'>()
      dead = false
      let left = 1 + lives * 2
      const process = made.elsewhere({
        crashPoint: (name) => {
          if (dead) return NEVER
          if (name !== point || --left > 0) return undefined
          dead = true
          death.resolve('killed')
          return NEVER
        },
      })
      const end = await Promise.race([process.drive(made.forkId, { signal }), death.promise])
      if (end !== 'killed') {
        expect(end).toEqual({ end: 'done' })
        break
      }
    }
    const { state } = await made.runtime.at(made.forkId, null)
    expect(state).toMatchObject({ machine: { status: 'DONE' }, reuse: { models: 3, tools: 3, left: null } })
    expect(state.spent).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, nanoDollars: 0 })
    expect(state.tree).toBe((await made.runtime.at(made.runId, null)).state.tree)
    expect([made.requests.length, made.write.ran.length]).toEqual([asked, 3])
    expect((await made.runtime.verify(made.forkId)).problems).toEqual([])
  },
)
