// @module-tag git
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findAgent } from '../../../adapters/agents/process/find-agent.ts'
import { configHome, dataHome } from '../../../adapters/files/user-folders.ts'
import { createUnconfined } from '../../../adapters/sandbox/unconfined.ts'
import { refuseGitInternals } from '../../../adapters/workspace/paths.ts'
import { chooseSocketPath, findSocketPath } from '../../../api/process/owner/socket-path.ts'
import { platformOf } from '../../../domain/platform.ts'
import { tempFolder } from '../../support/folders.ts'
import { PROGRAM } from '../../support/programs/program.ts'
import { writeScript } from '../support/script.ts'

// macOS and Windows, simulated on the system of the tests.

const SIMULATION = join(import.meta.dirname, '../../support/programs/other-platform.mjs')

/** The program as it runs on a platform, with a home of its own. */
function programOn(platform: string) {
  const root = tempFolder()
  const model = writeScript(root)
  const env = {
    ...{ PATH: process.env.PATH, HOME: root, SIMULATED_PLATFORM: platform, KEEPUP_MODEL: model },
    ...(platform === 'win32' && { LOCALAPPDATA: join(root, 'Local'), APPDATA: join(root, 'Roaming') }),
  }
  const keepup = (...args: string[]): SpawnSyncReturns<string> =>
    spawnSync(process.execPath, ['--import', SIMULATION, PROGRAM, ...args], { cwd: root, env, encoding: 'utf8' })
  const done = (...args: string[]) => {
    const { status, stdout, stderr } = keepup(...args)
    expect([args.join(' '), status, stderr]).toEqual([args.join(' '), 0, expect.any(String)])
    return stdout
  }
  return { root, keepup, done }
}

const onPlatform = (value: string) => {
  const own = Object.getOwnPropertyDescriptor(process, 'platform')!
  Object.defineProperty(process, 'platform', { ...own, value })
  onTestFinished(() => void Object.defineProperty(process, 'platform', own))
}

it('on Windows runs without files are recorded, proved and listed, in the folder of local data', () => {
  const { root, done, keepup } = programOn('win32')
  done('run', 'finish it', '--no-workspace')
  expect(existsSync(join(root, 'Local', 'keepup'))).toBe(true)
  const [{ runId, status }] = JSON.parse(done('runs', 'list', '-o', 'json')) as [{ runId: string; status: string }]
  expect(status).toBe('completed')
  expect(done('verify', runId)).toContain(runId)
  done('backup', join(root, 'copy'))
  done('secrets', 'list')
  const workspace = join(root, 'work')
  mkdirSync(workspace)
  const refused = keepup('run', 'write', '--workspace', workspace, '--no-sandbox')
  expect([refused.status, refused.stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining('a workspace cannot be used on Windows; run keepup in the Windows Subsystem for Linux'),
  ])
  expect(refused.status).not.toBe(0)
})

it('on macOS a run works in a folder without a sandbox, and one with commands and a sandbox is refused', () => {
  const { root, done, keepup } = programOn('darwin')
  const workspace = join(root, 'work')
  mkdirSync(workspace)
  const refused = keepup('run', 'write', '--workspace', workspace)
  expect([refused.status === 0, refused.stderr]).toEqual([
    false,
    expect.stringContaining('bubblewrap needs Linux, this is darwin. Run keepup in a container or a virtual machine'),
  ])
  done('run', 'write', '--workspace', workspace, '--no-sandbox', '--approve', 'write_file')
  expect(readFileSync(join(workspace, 'hello.txt'), 'utf8')).toBe('hello\n')
  expect(existsSync(join(root, '.local/share/keepup'))).toBe(true)
})

it('finds the folders of a user by the rules of each platform', () => {
  const windows = [{ LOCALAPPDATA: 'D:\\Data', APPDATA: 'D:\\Settings' }, {}].map((env) => [
    dataHome(env, 'win32', 'C:\\Users\\ann'),
    configHome(env, 'win32', 'C:\\Users\\ann'),
  ])
  expect(windows).toEqual([
    ['D:\\Data', 'D:\\Settings'],
    ['C:\\Users\\ann\\AppData\\Local', 'C:\\Users\\ann\\AppData\\Roaming'],
  ])
  for (const platform of ['linux', 'darwin']) {
    expect([dataHome({}, platform, '/home/ann'), configHome({}, platform, '/home/ann')]).toEqual([
      '/home/ann/.local/share',
      '/home/ann/.config',
    ])
    expect(dataHome({ XDG_DATA_HOME: '/data' }, platform, '/home/ann')).toBe('/data')
    // An empty variable counts as unset.
    expect(configHome({ XDG_CONFIG_HOME: '' }, platform, '/home/ann')).toBe('/home/ann/.config')
    expect(dataHome({ XDG_DATA_HOME: 'data' }, platform, '/home/ann')).toBe('/home/ann/.local/share')
  }
})

it('on Windows reaches the owner of a folder over a pipe that nobody can guess, which the folder names', () => {
  onPlatform('win32')
  const folder = tempFolder()
  expect(findSocketPath(folder)).toBe(join(folder, 'owner.sock'))
  const first = chooseSocketPath(folder, {})
  expect(first).toMatch(/^\\\\\.\\pipe\\keepup-[0-9a-f]{32}$/)
  expect(findSocketPath(folder)).toBe(first)
  const second = chooseSocketPath(folder, {})
  expect(second).not.toBe(first)
  expect(findSocketPath(folder)).toBe(second)
})

it('on Windows refuses commands and other agents, and says where keepup can run them', async () => {
  onPlatform('win32')
  const folder = tempFolder()
  const sandbox = createUnconfined({ workspace: folder, dataFolder: folder, driverId: 'd' })
  const exec = sandbox.exec({ argv: ['true'], cwd: '.', timeoutMs: 1_000 } as never, new AbortController().signal)
  await expect(exec).rejects.toThrow('a command cannot be used on Windows; run keepup in')
  expect(() => findAgent('codex', { PATH: '' })).toThrow('another agent cannot be used on Windows; run keepup in')
})

it('refuses to write into .git under any case, which macOS and Windows do not distinguish', () => {
  for (const name of ['.git', '.GIT', '.Git'])
    expect(() => refuseGitInternals('x', ['sub', name])).toThrow('lies in .git')
})

it('Linux alone has all that keepup uses', () => {
  const all = ['linux', 'darwin', 'win32'].map((name) => Object.values(platformOf(name)).filter(Boolean).length)
  expect(all).toEqual([5, 4, 0])
})
