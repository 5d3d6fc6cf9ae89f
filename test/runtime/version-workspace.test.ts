import { describe, expect, test } from 'vitest'
import type { Workspace } from '../../domain/ports.ts'
import type { Environment } from '../../domain/runtime/ports.ts'
import { call, calls, completes } from '../support/harness.ts'
import { NO_SECRETS } from '../support/no-secrets.ts'
import { given, tool } from '../support/story.ts'

const NEVER = new Promise<never>(() => undefined)

/** A run in a workspace of which only the versions are real: how each is taken is told by `snapshot`. */
async function inWorkspace(snapshot: (nth: number) => Promise<string>, more: Partial<Environment> = {}) {
  let taken = 0
  const warnings: string[] = []
  const versions = { snapshot: () => snapshot(++taken), changes: async () => [] }
  const workspace = { path: '/w', resolve: async (path: string) => path, versions } as unknown as Workspace
  const env: Environment = {
    ...{ workspace, sandbox: null, secrets: NO_SECRETS },
    reap: async () => undefined,
    close: async () => undefined,
    ...more,
  }
  const put = tool('put', { effect: 'idempotent', paths: { path: 'write' } })
  const run = await given({
    says: [calls(call('put', { path: 'a' }, 'c1'), call('put', { path: 'b' }, 'c2')), completes()],
    tools: [put],
    spec: { policy: { mode: 'batch' }, workspace: { path: '/w', tree: 'tree-0' } },
    ports: { environment: async () => env, warn: (_, message) => warnings.push(message) },
  })
  return { ...run, put, warnings, ended: async () => (await run.of('tool_call_end')).slice(0, 2).map((e) => e.body) }
}

test('of calls side by side the outcome that is recorded last bears the latest files', async () => {
  const run = await inWorkspace(async (nth) => {
    // The first version after a call takes its time; later ones do not.
    if (nth === 2) for (let i = 0; i < 500; i++) await null
    return `tree-${Math.max(0, nth - 1)}`
  })
  expect(await run.drive()).toEqual({ end: 'done' })
  expect((await run.ended()).map(({ tree }) => tree)).toEqual(['tree-1', 'tree-2'])
  expect((await run.state()).tree).toBe('tree-2')
})

describe('files that cannot be versioned', () => {
  test.each([
    ['fail', async () => Promise.reject(new Error('the pack is damaged')), 'SNAPSHOT_FAILED', 'the pack is damaged'],
    ['hang', () => NEVER, 'SNAPSHOT_TIMEOUT', 'versioning the workspace did not end within 120000 ms'],
  ] as const)('%s: the calls end as they did, the record says why there is no tree', async (_, fails, code, why) => {
    const run = await inWorkspace((nth) => (nth === 1 ? Promise.resolve('tree-0') : fails()))
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.put.ran).toHaveLength(2)
    for (const body of await run.ended()) {
      expect(body).toMatchObject({ success: true, unversioned: { code, message: expect.stringContaining(why) } })
      expect(body).not.toHaveProperty('tree')
    }
    expect(run.warnings).toEqual([expect.stringContaining(why), expect.stringContaining(why)])
    expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  })

  test('a drive that cannot learn of drift says so and goes on', async () => {
    const run = await inWorkspace((nth) => (nth === 1 ? NEVER : Promise.resolve('tree-1')))
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.warnings).toEqual([expect.stringMatching(/whether files have changed since is not known/)])
  })
})

describe('what a drive works in', () => {
  const tree = async () => 'tree-0'

  test('that cannot be closed in time is told, and the end of the drive stays what it was', async () => {
    const run = await inWorkspace(tree, { close: () => NEVER })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.warnings).toEqual([expect.stringMatching(/closing what the run works in did not end/)])
  })

  test('where survivors of a dead driver cannot be ended in time nothing is begun', async () => {
    const run = await inWorkspace(tree, { reap: () => NEVER })
    await expect(run.drive()).rejects.toMatchObject({ code: 'TIME_LIMIT' })
    expect(await run.of('driver_claimed')).toEqual([])
  })

  test('that is opened too late is closed again', async () => {
    const opening = Promise.withResolvers<Environment>()
    let closed = 0
    const run = await given({ says: [completes()], ports: { environment: () => opening.promise } })
    await expect(run.drive()).rejects.toMatchObject({ code: 'TIME_LIMIT' })
    const close = async () => void closed++
    opening.resolve({ workspace: null, sandbox: null, secrets: NO_SECRETS, reap: async () => undefined, close })
    await new Promise(setImmediate)
    expect(closed).toBe(1)
  })

  test('secrets that the vault does not take in time end the drive by name', async () => {
    const run = await inWorkspace(tree, { secrets: { ...NO_SECRETS, keep: () => NEVER } })
    await expect(run.drive()).rejects.toMatchObject({ code: 'TIME_LIMIT' })
  })
})
