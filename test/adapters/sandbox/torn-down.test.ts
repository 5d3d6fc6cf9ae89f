import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSandbox } from '../../../adapters/sandbox/bubblewrap.ts'
import { reap } from '../../../adapters/sandbox/registry.ts'
import { freshFolders } from '../../support/folders.ts'
import { sh } from '../../support/programs/sandbox-of-each.ts'

// A bubblewrap that is ended before its child has asked to end with it leaves that child behind. The window is small, so
// another program plays such a bubblewrap: its child has a session of its own, ignores SIGTERM and outlives it.

let at: ReturnType<typeof freshFolders>
let bwrap: string
let needle: string
beforeEach(() => {
  at = freshFolders()
  bwrap = join(at.base, 'bwrap')
  needle = `9${process.pid}.${Math.trunc(performance.now())}`
  const script = `#!/bin/sh
case "$*" in
  *' sh true') echo '{"child-pid": 1}{"exit-code": 0}' >&3; exit 0;;
  --help) exit 0;;
esac
setsid sh -c 'trap "" TERM; exec sleep ${needle}' </dev/null >/dev/null 2>&1 3>&- 4>&- &
until head -c 5 /proc/$!/cmdline | grep -q sleep; do :; done
echo "{\\"child-pid\\": $!}" >&3
echo up
wait
`
  writeFileSync(bwrap, script, { mode: 0o755 })
})
afterEach(() => {
  reap(at.data)
  at.remove()
})

const alive = (): boolean =>
  readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith(`sleep\0${needle}`)
    } catch {
      return false
    }
  })

describe.skipIf(process.platform !== 'linux')('a bubblewrap that is torn down', () => {
  it('leaves no process behind', async () => {
    const box = await createSandbox({ workspace: at.ws, hide: [], bwrap, graceMs: 10 })
    const abort = new AbortController()
    let wasAlive = false
    const ended = box.exec(sh('true'), abort.signal, () => {
      wasAlive = alive()
      abort.abort(new Error('stop'))
    })
    await expect(ended).rejects.toThrow('stop')
    expect(wasAlive).toBe(true)
    await expect.poll(alive).toBe(false)
  })

  /** Runs a command in a process of its own, which does something when the command is up. */
  const inProcess = (then: string) => {
    const module = new URL('../../../adapters/sandbox/bubblewrap.ts', import.meta.url).href
    const program = `import { createSandbox } from ${JSON.stringify(module)}
      const [workspace, bwrap, dataFolder] = process.argv.slice(1)
      const box = await createSandbox({ workspace, hide: [], bwrap, dataFolder })
      const command = { argv: ['true'], cwd: '.', timeoutMs: 60000, network: false, env: {} }
      await box.exec({ ...command, argv: ['false'] }, new AbortController().signal, () => { ${then} })`
    const args = ['--input-type=module', '-e', program, at.ws, bwrap, at.data]
    const child = spawn(process.execPath, args, { stdio: 'inherit' })
    return new Promise((resolve) => child.on('exit', resolve))
  }

  it('leaves no process behind where keepup ends in the middle of it', async () => {
    await inProcess('process.exit(0)')
    await expect.poll(alive).toBe(false)
  })

  it('is ended by the next keepup where the last one was killed', async () => {
    await inProcess("process.kill(process.pid, 'SIGKILL')")
    expect(alive()).toBe(true)
    expect(reap(at.data)).toBeGreaterThan(0)
    await expect.poll(alive).toBe(false)
    expect(readdirSync(join(at.data, 'processes'))).toEqual([])
  })
})
