import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { doorOf, makeCgroup } from '../../../adapters/sandbox/cgroup.ts'
import { bootId, startOf } from '../../../adapters/sandbox/process-table.ts'
import { reap } from '../../../adapters/sandbox/registry.ts'
import { createUnconfined } from '../../../adapters/sandbox/unconfined.ts'
import type { Command, Sandbox } from '../../../domain/ports/index.ts'
import { freshFolders } from '../../support/folders.ts'
import { playedTimers } from '../../support/time/played-timers.ts'

/** Whether control groups can be made here. */
const probe = makeCgroup(randomUUID())
if (probe) rmdirSync(probe)
const cgroups = probe !== null

let folders: ReturnType<typeof freshFolders>
let box: Sandbox
const never = new AbortController().signal
const sh = (script: string, more: Partial<Command> = {}): Command => ({
  argv: ['/bin/sh', '-c', script],
  cwd: '.',
  timeoutMs: 100_000,
  network: false,
  ...more,
})
const tryRemove = (folder: string): boolean => {
  try {
    rmdirSync(folder)
    return true
  } catch {
    return !existsSync(folder)
  }
}
const living = (pid: number) => startOf(pid) !== null
const pidsIn = (file: string) => readFileSync(join(folders.ws, file), 'utf8').trim().split('\n').map(Number)
const records = () => readdirSync(join(folders.data, 'processes'))

beforeEach(() => {
  folders = freshFolders()
  const env = { PATH: process.env.PATH, OPENAI_API_KEY: 'hidden' }
  box = createUnconfined({ workspace: folders.ws, dataFolder: folders.data, driverId: 'd1', env, graceMs: 200 })
})
afterEach(() => folders.remove())

