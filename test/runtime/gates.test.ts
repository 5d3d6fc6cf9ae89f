// @module-tag git
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openWorkspace } from '../../adapters/workspace/open.ts'
import type { Clock } from '../../domain/ports/index.ts'
import type { RoleDefinition } from '../../domain/tree/spec.ts'
import { freshFolders } from '../support/folders.ts'
import { call, calls, completes } from '../support/harness.ts'
import { NO_SECRETS } from '../support/secrets/no-secrets.ts'
import { given, type Said, tool } from '../support/story.ts'

// What the gates look at in a real folder (CONTRACTS 10).

const role = (check: string): RoleDefinition => ({
  name: 'R',
  profile: 'p',
  goal: 'g',
  phases: [{ name: 'one', allowedTools: ['run_command', 'put'] }],
  qualityGates: [{ after: 'one', check }],
  maxReactLoop: 10,
})

// Files take real time, which a played clock would count as much more.
const REAL: Clock = {
  now: Date.now,
  sleep: (ms, signal) => sleep(ms, undefined, { ref: false, ...(signal ? { signal } : {}) }),
}

/** A run in a folder that `files` are in; every command ends with exit code 0, `put` writes a file. */
async function inFolder(check: string, files: Readonly<Record<string, string>>, says: readonly Said[]) {
  const { ws, data, remove } = freshFolders()
  onTestFinished(remove)
  const write = (path: string, text: string) => {
    mkdirSync(join(ws, path, '..'), { recursive: true })
    writeFileSync(join(ws, path), text)
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  const workspace = await openWorkspace(ws, { dataFolder: data })
  const run_command = tool('run_command', { effect: 'irreversible', barrier: true, paths: { cwd: 'list' } })
  run_command.run = async () => ({ content: 'ended', detail: { exitCode: 0 } })
  const put = tool('put', { effect: 'idempotent', paths: { path: 'write' } }, ({ path, text }) =>
    write(path as string, text as string),
  )
  const close = async () => undefined
  const run = await given({
    says,
    tools: [run_command, put],
    spec: {
      role: role(check),
      testCommand: ['npm', 'test'],
      policy: { mode: 'batch' },
      workspace: { path: workspace.path, tree: await workspace.versions.snapshot() },
      limits: { maxTurns: 9, wallClockMs: null },
    },
    ports: {
      clock: REAL,
      environment: async () => ({ workspace, sandbox: null, secrets: NO_SECRETS, reap: close, close }),
    },
  })
  return {
    ...run,
    ws,
    put: write,
    checked: async () => (await run.of('gate_checked')).map(({ body }) => [body.passed, body.evidence] as const),
  }
}

const runs = (args: object = {}) => calls(call('run_command', { command: 'npm test', ...args }))
const puts = (path: string, text = 'x') => calls(call('put', { path, text }))

describe('tests_pass', () => {
  test.each([
    ['the workspace, by default', {}],
    ['the workspace by its name', { cwd: '.' }],
    ['the workspace in other words', { cwd: 'fake/..' }],
    ['the workspace by a link to it', { cwd: 'back' }],
  ])('the test command in %s counts', async (_, args) => {
    const run = await inFolder('tests_pass', { 'fake/package.json': '{}' }, [runs(args), completes()])
    symlinkSync('.', join(run.ws, 'back'))
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await run.of('tool_call_start'))[0]?.body.effect).toBe('idempotent')
  })

  test.each([
    ['another folder', { cwd: 'fake' }],
    ['a link to another folder', { cwd: 'elsewhere' }],
  ])('the same words in %s are another command', async (_, args) => {
    const run = await inFolder('tests_pass', { 'fake/package.json': '{}' }, [runs(args), completes()])
    symlinkSync('fake', join(run.ws, 'elsewhere'))
    await run.drive()
    expect((await run.checked())[0]).toEqual([false, '"npm test" has not been run'])
    const [start] = await run.of('tool_call_start')
    const [end] = await run.of('tool_call_end')
    expect(start?.body.effect).toBe('irreversible')
    expect(end?.body.tested).toBeUndefined()
  })

  test('a file that was written after the tests passed is asked for anew, and the tests then pass again', async () => {
    const run = await inFolder('tests_pass', {}, [runs(), puts('a.ts'), completes(), runs(), completes()])
    expect(await run.drive()).toEqual({ end: 'done' })
    const [first, second] = await run.checked()
    expect(first).toEqual([false, expect.stringContaining('files have changed since "npm test" passed')])
    expect(second).toEqual([true, expect.stringContaining('no file has changed since')])
  })

  test('so is one that a person has changed while the run was at work', async () => {
    const edits = () => {
      run.put('a.ts', 'edited')
      return completes()
    }
    const run = await inFolder('tests_pass', { 'a.ts': 'x' }, [runs(), edits])
    await run.drive()
    expect((await run.checked())[0]).toEqual([false, expect.stringContaining('files have changed since')])
  })
})

describe('tests_exist', () => {
  test('a test that names what was written counts, however many other files name it before', async () => {
    const many = Object.fromEntries(Array.from({ length: 3 }, (_, i) => [`src/a${i}.ts`, 'user\n'.repeat(100)]))
    const files = { ...many, 'test/user.test.ts': "import '../src/user.ts'\n" }
    const run = await inFolder('tests_exist', files, [puts('src/other.ts'), puts('src/user.ts'), completes()])
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(await run.checked()).toEqual([[true, 'test/user.test.ts tests src/user.ts, which was written in this run']])
  })

  test('a file that is no test does not count, and neither does a test that names another one', async () => {
    const files = { 'src/a.ts': 'user', 'test/other.test.ts': "import '../src/other.ts'\n" }
    const run = await inFolder('tests_exist', files, [puts('src/user.ts'), completes()])
    await run.drive()
    expect((await run.checked())[0]).toEqual([false, expect.stringContaining('no test file is among or names')])
  })

  test('an empty test file that was written does not count, one with something in it does', async () => {
    const says = [puts('a.test.ts', ''), completes(), puts('a.test.ts', 'x'), completes()]
    const run = await inFolder('tests_exist', {}, says)
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await run.checked()).map(([passed]) => passed)).toEqual([false, true])
  })

  test('nor does an empty one that another test names', async () => {
    const files = { 'test/all.test.ts': "import '../a.test.ts'\n" }
    const run = await inFolder('tests_exist', files, [puts('a.test.ts', ''), completes()])
    await run.drive()
    expect((await run.checked())[0]?.[0]).toBe(false)
  })
})
