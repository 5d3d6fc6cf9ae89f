import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createSocketServer } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../../../adapters/sandbox/bubblewrap.ts'
import { reap } from '../../../adapters/sandbox/registry.ts'
import { freshFolders } from '../../support/folders.ts'
import { never, sandboxOfEach, sh } from '../../support/programs/sandbox-of-each.ts'
import { playedTimers } from '../../support/time/played-timers.ts'

/** Whether any process on the machine has this in its command line. */
const alive = (needle: string): boolean =>
  readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(needle)
    } catch {
      return false
    }
  })

describe('the sandbox', { tags: ['bubblewrap'] }, () => {
  const at = sandboxOfEach()

  it('runs ordinary tools, with the node that runs us', async () => {
    writeFileSync(join(at.folders.ws, 'package.json'), '{"scripts":{"test":"node -e \\"console.log(6*7)\\""}}')
    const result = await at.run('node -v && git --version && npm test --silent && git init -q . && git status --short')
    expect(result).toMatchObject({ exitCode: 0, signal: null, timedOut: false })
    expect(result.stdout).toMatch(new RegExp(`^${process.version}\\ngit version .*\\n42\\n\\?\\? package.json`))
    expect(at.sandbox.confined).toBe(true)
  })

  it('gives the exit code and both outputs, and writes into the workspace only', async () => {
    mkdirSync(join(at.folders.ws, 'sub'))
    const result = await at.run('pwd; echo err >&2; echo new > f; echo x > /etc/keepup; echo x > "$HOME/y"; exit 7', {
      cwd: 'sub',
    })
    expect(result).toMatchObject({
      exitCode: 7,
      stdout: `${at.folders.ws}/sub\n`,
      stdoutBytes: at.folders.ws.length + 5,
    })
    expect(result.stderr).toMatch(/^err\n.*Read-only file system/)
    expect(readFileSync(join(at.folders.ws, 'sub/f'), 'utf8')).toBe('new\n')
    expect(existsSync(join(homedir(), 'y'))).toBe(false)
  })

  it('hides the data folder and single files, also through links and /proc', async () => {
    symlinkSync(at.folders.data, join(at.folders.ws, 'link'))
    const data = at.folders.data
    const result = await at.run(
      `cat ${data}/token link/token ${at.folders.base}/key /proc/1/root${data}/token /proc/*/root${data}/token; ls -A ${data}; ls -A link/; touch ${data}/x; umount ${data}`,
    )
    expect(result.stdout).toBe('')
    expect(result.stderr).not.toContain('the-')
    expect(readdirSync(data)).toEqual(['token'])
  })

  it('bounds folders in memory and the number of processes', async () => {
    const script = `for d in /tmp /dev/shm "$HOME"; do df -B1 --output=size $d | tail -1; done; touch /dev/x; (ulimit -u 2>/dev/null || ulimit -p)`
    const { stdout, stderr } = await at.run(script)
    expect(stdout.trim().split(/\s+/)).toEqual([...Array(3).fill(String(2 * 1024 ** 3)), '8192'])
    expect(stderr).toMatch(/\/dev\/x.*Read-only file system/)
  })

  it('gives a setuid file in the workspace no power', async () => {
    copyFileSync('/bin/cat', join(at.folders.ws, 'c'))
    chmodSync(join(at.folders.ws, 'c'), 0o4755)
    const script = `./c /dev/null && grep NoNewPrivs /proc/self/status; grep ' ${at.folders.ws} ' /proc/self/mountinfo`
    expect((await at.run(script)).stdout).toMatch(/^NoNewPrivs:\t1\n.*nosuid/)
  })

  it('hides homes, temporary files, other processes and our environment', async () => {
    // Outside of the temporary folder, which is hidden anyway.
    const home = mkdtempSync(join(process.cwd(), 'node_modules', '.home-'))
    writeFileSync(join(home, 'marker'), 'home')
    mkdirSync(join(home, '.local/bin'), { recursive: true })
    mkdirSync(join(home, '.ssh'))
    const env = { PATH: `${home}/.local/bin:${home}:${process.env.PATH}`, HOME: home, MY_SECRET: 'hidden' }
    try {
      const box = await createSandbox({ workspace: at.folders.ws, hide: [], env })
      const script = `cat ${home}/marker; ls /tmp /run; env; cat /proc/*/environ | tr '\\0' '\\n'; ls -A "$HOME"; ls /proc/self/fd`
      const { stdout } = await box.exec(sh(script), never)
      expect(stdout).not.toMatch(/^home|hidden|VITEST|ssh|marker/m)
      expect(stdout).toContain('CI=1')
      expect(stdout).toContain('.local')
      // Beside what any child of this process inherits, no file of ours is open in there.
      const inherited = execFileSync('ls', ['/proc/self/fd'], { encoding: 'utf8' })
      expect(stdout.match(/^\d+$/gm)).toEqual(inherited.trim().split('\n'))
    } finally {
      rmSync(home, { recursive: true })
    }
    expect((await at.run(`ls /proc | grep -c '^[0-9]'`)).stdout.trim()).toMatch(/^[1-9]$/)
  })

  it('cannot change the machine through /proc or raise its rights', async () => {
    const result = await at.run(
      `grep CapEff /proc/self/status; [ -w /proc/sys/kernel/core_pattern ] && echo WRITABLE; [ -w /proc/sysrq-trigger ] && echo WRITABLE; cat /etc/shadow | head -1; ls -A /etc/ssh 2>/dev/null`,
    )
    expect(result.stdout).toBe('CapEff:\t0000000000000000\n')
  })

  it('has no network, not even loopback or local sockets, unless it is granted', async () => {
    const server = createServer((_, response) => response.end('reached')).listen(0, '127.0.0.1')
    const local = createSocketServer((socket) => socket.end('reached')).listen(join(at.folders.data, 'socket'))
    await new Promise((resolve) => server.on('listening', resolve))
    const { port } = server.address() as AddressInfo
    const fetchIt = `node -e "fetch('http://127.0.0.1:${port}').then(r => r.text()).then(console.log, () => console.log('refused'))"`
    const connect = `node -e "require('net').connect('${at.folders.data}/socket').on('data', d => console.log(String(d))).on('error', () => console.log('refused'))"`
    const results = await Promise.all([at.run(fetchIt), at.run(connect), at.run(fetchIt, { network: true })])
    expect(results.map((result) => result.stdout.trim())).toEqual(['refused', 'refused', 'reached'])
    server.close()
    local.close()
  })

  it('says when a command does not exist, cannot be found by folder, or would leave', async () => {
    expect(await at.sandbox.exec({ ...sh(''), argv: ['no-such-command'] }, never)).toMatchObject({ exitCode: 127 })
    await expect(at.run('true', { cwd: 'none' })).rejects.toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
      beforeEffect: true,
    })
    await expect(at.run('true', { cwd: '../data' })).rejects.toMatchObject({ code: 'SANDBOX_VIOLATION' })
    await expect(at.run(`echo ${'x'.repeat(3_000_000)}`)).rejects.toMatchObject({
      code: 'EXECUTION_FAILED',
      beforeEffect: true,
    })
  })

  it('ends at the time limit, first asking, then by force', async () => {
    const pass = playedTimers()
    const asked = at.sandbox.exec(sh('trap "echo bye; exit 3" TERM; echo up; sleep 60 & wait'), never, (text) => {
      if (text === 'up\n') pass(100_000)
    })
    expect(await asked).toMatchObject({ timedOut: true, exitCode: 3, stdout: 'up\nbye\n' })
    const stubborn = at.sandbox.exec(sh('trap "" TERM; echo up; while :; do sleep 60; done'), never, () =>
      pass(100_200),
    )
    expect(await stubborn).toMatchObject({ timedOut: true, signal: 'SIGKILL' })
  })

  it('on abort ends every process, also one that forked, left its session and ignores SIGTERM', async () => {
    const needle = `7${process.pid}.25`
    const abort = new AbortController()
    const script = `trap '' TERM; (setsid sleep ${needle} &) ; sleep ${needle} & echo up; wait`
    const ended = at.sandbox.exec(sh(script), abort.signal, () => abort.abort(new Error('stop')))
    await expect(ended).rejects.toThrow('stop')
    await expect.poll(() => alive(needle)).toBe(false)
  })

  it('ends processes that a command leaves running', async () => {
    const needle = `6${process.pid}.25`
    const result = await at.run(`setsid sleep ${needle} & echo done`)
    expect(result).toMatchObject({ exitCode: 0, stdout: 'done\n' })
    await expect.poll(() => alive(needle)).toBe(false)
  })

  it('dies with its parent, however that dies', async () => {
    const needle = `8${process.pid}.25`
    const module = new URL('../../../adapters/sandbox/bubblewrap.ts', import.meta.url).href
    const program = `import { createSandbox } from ${JSON.stringify(module)}
      const box = await createSandbox({ workspace: process.argv[1], hide: [], dataFolder: process.argv[2] })
      const argv = ['/bin/sh', '-c', 'setsid sleep ${needle} & echo up; sleep ${needle}']
      await box.exec({ argv, cwd: '.', timeoutMs: 60000, network: false }, new AbortController().signal, (t) => console.log(t))`
    const parent = spawn(process.execPath, ['--input-type=module', '-e', program, at.folders.ws, at.folders.data], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise((resolve) => parent.stdout.once('data', resolve))
    try {
      await expect.poll(() => alive(`sleep\0${needle}`)).toBe(true)
    } finally {
      parent.kill('SIGKILL')
    }
    await expect.poll(() => alive(needle)).toBe(false)
    reap(at.folders.data)
  })

  it('keeps head and tail of ten megabytes, well formed, and tells the size', async () => {
    const live: string[] = []
    const script = `echo first; head -c 10000000 /dev/zero | tr '\\0' 'x'; printf '\\377\\000'; echo last`
    const result = await at.sandbox.exec(sh(script), never, (text) => live.push(text))
    expect(result.stdoutBytes).toBe(10_000_013)
    expect(result.stdout.length).toBeLessThan(600_000)
    expect(result.stdout).toMatch(/^first\nx+\n\[… \d+ of 10000017 bytes left out …\]\nx+\ufffd\ufffdlast\n$/)
    expect(live.join('').length).toBe(10_000_013)
  })
})

describe('createSandbox', () => {
  it('an unavailable sandbox names the reason and the remedy', async () => {
    const { ws, remove } = freshFolders()
    const failing = createSandbox({ workspace: ws, hide: [], bwrap: '/none/bwrap' })
    await expect(failing).rejects.toThrow(/not found.*apt install bubblewrap.*sandboxed: false/)
    await expect(createSandbox({ workspace: ws, hide: [], bwrap: '/bin/false' })).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
    })
    remove()
  })
})
