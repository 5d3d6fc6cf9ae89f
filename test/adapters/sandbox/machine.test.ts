import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { liesIn } from '../../../adapters/files/inside.ts'
import { createSandbox } from '../../../adapters/sandbox/bubblewrap.ts'
import { boundSockets } from '../../../adapters/sandbox/listening.ts'
import { type ToolSearch, toolPaths } from '../../../adapters/sandbox/toolchains.ts'
import { tempFolder } from '../../support/folders.ts'
import { openFolder } from '../../support/programs/bubblewrap.ts'
import { never, sandboxOfEach, sh } from '../../support/programs/sandbox-of-each.ts'

describe('the parts of the machine that a command sees', { tags: ['bubblewrap'] }, () => {
  const at = sandboxOfEach()
  /** A folder of the machine that is neither temporary nor the workspace. */
  let elsewhere: string
  beforeEach(() => {
    elsewhere = openFolder()
  })
  afterEach(() => rmSync(elsewhere, { recursive: true, force: true }))

  const listening = async (path: string) => {
    const server = createServer((socket) => socket.end('reached')).listen(path)
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    return path
  }
  const connect = (path: string) =>
    `node -e "require('net').connect('${path}').on('data', d => console.log(String(d))).on('error', e => console.log(e.code))"`

  it('are the system, the workspace and empty temporary folders', async () => {
    const places = ['/boot', '/media', '/mnt', '/srv', '/sys', '/var/cache', '/var/lib', '/var/log', '/run', '/var/run']
    const absent = places.filter((place) => !liesIn(place, process.execPath))
    const { stdout, stderr } = await at.run(
      `ls -A ${absent.join(' ')} | grep -v :; ls /tmp; mkdir /x; touch /run/x && echo new`,
    )
    // A clone below /tmp shows its node there.
    const tools = [process.execPath, ...(process.env.PATH ?? '').split(':')].filter((path) => path.startsWith('/tmp/'))
    const ofTools = new Set(tools.map((path) => path.split('/')[2]))
    const shown = stdout.trim().split(/\s+/)
    expect(shown.filter((name) => !ofTools.has(name))).toEqual([at.folders.base.split('/')[2], 'new'])
    expect(stderr).toMatch(/\/x.*Read-only file system/)
  })

  it('have no file, socket or pipe of another folder of the machine', async () => {
    mkdirSync(join(elsewhere, 'data'))
    writeFileSync(join(elsewhere, 'data/token'), 'a token')
    const socket = await listening(join(elsewhere, 's.sock'))
    const pipe = join(elsewhere, 'pipe')
    execFileSync('mkfifo', [pipe])
    const env = { PATH: '/usr/bin:/bin', HOME: '/nonexistent' }
    const box = await createSandbox({ workspace: at.folders.ws, hide: [], env })
    const script = `cat ${elsewhere}/data/token; ${connect(socket)}; [ -p ${pipe} ] && echo pipe`
    const { stdout } = await box.exec(sh(script), never)
    expect(stdout).toBe('ENOENT\n')
  })

  it('have declared paths, read-only and without the sockets that listen there', async () => {
    writeFileSync(join(elsewhere, 'model'), 'weights')
    const socket = await listening(join(elsewhere, 's.sock'))
    const box = await createSandbox({ workspace: at.folders.ws, hide: [], readable: [elsewhere, '/none'] })
    const script = `cat ${elsewhere}/model; echo; echo x > ${elsewhere}/model; ${connect(socket)}`
    expect((await box.exec(sh(script), never)).stdout).toBe('weights\nECONNREFUSED\n')
    expect(readFileSync(join(elsewhere, 'model'), 'utf8')).toBe('weights')
  })

  it('are shown even if a socket vanishes before bubblewrap covers it', async () => {
    const socket = await listening(join(elsewhere, 's.sock'))
    const [armed, bwrap] = [join(elsewhere, 'armed'), join(elsewhere, 'bwrap')]
    writeFileSync(bwrap, `#!/bin/sh\n[ -e ${armed} ] && rm ${armed} ${socket}\nexec bwrap "$@"\n`, { mode: 0o755 })
    const box = await createSandbox({ workspace: at.folders.ws, hide: [], readable: [elsewhere], bwrap })
    writeFileSync(armed, '')
    expect(await box.exec(sh(`ls ${elsewhere}`), never)).toMatchObject({ exitCode: 0, stdout: 'bwrap\n' })
  })

  it('have no socket that another program listens on in the workspace', async () => {
    const socket = await listening(join(at.folders.ws, 's.sock'))
    expect((await at.run(connect(socket))).stdout).toBe('ECONNREFUSED\n')
    const own = `node -e "const s = require('net').createServer(c => c.end('own')).listen('own.sock', () => require('net').connect('own.sock').on('data', d => { console.log(String(d)); s.close() }))"`
    expect((await at.run(own)).stdout).toBe('own\n')
  })

  it('have no socket in the workspace that was bound through a link, or whose folder a command would move', async () => {
    mkdirSync(join(at.folders.ws, 'run/app'), { recursive: true })
    symlinkSync(join(at.folders.ws, 'run'), join(elsewhere, 'link'))
    await listening(join(at.folders.ws, 'run/app/s.sock'))
    await listening(join(elsewhere, 'link/app/l.sock'))
    expect(await at.run('mv run old || mv run/app old')).not.toMatchObject({ exitCode: 0 })
    const { stdout } = await at.run(`${connect('run/app/s.sock')}; ${connect('run/app/l.sock')}; ls run/app`)
    expect(stdout).toBe('ECONNREFUSED\nECONNREFUSED\nl.sock\ns.sock\n')
  })

  it('have no socket in the workspace that was renamed, linked, or bound by a relative path', async () => {
    const { ws } = at.folders
    await listening(join(ws, 'named.sock'))
    await listening(join(elsewhere, 'linked.sock'))
    await listening(relative(process.cwd(), join(ws, 'relative.sock')))
    renameSync(join(ws, 'named.sock'), join(ws, 'renamed.sock'))
    const names = ['renamed.sock', 'relative.sock']
    if (statSync(ws).dev === statSync(elsewhere).dev) {
      linkSync(join(elsewhere, 'linked.sock'), join(ws, 'linked.sock'))
      names.push('linked.sock')
    }
    const { stdout } = await at.run(names.map(connect).join('; '))
    expect(stdout).toBe('ECONNREFUSED\n'.repeat(names.length))
    const stale = `node -e "require('net').createServer().listen('stale.sock', () => process.exit())"`
    expect(await at.run(stale)).toMatchObject({ exitCode: 0 })
    expect(await at.run('rm stale.sock')).toMatchObject({ exitCode: 0 })
  })

  it('have of /etc what every user may read', async () => {
    const { stdout } = await at.run(
      `find /etc ! -type l ! -perm -004; find /etc -type s -o -type p; ls -A /etc/ssh 2>/dev/null; cat /etc/shadow; getent passwd root | cut -d: -f1`,
    )
    expect(stdout).toBe('root\n')
  })

  it('have the certificates that variables name', async () => {
    writeFileSync(join(elsewhere, 'ca.pem'), 'certificate')
    const env = { PATH: process.env.PATH, HOME: '/nonexistent', SSL_CERT_FILE: join(elsewhere, 'ca.pem') }
    const box = await createSandbox({ workspace: at.folders.ws, hide: [], env })
    expect((await box.exec(sh('cat $SSL_CERT_FILE'), never)).stdout).toBe('certificate')
  })
})