describe('an unconfined command', () => {
  it('runs in the workspace with a cleared environment, and leaves no record', async () => {
    const result = await box.exec(sh('pwd; env; cat; node -v; exit 4', { env: { EXTRA: '1' } }), never)
    expect(result).toMatchObject({ exitCode: 4, signal: null, timedOut: false })
    expect(result.stdout).toMatch(new RegExp(`^${folders.ws}\\n[\\s\\S]*EXTRA=1[\\s\\S]*${process.version}\\n$`))
    expect(result.stdout).not.toContain('hidden')
    expect(records()).toEqual([])
    expect(box.confined).toBe(false)
  })

  it('is ended with its group on abort, also a process that left the group and ignores SIGTERM', async () => {
    const abort = new AbortController()
    const script = `trap '' TERM; setsid sh -c 'trap "" TERM; echo $$ > a; while :; do sleep 60; done' & sleep 60 & echo $! > b; while [ ! -s a ]; do :; done; echo up; wait`
    await expect(box.exec(sh(script), abort.signal, () => abort.abort(new Error('stop')))).rejects.toThrow('stop')
    await expect.poll(() => [...pidsIn('a'), ...pidsIn('b')].filter(living)).toEqual([])
    expect(records()).toEqual([])
  })

  it('is ended at the time limit, with its processes in the background', async () => {
    const pass = playedTimers()
    const limited = box.exec(sh('trap "exit 3" TERM; echo up; sleep 60 & wait'), never, () => pass(100_000))
    expect(await limited).toMatchObject({ timedOut: true, exitCode: 3 })
    vi.useRealTimers()
    await box.exec(sh('sleep 60 & echo $! > c'), never)
    await expect.poll(() => pidsIn('c').filter(living)).toEqual([])
  })

  it.skipIf(!cgroups)(
    'is ended with what left group, session and environment (needs a cgroup that we may write to)',
    async () => {
      const hidden = `env -i setsid /bin/sh -c 'echo $$ > h; exec sleep 60' >/dev/null 2>&1 </dev/null &`
      await box.exec(sh(`(${hidden}); while [ ! -s h ]; do :; done`), never)
      await expect.poll(() => pidsIn('h').filter(living)).toEqual([])
      expect(records()).toEqual([])
    },
  )

  it('is not begun once it was cancelled', async () => {
    await expect(box.exec(sh('touch x'), AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop')
    expect(existsSync(join(folders.ws, 'x'))).toBe(false)
  })
})

describe('reap', () => {
  it('ends the commands of a dead driver, and leaves those of a living driver alone', async () => {
    const module = new URL('../../../adapters/sandbox/unconfined.ts', import.meta.url).href
    const program = `import { createUnconfined } from ${JSON.stringify(module)}
      const box = createUnconfined({ workspace: process.argv[1], dataFolder: process.argv[2], driverId: 'd2' })
      const argv = ['/bin/sh', '-c', 'echo $$ > p; setsid sh left & while [ ! -s q ]; do :; done; cat q >> p; echo up; sleep 60']
      await box.exec({ argv, cwd: '.', timeoutMs: 60000, network: false }, new AbortController().signal, (t) => console.log(t))`
    // It says so when it has left the group: until then it would end with it.
    writeFileSync(join(folders.ws, 'left'), 'echo $$ > q; exec sleep 60')
    const driver = spawn(process.execPath, ['--input-type=module', '-e', program, folders.ws, folders.data], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const gone = new Promise((resolve) => driver.on('exit', resolve))
    await new Promise((resolve) => driver.stdout.once('data', resolve))
    expect(reap(folders.data)).toBe(0)
    expect(pidsIn('p').filter(living)).toHaveLength(2)
    driver.kill('SIGKILL')
    await gone
    expect(reap(folders.data)).toBeGreaterThanOrEqual(2)
    await expect.poll(() => pidsIn('p').filter(living)).toEqual([])
    expect(records()).toEqual([])
    expect(reap(folders.data)).toBe(0)
  })

  it.skipIf(!cgroups)("ends a dead driver's group, and no other that a record names (needs a cgroup too)", async () => {
    // Names that no other test run on this machine has.
    const [first, second] = [randomUUID(), randomUUID()]
    const strangers = makeCgroup(randomUUID())!
    const [ours, theirs] = [spawn('sleep', ['60']), spawn('sleep', ['60'])]
    const group = makeCgroup(first)!
    writeFileSync(doorOf(group), String(ours.pid))
    writeFileSync(doorOf(strangers), String(theirs.pid))
    mkdirSync(join(folders.data, 'processes'), { recursive: true })
    for (const [id, cgroup] of [
      [first, group],
      [second, strangers],
    ] as const) {
      const entry = { id, boot: bootId(), driver: { id: 'd', pid: 2 ** 22 - 1, start: '1' }, leader: null, cgroup }
      writeFileSync(join(folders.data, 'processes', `${id}.json`), JSON.stringify(entry))
    }
    expect(reap(folders.data)).toBe(1)
    await expect.poll(() => living(ours.pid as number)).toBe(false)
    expect(living(theirs.pid as number)).toBe(true)
    theirs.kill('SIGKILL')
    await expect.poll(() => [group, strangers].filter(existsSync).map(tryRemove)).not.toContain(false)
  })

  it('never signals a later process with the same id', async () => {
    const stranger = spawn('sleep', ['60'], { detached: true })
    await new Promise((resolve) => stranger.on('spawn', resolve))
    const pid = stranger.pid as number
    const dead = { id: 'd', pid: 2 ** 22 - 1, start: '1' }
    const entry = { id: 'e', boot: bootId(), driver: dead, leader: { pid, start: 'another time' } }
    mkdirSync(join(folders.data, 'processes'), { recursive: true })
    writeFileSync(join(folders.data, 'processes', 'e.json'), JSON.stringify(entry))
    writeFileSync(
      join(folders.data, 'processes', 'f.json'),
      JSON.stringify({ ...entry, id: 'f', boot: 'an earlier boot', leader: { pid, start: startOf(pid) } }),
    )
    expect(reap(folders.data)).toBe(0)
    expect(living(pid)).toBe(true)
    expect(records()).toEqual([])
    stranger.kill('SIGKILL')
  })
})
