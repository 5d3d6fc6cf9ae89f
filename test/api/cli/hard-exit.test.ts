import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

const keepsOn = (then: string) => {
  const module = JSON.stringify(new URL('../../../api/cli/hard-exit.ts', import.meta.url).href)
  // As little patience as can be had: the time to drain is added to it.
  const source = `import { hardExit } from ${module}; const off = hardExit(-1990, 7, console.error); ${then}`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' })
  return [status, stderr]
}

it('ends a process that something keeps from ending', () => {
  expect(keepsOn('setInterval(() => {}, 1000)')).toEqual([7, 'what is at work does not end; ending without it\n'])
})

it('leaves alone one that has come to rest', () => {
  expect(keepsOn('off(); setTimeout(() => process.exit(0), 200)')).toEqual([0, ''])
})

describe('told to end', () => {
  const told = (act: string) => {
    const module = JSON.stringify(new URL('../../../api/cli/follow/until-stopped.ts', import.meta.url).href)
    const source = `import { untilTold } from ${module}
      const ctx = { config: { drainMs: -1990 } }
      const log = { info: console.error }
      const on = setInterval(() => {}, 1000)
      await untilTold(ctx, log, { drivers: { count: 0 } }, ${act}, async () => clearInterval(on))`
    const { status, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
      timeout: 8000,
      killSignal: 'SIGKILL',
    })
    return { status, signal }
  }

  it('a process ends also where its work ignores the end', () => {
    expect(told(`() => new Promise(() => process.kill(process.pid, 'SIGTERM'))`)).toEqual({ status: 1, signal: null })
  })

  it('twice, it is broken off', () => {
    const twice = `() => new Promise(() => {
      process.once('SIGTERM', () => process.kill(process.pid, 'SIGHUP'))
      process.kill(process.pid, 'SIGTERM')
    })`
    expect(told(twice)).toEqual({ status: null, signal: 'SIGHUP' })
  })

  it('it ends also where the drive has come to rest, and what follows hangs', () => {
    const module = JSON.stringify(new URL('../../../api/cli/follow/drive.ts', import.meta.url).href)
    const source = `import { driveToEnd, FROM_BIRTH } from ${module}
      const backend = { kind: 'owner', drain: async () => {}, fetch: () => new Promise(() => {}) }
      const ctx = { config: { drainMs: -1990 }, note: console.error, backend: async () => backend }
      setInterval(() => {}, 1000)
      const driven = driveToEnd(ctx, 'r', FROM_BIRTH, () => new Promise(() => {}))
      process.kill(process.pid, 'SIGTERM')
      await driven`
    const { status, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
      timeout: 8000,
      killSignal: 'SIGKILL',
    })
    expect({ status, signal }).toEqual({ status: 130, signal: null })
  })

  it('by itself, it closes and is done', () => {
    expect(told('async () => {}')).toEqual({ status: 0, signal: null })
  })
})