describe('the tools of the PATH', () => {
  const made = (...paths: string[]) => {
    for (const path of paths) mkdirSync(path, { recursive: true })
  }
  const program = (path: string, text: string) => writeFileSync(path, text, { mode: 0o755 })
  let place: string
  beforeEach(() => {
    place = openFolder()
  })
  afterEach(() => rmSync(place, { recursive: true, force: true }))
  const shown = (path: string[], more: Partial<ToolSearch> = {}) => {
    const own = { home: '/nonexistent', otherHomes: [], node: '/usr/bin/node', workspace: null }
    return toolPaths({ ...own, ...more, path }).sort()
  }

  it('are shown with what lies beside their "bin", and with the targets of links', () => {
    made(join(place, 'tool/bin'), join(place, 'links'), join(place, 'other'))
    program(join(place, 'tool/bin/hello'), '')
    symlinkSync('../tool/bin/hello', join(place, 'links/hello'))
    expect(shown([join(place, 'links'), '/usr/bin', '/bin'])).toEqual([join(place, 'links'), join(place, 'tool')])
    expect(shown([join(place, 'tool/bin')], { workspace: join(place, 'tool/ws') })).toEqual([join(place, 'tool/bin')])
  })

  it('are of a home the known tools and the folders of the PATH alone', () => {
    const home = join(place, 'home')
    made(join(home, '.nvm/v/bin'), join(home, 'own/bin'), join(home, '.ssh'), join(place, 'their/bin'))
    symlinkSync('../../.ssh', join(home, 'own/bin/link'))
    const path = [join(home, '.nvm/v/bin'), join(home, 'own/bin'), home, join(place, 'their/bin')]
    expect(shown(path, { home, otherHomes: [join(place, 'their')] })).toEqual([
      join(home, '.nvm'),
      join(home, 'own/bin'),
    ])
  })

  it('are in temporary folders and at the top of the machine nothing but the node that runs keepup', () => {
    const temporary = tempFolder()
    made(join(temporary, 'bin'))
    expect(shown([join(temporary, 'bin'), '/', '/var'], { node: join(temporary, 'bin') })).toEqual([
      join(temporary, 'bin'),
    ])
  })
})

it('the sockets of a namespace are those of its table that have a path', () => {
  const file = join(tempFolder(), 'unix')
  const line = '00000000ab: 00000002 00000000 00010000 0001 01'
  const paths = [' 96095', ' 15933 @abstract', ' 15933 /run/a b  c', '     7 /x']
  writeFileSync(
    file,
    ['Num       RefCount Protocol Flags    Type St Inode Path', ...paths.map((end) => line + end)].join('\n'),
  )
  expect(boundSockets(file)).toEqual(['/run/a b  c', '/x'])
  expect(boundSockets('/none')).toEqual([])
})
