import { describe, expect, test } from 'vitest'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { treeAt } from '../../domain/agent/runtime/history/replay.ts'
import type { Workspace } from '../../domain/ports/index.ts'
import type { Environment } from '../../domain/ports/runtime.ts'
import { call, calls, completes, USER } from '../support/harness.ts'
import { NO_SECRETS } from '../support/secrets/no-secrets.ts'
import { type Given, given, tool } from '../support/story.ts'

const NEVER = new Promise<never>(() => undefined)

/** A run in a workspace of which only the versions are real: how each is taken is told by `snapshot`. */
async function inWorkspace(
  snapshot: (nth: number) => Promise<string>,
  more: Partial<Environment> = {},
  story: Partial<Given> = {},
) {
  let taken = 0
  const warnings: string[] = []
  const versions = { snapshot: () => snapshot(++taken), changes: async () => [] }
  const workspace = { path: '/w', resolve: async (path: string) => path, versions } as unknown as Workspace
  const env: Omit<Environment, 'tool'> = {
    ...{ workspace, sandbox: null, secrets: NO_SECRETS },
    reap: async () => undefined,
    close: async () => undefined,
    ...more,
  }
  const put = tool('put', { effect: 'idempotent', paths: { path: 'write' } })
  const log = new MemoryLog()
  let appends = 0
  const append = log.append.bind(log)
  log.append = (...args) => {
    appends++
    return append(...args)
  }
  const run = await given({
    says: [calls(call('put', { path: 'a' }, 'c1'), call('put', { path: 'b' }, 'c2')), completes()],
    tools: [put],
    spec: { policy: { mode: 'batch' }, workspace: { path: '/w', tree: 'tree-0' } },
    ...story,
    ports: { log, environment: async () => env, warn: (_, message) => warnings.push(message) },
  })
  return {
    ...run,
    put,
    warnings,
    appends: () => appends,
    versions: async () => (await run.of('workspace_versioned')).map(({ body }) => body),
  }
}

const pay = tool('pay', { effect: 'irreversible' })
const paying = { says: [calls(call('pay')), completes()], tools: [pay] }
const alone = { workspace: { path: '/w', tree: 'tree-0' } }

describe('the end of a call', () => {
  test('is in the log before its files are versioned, and the turn ends after that', async () => {
    const versioned = Promise.withResolvers<string>()
    const asked = Promise.withResolvers<void>()
    const run = await inWorkspace(
      async (nth) => {
        if (nth === 1) return 'tree-0'
        asked.resolve()
        return versioned.promise
      },
      {},
      { ...paying, spec: alone },
    )
    const driven = run.drive()
    await asked.promise
    expect((await run.types()).at(-1)).toBe('tool_call_end')
    expect(await run.state()).toMatchObject({ unversioned: { from: 1, to: 1 }, tree: 'tree-0' })
    versioned.resolve('tree-1')
    expect(await driven).toEqual({ end: 'done' })
    const types = await run.types()
    expect(types.slice(types.indexOf('tool_call_end')).slice(0, 3)).toEqual([
      'tool_call_end',
      'workspace_versioned',
      'turn_end',
    ])
    expect(await run.versions()).toEqual([{ step: 1, tree: 'tree-1' }])
    expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  })

  test('of a driver that died before the version leaves no doubt: the next one takes it', async () => {
    const asked = Promise.withResolvers<void>()
    const hangs = (nth: number) => {
      if (nth > 1) asked.resolve()
      return nth === 1 ? Promise.resolve('tree-0') : NEVER
    }
    const run = await inWorkspace(hangs, {}, { ...paying, spec: alone })
    const ran = pay.ran.length
    void run.drive()
    await asked.promise
    const versions = { snapshot: async () => 'tree-9', changes: async () => [] }
    const workspace = { path: '/w', versions } as unknown as Workspace
    const other = run.elsewhere({
      environment: async () => ({ ...(await run.ports.environment({} as never, {} as never)), workspace }),
    })
    expect(await other.drive(run.runId, { signal: new AbortController().signal })).toEqual({ end: 'done' })
    expect(pay.ran.length - ran).toBe(1)
    expect(await run.versions()).toEqual([{ step: 1, tree: 'tree-9' }])
    // What the call itself has changed is no drift.
    expect(await run.of('workspace_drifted')).toEqual([])
  })

  test('a steady turn takes two appends, of a call that changes files three', async () => {
    const appendsOf = async (effect: 'pure' | 'idempotent') => {
      const says = [1, 2, 3].map((n) => calls(call('do', { n })))
      const run = await inWorkspace(
        async () => 'tree-0',
        {},
        { says: [...says, completes()], tools: [tool('do', { effect })], spec: alone },
      )
      const before = run.appends()
      expect(await run.drive()).toEqual({ end: 'done' })
      return run.appends() - before
    }
    // Beside the three turns: a claim, the first intent, and the completion.
    expect([await appendsOf('pure'), await appendsOf('idempotent')]).toEqual([2 + 3 * 2 + 2, 2 + 3 * 3 + 2])
  })
})

