import { expect, test } from 'vitest'
import { controlTools } from '../../domain/agent/control/registry.ts'
import { LogError } from '../../domain/log/errors.ts'
import type { Workspace } from '../../domain/ports/index.ts'
import { SNAPSHOT_EVERY } from '../../domain/stream/runtime/snapshots.ts'
import { call, calls, completes, testSpec, USER } from '../support/harness.ts'
import { faulty } from '../support/log/faulty.ts'
import { NEVER } from '../support/process.ts'
import { NO_SECRETS } from '../support/secrets/no-secrets.ts'
import { given, tool } from '../support/story.ts'

// Nothing that the runtime asks of the world holds it for ever. The clock's time is no time here.

const unending = () => NEVER
const LIMIT = { requestLimitMs: 10_000 }

test('people are told that the log hangs while a fact waits for it, and an aborted drive ends', async () => {
  const run = await given({ says: [completes()] })
  let appends = 0
  const log = faulty(run.log, { append: (...args) => (++appends === 1 ? run.log.append(...args) : NEVER) })
  const runtime = run.elsewhere({ log, ...LIMIT })
  const stop = new AbortController()
  const ended = runtime.drive(run.runId, { signal: stop.signal }).then(
    ({ end }) => end,
    ({ code }) => code,
  )
  await expect.poll(() => appends).toBeGreaterThan(1)
  const before = run.clock.now()
  const pause = runtime.execute(run.runId, { kind: 'pause' }, { by: USER })
  await expect(pause).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
  expect(run.clock.now() - before).toBeLessThanOrEqual(LIMIT.requestLimitMs)
  stop.abort(new Error('stop'))
  expect(['interrupted', 'LOG_UNAVAILABLE']).toContain(await ended)
  // The caller heard that it was not recorded in time, so it must not be recorded after all.
  expect(await run.types()).not.toContain('paused')
})

test('a drive that is aborted while the log refuses ends within seconds', async () => {
  const run = await given({ says: [completes()] })
  let appends = 0
  const log = faulty(run.log, {
    append: async (...args) => {
      if (++appends === 1) return run.log.append(...args)
      throw new LogError('LOG_UNAVAILABLE', 'no quorum')
    },
  })
  const stop = new AbortController()
  const drive = run.elsewhere({ log }).drive(run.runId, { signal: stop.signal })
  drive.catch(() => undefined)
  await expect.poll(() => appends).toBeGreaterThan(10)
  const before = run.clock.now()
  stop.abort(new Error('stop'))
  await expect(drive).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
  expect(run.clock.now() - before).toBeLessThan(10_000)
})

test.each([
  ['the log (read)', { log: { read: () => ({ [Symbol.asyncIterator]: () => ({ next: unending }) }) } }],
  ['the vault', { secrets: unending }],
  ['keeping what references stand for', { secrets: async () => ({ ...NO_SECRETS, keep: unending }) }],
])('%s hangs: a person is told', async (_, { log, ...ports }: { log?: object; secrets?: unknown }) => {
  const run = await given({ says: [completes()] })
  const runtime = run.elsewhere({ ...LIMIT, log: faulty(run.log, log ?? {}), ...(ports as object) })
  const said = runtime.execute(run.runId, { kind: 'input', text: 'hello' }, { by: USER })
  await expect(said).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
})

const throws = () => {
  throw new Error('broken')
}
const garbage = async () => ({ revision: 1, step: 0, state: { sum: 'x', state: { agentId: Number.NaN } } }) as never

test.each([
  ['hang', { latest: unending, put: unending, clear: unending }, 'did not end within'],
  ['throw', { latest: throws, put: throws, clear: throws }, 'broken'],
  ['are garbage', { latest: garbage, put: throws, clear: throws }, 'no snapshot could be had'],
])('snapshots that %s are done without, in a command and in a drive, and that is told', async (_, snapshots, says) => {
  const turns = Array.from({ length: 40 }, () => calls(call('get')))
  const spec = { limits: { maxTurns: 50, wallClockMs: null } }
  const run = await given({ says: [...turns, completes()], tools: [tool('get')], spec })
  const told: string[] = []
  const runtime = run.elsewhere({ snapshots, requestLimitMs: 10_000, warn: (_, text) => told.push(text) })
  await runtime.execute(run.runId, { kind: 'input', text: 'hello' }, { by: USER })
  expect(await runtime.drive(run.runId, { signal: new AbortController().signal })).toEqual({ end: 'done' })
  expect((await run.types()).length).toBeGreaterThan(SNAPSHOT_EVERY)
  expect(told[0]).toContain(says)
})

test.each(['reap', 'keep'] as const)(
  '%s of the environment hangs: the drive ends and says what it was',
  async (what) => {
    const env = {
      ...{ workspace: null, sandbox: null, close: async () => undefined },
      secrets: what === 'keep' ? { ...NO_SECRETS, keep: unending } : NO_SECRETS,
      reap: what === 'reap' ? unending : async () => undefined,
    }
    const run = await given({ says: [completes()] })
    const drive = run
      .elsewhere({ environment: async () => env })
      .drive(run.runId, { signal: new AbortController().signal })
    await expect(drive).rejects.toMatchObject({ code: 'TIME_LIMIT' })
  },
)

test('where a path leads to is not waited for without end: the tool meets it itself', async () => {
  const put = tool('put', { paths: { path: 'write' } })
  const workspace = { path: '/w', resolve: unending, versions: {} } as unknown as Workspace
  const nothing = async () => undefined
  const environment = async () => ({ workspace, sandbox: null, secrets: NO_SECRETS, reap: nothing, close: nothing })
  const run = await given({ says: [calls(call('put', { path: 'a' })), completes()], tools: [put] })
  const runtime = run.elsewhere({ environment })
  expect(await runtime.drive(run.runId, { signal: new AbortController().signal })).toEqual({ end: 'done' })
  expect(put.ran).toEqual([{ path: 'a' }])
})

test('a gate outlasts the versions of a large workspace', async () => {
  const spec = testSpec({
    role: {
      ...{ name: 'R', profile: 'p', goal: 'g', maxReactLoop: 5 },
      phases: [{ name: 'one', allowedTools: ['*'] }],
      qualityGates: [{ after: 'one', check: 'tests_exist' }],
    },
    workspace: { path: '/w', tree: 'before' },
  })
  const run = await given({ says: [completes()], spec: { ...spec, tools: controlTools(spec.role) } })
  const versions = {
    snapshot: async () => {
      await run.clock.sleep(110_000)
      return 'after'
    },
    changes: async () => [{ path: 'a.test.ts', change: 'added' as const }],
  }
  const workspace = { path: '/w', read: async () => new Uint8Array(1), versions } as unknown as Workspace
  const nothing = async () => undefined
  const environment = async () => ({ workspace, sandbox: null, secrets: NO_SECRETS, reap: nothing, close: nothing })
  const runtime = run.elsewhere({ environment })
  expect(await runtime.drive(run.runId, { signal: new AbortController().signal })).toEqual({ end: 'done' })
  expect((await run.of('gate_checked')).map(({ body }) => body.passed)).toEqual([true])
})
