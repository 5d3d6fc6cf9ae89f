import { execFileSync, spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createSocketServer } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSandbox } from '../../../adapters/sandbox/bubblewrap.ts'
import { userRepositories } from '../../../adapters/sandbox/repositories.ts'
import type { Command, Sandbox } from '../../../domain/ports.ts'
import { skipWithoutBubblewrap } from '../../support/bubblewrap.ts'
import { freshFolders } from '../../support/folders.ts'
import { playedTimers } from '../../support/played-timers.ts'

let folders: ReturnType<typeof freshFolders>
let sandbox: Sandbox
const never = new AbortController().signal
const sh = (script: string, more: Partial<Command> = {}): Command => ({
  argv: ['/bin/sh', '-c', script],
  cwd: '.',
  timeoutMs: 100_000,
  network: false,
  ...more,
})
const run = (script: string, more?: Partial<Command>) => sandbox.exec(sh(script, more), never)

/** Whether any process on the machine has this in its command line. */
const alive = (needle: string): boolean =>
  readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(needle)
    } catch {
      return false
    }
  })

describe.skipIf(skipWithoutBubblewrap)('the sandbox', () => {
  beforeEach(async () => {
    folders = freshFolders()
    writeFileSync(join(folders.data, 'token'), 'the-token')
    writeFileSync(join(folders.base, 'key'), 'the-key')
    const env = { PATH: process.env.PATH, HOME: homedir(), ANTHROPIC_API_KEY: 'sk-hidden', MY_SECRET: 'hidden' }
    sandbox = await createSandbox({
      workspace: folders.ws,
      hide: [folders.data, join(folders.base, 'key'), '/none'],
      env,
      graceMs: 200,
    })
  })
  afterEach(() => folders.remove())

  it('runs ordinary tools, with the node that runs us', async () => {
    writeFileSync(join(folders.ws, 'package.json'), '{"scripts":{"test":"node -e \\"console.log(6*7)\\""}}')
    const result = await run('node -v && git --version && npm test --silent && git init -q . && git status --short')
    expect(result).toMatchObject({ exitCode: 0, signal: null, timedOut: false })
    expect(result.stdout).toMatch(new RegExp(`^${process.version}\\ngit version .*\\n42\\n\\?\\? package.json`))
    expect(sandbox.confined).toBe(true)
  })

  it('gives the exit code and both outputs, and writes into the workspace only', async () => {
    mkdirSync(join(folders.ws, 'sub'))
    const result = await run('pwd; echo err >&2; echo new > f; echo x > /etc/keepup; echo x > "$HOME/y"; exit 7', {
      cwd: 'sub',
    })
    expect(result).toMatchObject({ exitCode: 7, stdout: `${folders.ws}/sub\n`, stdoutBytes: folders.ws.length + 5 })
    expect(result.stderr).toMatch(/^err\n.*Read-only file system/)
    expect(readFileSync(join(folders.ws, 'sub/f'), 'utf8')).toBe('new\n')
    expect(existsSync(join(homedir(), 'y'))).toBe(false)
  })

  it('hides the data folder and single files, also through links and /proc', async () => {
    symlinkSync(folders.data, join(folders.ws, 'link'))
    const data = folders.data
    const result = await run(
      `cat ${data}/token link/token ${folders.base}/key /proc/1/root${data}/token /proc/*/root${data}/token; ls -A ${data}; ls -A link/; touch ${data}/x; umount ${data}`,
    )
    expect(result.stdout).toBe('')
    expect(result.stderr).not.toContain('the-')
    expect(readdirSync(data)).toEqual(['token'])
  })

  it("shows the user's repository read-only, and lets a command make one of its own", async () => {
    execFileSync('git', ['init', '-q', folders.ws])
    const git = join(folders.ws, '.git')
    const config = readFileSync(join(git, 'config'), 'utf8')
    const hooks = existsSync(join(git, 'hooks')) ? readdirSync(join(git, 'hooks')) : null
    const box = await createSandbox({ workspace: folders.ws, hide: [] })
    const attacks = [
      'git config core.fsmonitor "touch /tmp/x"',
      'echo ../evil > .git/commondir',
      'mkdir -p .git/hooks && printf "#!/bin/sh\n" > .git/hooks/post-checkout',
      'mv .git old && cp -r old .git',
      'rm -rf .git',
      'umount .git && touch .git/x',
    ]
    for (const attack of attacks) expect(await box.exec(sh(attack), never)).not.toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(git, 'config'), 'utf8')).toBe(config)
    expect(existsSync(join(git, 'hooks')) ? readdirSync(join(git, 'hooks')) : null).toEqual(hooks)
    expect(readdirSync(folders.ws)).toEqual(['.git'])
    expect(existsSync(join(git, 'commondir'))).toBe(false)
    expect(await box.exec(sh('echo x > f && git status --short'), never)).toMatchObject({
      exitCode: 0,
      stdout: '?? f\n',
    })
    const own = 'git init -q s && cd s && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x'
    expect(await box.exec(sh(own), never)).toMatchObject({ exitCode: 0 })
    expect(await box.exec(sh('git config a.b c', { cwd: 's' }), never)).toMatchObject({ exitCode: 0 })
  })

  it('shows repositories beneath read-only too, those that came since, and lets none be moved with its folder', async () => {
    const repository = (path: string) => {
      mkdirSync(join(folders.ws, path), { recursive: true })
      execFileSync('git', ['init', '-q', join(folders.ws, path)])
      return readFileSync(join(folders.ws, path, '.git/config'), 'utf8')
    }
    const before = repository('a/b')
    const box = await createSandbox({ workspace: folders.ws, hide: [] })
    const attacks = (path: string) => [
      `cd ${path} && git config core.fsmonitor "touch /tmp/x"`,
      `rm -rf ${path}/.git`,
      `mv ${path} old && mkdir -p ${path} && cp -r old/.git ${path}/.git && echo x >> ${path}/.git/config`,
      `mv $(dirname ${path}) old && mkdir -p ${path} && cp -r old/*/.git ${path}/.git && echo x >> ${path}/.git/config`,
    ]
    for (const attack of attacks('a/b')) expect(await box.exec(sh(attack), never)).not.toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(folders.ws, 'a/b/.git/config'), 'utf8')).toBe(before)
    const later = repository('c/d')
    for (const attack of attacks('c/d')) expect(await box.exec(sh(attack), never)).not.toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(folders.ws, 'c/d/.git/config'), 'utf8')).toBe(later)
    expect(await box.exec(sh('echo x > a/b/f && cat a/b/f'), never)).toMatchObject({ exitCode: 0, stdout: 'x\n' })
  })

  it('shows read-only what a .git names by a link, a file or a commondir, and puts a link back', async () => {
    const at = (path: string) => join(folders.ws, path)
    mkdirSync(at('l'))
    execFileSync('git', ['init', '-q', at('l')])
    renameSync(at('l/.git'), at('store'))
    symlinkSync('../store', at('l/.git'))
    execFileSync('git', ['init', '-q', `--separate-git-dir=${at('apart')}`, at('s')])
    mkdirSync(at('worktree'))
    for (const [file, text] of [
      ['HEAD', 'ref: refs/heads/main'],
      ['commondir', '../common'],
    ])
      writeFileSync(at(`worktree/${file}`), `${text}\n`)
    execFileSync('git', ['init', '-q', '--bare', at('common')])
    mkdirSync(at('w'))
    writeFileSync(at('w/.git'), 'gitdir: ../worktree\n')
    const told: string[] = []
    const box = await createSandbox({ workspace: folders.ws, hide: [], warn: (text) => told.push(text) })
    const configs = ['store/config', 'apart/config', 'common/config']
    const before = configs.map((path) => readFileSync(at(path), 'utf8'))
    const attacks = [
      ...configs.map((path) => `echo x >> ${path}`),
      'echo .. > worktree/commondir',
      'echo x > s/.git',
      'rm s/.git',
      'mv apart old && cp -r old apart && echo x >> apart/config',
      'mv l old && mkdir l',
    ]
    for (const attack of attacks) expect(await box.exec(sh(attack), never)).not.toMatchObject({ exitCode: 0 })
    expect(told).toEqual([])
    for (const attack of [
      'rm',
      'mkdir .git; touch .git/config',
      'echo "gitdir: ../evil" > .git',
      'ln -s ../evil .git',
    ]) {
      await box.exec(sh(`cd l && rm -f .git && ${attack}`), never)
      expect(readlinkSync(at('l/.git'))).toBe('../store')
    }
    expect(told).toEqual(Array(4).fill(expect.stringContaining('l/.git; it was put back')))
    expect(configs.map((path) => readFileSync(at(path), 'utf8'))).toEqual(before)
    expect(await box.exec(sh('git -C l status && git -C s status && touch l/f s/f'), never)).toMatchObject({
      exitCode: 0,
    })
  })

  it('shows the repositories of installed packages read-only, and leaves the packages writable', async () => {
    const packages = ['node_modules/a', 'node_modules/@s/b', 'sub/node_modules/a/node_modules/c']
    for (const path of packages) execFileSync('git', ['init', '-q', join(folders.ws, path)])
    const box = await createSandbox({ workspace: folders.ws, hide: [] })
    for (const path of packages) {
      expect(await box.exec(sh(`echo x >> ${path}/.git/config`), never)).not.toMatchObject({ exitCode: 0 })
      expect(await box.exec(sh(`touch ${path}/index.js`), never)).toMatchObject({ exitCode: 0 })
    }
  })

  it('bounds what is kept in memory, and how many processes there are', async () => {
    const script = `for d in /tmp /dev/shm "$HOME"; do df -B1 --output=size $d | tail -1; done; touch /dev/x; (ulimit -u 2>/dev/null || ulimit -p)`
    const { stdout, stderr } = await run(script)
    expect(stdout.trim().split(/\s+/)).toEqual([...Array(3).fill(String(2 * 1024 ** 3)), '8192'])
    expect(stderr).toMatch(/\/dev\/x.*Read-only file system/)
  })

  it('gives a setuid file in the workspace no power', async () => {
    const script = `cp /bin/cat c && chmod 4755 c && grep NoNewPrivs /proc/self/status; grep ' ${folders.ws} ' /proc/self/mountinfo`
    expect((await run(script)).stdout).toMatch(/^NoNewPrivs:\t1\n.*nosuid/)
  })

  it('hides homes, temporary files, other processes and our environment', async () => {
    // Outside of the temporary folder, which is hidden anyway.
    const home = mkdtempSync(join(process.cwd(), 'node_modules', '.home-'))
    writeFileSync(join(home, 'marker'), 'home')
    mkdirSync(join(home, '.local/bin'), { recursive: true })
    mkdirSync(join(home, '.ssh'))
    const env = { PATH: `${home}/.local/bin:${home}:${process.env.PATH}`, HOME: home, MY_SECRET: 'hidden' }
    try {
      const box = await createSandbox({ workspace: folders.ws, hide: [], env })
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
    expect((await run(`ls /proc | grep -c '^[0-9]'`)).stdout.trim()).toMatch(/^[1-9]$/)
  })

  it('cannot change the machine through /proc or raise its rights', async () => {
    const result = await run(
      `grep CapEff /proc/self/status; [ -w /proc/sys/kernel/core_pattern ] && echo WRITABLE; [ -w /proc/sysrq-trigger ] && echo WRITABLE; cat /etc/shadow | head -1; ls -A /etc/ssh 2>/dev/null`,
    )
    expect(result.stdout).toBe('CapEff:\t0000000000000000\n')
  })

  it('has no network, not even loopback or local sockets, unless it is granted', async () => {
    const server = createServer((_, response) => response.end('reached')).listen(0, '127.0.0.1')
    const local = createSocketServer((socket) => socket.end('reached')).listen(join(folders.data, 'socket'))
    await new Promise((resolve) => server.on('listening', resolve))
    const { port } = server.address() as AddressInfo
    const fetchIt = `node -e "fetch('http://127.0.0.1:${port}').then(r => r.text()).then(console.log, () => console.log('refused'))"`
    const connect = `node -e "require('net').connect('${folders.data}/socket').on('data', d => console.log(String(d))).on('error', () => console.log('refused'))"`
    const results = await Promise.all([run(fetchIt), run(connect), run(fetchIt, { network: true })])
    expect(results.map((result) => result.stdout.trim())).toEqual(['refused', 'refused', 'reached'])
    server.close()
    local.close()
  })

  it('says when a command does not exist, cannot be found by folder, or would leave', async () => {
    expect(await sandbox.exec({ ...sh(''), argv: ['no-such-command'] }, never)).toMatchObject({ exitCode: 127 })
    await expect(run('true', { cwd: 'none' })).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND', beforeEffect: true })
    await expect(run('true', { cwd: '../data' })).rejects.toMatchObject({ code: 'SANDBOX_VIOLATION' })
    await expect(run(`echo ${'x'.repeat(3_000_000)}`)).rejects.toMatchObject({
      code: 'EXECUTION_FAILED',
      beforeEffect: true,
    })
  })

  it('ends at the time limit, first asking, then by force', async () => {
    const pass = playedTimers()
    const asked = sandbox.exec(sh('trap "echo bye; exit 3" TERM; echo up; sleep 60 & wait'), never, (text) => {
      if (text === 'up\n') pass(100_000)
    })
    expect(await asked).toMatchObject({ timedOut: true, exitCode: 3, stdout: 'up\nbye\n' })
    const stubborn = sandbox.exec(sh('trap "" TERM; echo up; while :; do sleep 60; done'), never, () => pass(100_200))
    expect(await stubborn).toMatchObject({ timedOut: true, signal: 'SIGKILL' })
  })

  it('ends everything on abort, also what forked, left its session and ignores SIGTERM', async () => {
    const needle = `7${process.pid}.25`
    const abort = new AbortController()
    const script = `trap '' TERM; (setsid sleep ${needle} &) ; sleep ${needle} & echo up; wait`
    const ended = sandbox.exec(sh(script), abort.signal, () => abort.abort(new Error('stop')))
    await expect(ended).rejects.toThrow('stop')
    await expect.poll(() => alive(needle)).toBe(false)
  })

  it('ends what a command leaves running', async () => {
    const needle = `6${process.pid}.25`
    const result = await run(`setsid sleep ${needle} & echo done`)
    expect(result).toMatchObject({ exitCode: 0, stdout: 'done\n' })
    await expect.poll(() => alive(needle)).toBe(false)
  })

  it('dies with its parent, however that dies', async () => {
    const needle = `8${process.pid}.25`
    const module = new URL('../../../adapters/sandbox/bubblewrap.ts', import.meta.url).href
    const program = `import { createSandbox } from ${JSON.stringify(module)}
      const box = await createSandbox({ workspace: process.argv[1], hide: [] })
      const argv = ['/bin/sh', '-c', 'setsid sleep ${needle} & echo up; sleep ${needle}']
      await box.exec({ argv, cwd: '.', timeoutMs: 60000, network: false }, new AbortController().signal, (t) => console.log(t))`
    const parent = spawn(process.execPath, ['--input-type=module', '-e', program, folders.ws], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise((resolve) => parent.stdout.once('data', resolve))
    try {
      await expect.poll(() => alive(`sleep\0${needle}`)).toBe(true)
    } finally {
      parent.kill('SIGKILL')
    }
    await expect.poll(() => alive(needle)).toBe(false)
  })

  it('keeps head and tail of ten megabytes, well formed, and tells the size', async () => {
    const live: string[] = []
    const script = `echo first; head -c 10000000 /dev/zero | tr '\\0' 'x'; printf '\\377\\000'; echo last`
    const result = await sandbox.exec(sh(script), never, (text) => live.push(text))
    expect(result.stdoutBytes).toBe(10_000_013)
    expect(result.stdout.length).toBeLessThan(600_000)
    expect(result.stdout).toMatch(/^first\nx+\n\[… \d+ of 10000017 bytes left out …\]\nx+\ufffd\ufffdlast\n$/)
    expect(live.join('').length).toBe(10_000_013)
  })
})

it('tells where a workspace has too many folders to look into all of them', async () => {
  const { ws, remove } = freshFolders()
  const told: string[] = []
  mkdirSync(join(ws, 'a/.git'), { recursive: true })
  for (let n = 0; n < 130; n++) mkdirSync(join(ws, `b${n}/c`), { recursive: true })
  const found = (most: number) =>
    userRepositories(ws, (text) => told.push(text), most).around(async ({ readOnly }) => readOnly.length)
  expect([await found(262), told.length]).toEqual([1, 0])
  expect([await found(261), await found(1)]).toEqual([1, 0])
  expect(told).toEqual(
    [261, 1].map((most) => expect.stringContaining(`only ${most} folders of ${ws} were looked into`)),
  )
  remove()
})

describe('createSandbox', () => {
  it('says why it cannot be had and what to do', async () => {
    const { ws, remove } = freshFolders()
    const failing = createSandbox({ workspace: ws, hide: [], bwrap: '/none/bwrap' })
    await expect(failing).rejects.toThrow(/not found.*apt install bubblewrap.*sandboxed: false/)
    await expect(createSandbox({ workspace: ws, hide: [], bwrap: '/bin/false' })).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
    })
    remove()
  })
})