describe('a version', () => {
  test('serves all calls that ended before it was taken; what ends meanwhile is owed the next one', async () => {
    const later = async (ms: number) => run.clock.sleep(ms)
    const put = tool('put', { effect: 'idempotent', paths: { path: 'write' } }, ({ path }) => path === 'b' && later(10))
    const run: Awaited<ReturnType<typeof inWorkspace>> = await inWorkspace(
      async (nth) => {
        if (nth === 2) await later(50)
        return `tree-${nth - 1}`
      },
      {},
      { tools: [put] },
    )
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(await run.versions()).toEqual([
      { step: 1, tree: 'tree-1' },
      { step: 2, tree: 'tree-2' },
    ])
    const at = async (step: number) => (await treeAt(run.ports, run.runId, { step })).tree
    expect(await Promise.all([1, 2, 3, 4].map(at))).toEqual(['tree-1', 'tree-2', 'tree-2', 'tree-2'])
    expect((await treeAt(run.ports, run.runId, { revision: 2 })).tree).toBe('tree-0')
    const { runId } = await run.runtime.fork(
      run.runId,
      { step: 1 },
      { workspace: { path: '/x', tree: 'tree-1' } },
      { by: USER },
    )
    expect((await treeAt(run.ports, runId, null)).tree).toBe('tree-1')
    expect((await treeAt(run.ports, runId, { step: 1 })).tree).toBe('tree-1')
  })

  test('is of the files as a call left them: no other call that may change them begins before it', async () => {
    const begun: string[] = []
    const put = tool('put', { effect: 'idempotent' }, ({ path }) => void begun.push(`put ${path}`))
    const run = await inWorkspace(
      async (nth) => {
        if (nth > 1) begun.push(`version ${nth - 1}`)
        return `tree-${nth - 1}`
      },
      {},
      { tools: [put] },
    )
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(begun).toEqual(['put a', 'version 1', 'put b', 'version 2'])
  })

  test('that does not come is waited for until the deadline of a cancel, and then said to be missing', async () => {
    const run: Awaited<ReturnType<typeof inWorkspace>> = await inWorkspace(
      async (nth) => {
        if (nth === 1) return 'tree-0'
        await run.say({ kind: 'cancel', deadlineMs: 500 })
        await run.clock.sleep(2_000)
        return 'tree-1'
      },
      {},
      { ...paying, spec: alone },
    )
    expect(await run.drive()).toMatchObject({ code: 'CANCELLED' })
    expect(await run.versions()).toEqual([
      { step: 1, unversioned: { code: 'NOT_VERSIONED', message: expect.any(String) } },
    ])
    expect((await run.types()).slice(-3)).toEqual(['workspace_versioned', 'turn_end', 'error'])
  })
})

describe('files that cannot be versioned', () => {
  test.each([
    ['fail', async () => Promise.reject(new Error('the pack is damaged')), 'SNAPSHOT_FAILED', 'the pack is damaged'],
    ['hang', () => NEVER, 'SNAPSHOT_TIMEOUT', 'versioning the workspace (snapshot) did not end within 120000 ms'],
  ] as const)('%s: the calls end as they did, the record says why there is no tree', async (_, fails, code, why) => {
    const run = await inWorkspace((nth) => (nth === 1 ? Promise.resolve('tree-0') : fails()))
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.put.ran).toHaveLength(2)
    expect(await run.ends()).toEqual(['put: ok', 'put: ok', 'complete_task: ok'])
    const told = { code, message: expect.stringContaining(why) }
    expect((await run.versions()).at(-1)).toEqual({ step: 2, unversioned: told })
    expect(run.warnings).toContainEqual(expect.stringContaining(why))
    expect((await treeAt(run.ports, run.runId, { step: 2 })).tree).toBe('tree-0')
    expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  })

  test('of tests that ran on them causes no report that files have changed since', async () => {
    const check = tool('run_command', { effect: 'idempotent' })
    check.run = async () => ({ content: 'x', detail: { exitCode: 0 } })
    const role = {
      ...{ name: 'R', profile: 'p', goal: 'g', maxReactLoop: 5 },
      phases: [{ name: 'one', allowedTools: ['run_command'] }],
      qualityGates: [{ after: 'one', check: 'tests_pass' }],
    }
    const run = await inWorkspace(
      (nth) => (nth === 2 ? Promise.reject(new Error('full')) : Promise.resolve('tree-0')),
      {},
      {
        says: [calls(call('run_command', { command: 'npm test' })), completes()],
        tools: [check],
        spec: {
          ...alone,
          role,
          testCommand: ['npm', 'test'],
          policy: { mode: 'batch' },
          limits: { maxTurns: 5, wallClockMs: null },
        },
      },
    )
    await run.drive()
    const [gate] = await run.of('gate_checked')
    expect(gate?.body).toMatchObject({ passed: false, evidence: expect.stringContaining('could not be versioned') })
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
    const opening = Promise.withResolvers<Omit<Environment, 'tool'>>()
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
