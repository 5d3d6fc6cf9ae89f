// @module-tag git
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openWorkspace } from '../../../adapters/workspace/open.ts'
import { realSegments, withFolder } from '../../../adapters/workspace/open-folder.ts'
import type { Workspace } from '../../../domain/ports/index.ts'
import { freshFolders } from '../../support/folders.ts'
import { asOrdinaryUser } from '../../support/programs/ordinary-user.ts'

if (process.env.FC_SEED) fc.configureGlobal({ seed: Number(process.env.FC_SEED) })

let folders: ReturnType<typeof freshFolders>
let ws: Workspace
const inside = (path: string) => join(folders.ws, path)
const outside = (path: string) => join(folders.base, path)
const bytes = (text: string) => new TextEncoder().encode(text)
const code = (code: string) => expect.objectContaining({ name: 'ToolError', code })

beforeEach(async () => {
  folders = freshFolders()
  ws = await openWorkspace(folders.ws, { dataFolder: folders.data })
})
afterEach(() => folders.remove())

describe('a workspace', () => {
  it('reads a written file back, makes folders as needed, and reports new files', async () => {
    expect(await ws.write('a/b/c.txt', bytes('1'))).toEqual({ created: true })
    expect(await ws.write('./a//b/../b/c.txt', bytes('2'))).toEqual({ created: false })
    expect(Buffer.from(await ws.read('a/b/c.txt')).toString()).toBe('2')
    expect(await ws.exists('a/b')).toBe(true)
    expect(await ws.exists('a/x/y')).toBe(false)
    expect(await ws.list('a')).toEqual([{ name: 'b', type: 'dir', size: 0 }])
    expect(readdirSync(inside('a/b'))).toEqual(['c.txt'])
  })

  it("keeps a file's mode", async () => {
    writeFileSync(inside('run.sh'), 'x')
    chmodSync(inside('run.sh'), 0o751)
    await ws.write('run.sh', bytes('y'))
    expect(statSync(inside('run.sh')).mode & 0o777).toBe(0o751)
  })

  it('follows links that stay inside, and writes to their targets', async () => {
    mkdirSync(inside('real'))
    symlinkSync('real', inside('link'))
    symlinkSync('real/f', inside('file'))
    await ws.write('link/f', bytes('1'))
    expect(await ws.resolve('link/f')).toBe('real/f')
    await ws.write('file', bytes('2'))
    expect(readFileSync(inside('real/f'), 'utf8')).toBe('2')
  })

  it('reports faults with the codes of tools', async () => {
    mkdirSync(inside('dir'))
    writeFileSync(inside('file'), '')
    await expect(ws.read('none')).rejects.toEqual(code('RESOURCE_NOT_FOUND'))
    await expect(ws.read('dir')).rejects.toEqual(code('CONFLICT'))
    await expect(ws.write('dir', bytes(''))).rejects.toEqual(code('CONFLICT'))
    await expect(ws.write('file/x', bytes(''))).rejects.toEqual(code('CONFLICT'))
    await expect(ws.write('.', bytes(''))).rejects.toEqual(code('CONFLICT'))
    await expect(ws.read('a\0b')).rejects.toEqual(code('INVALID_ARGUMENTS'))
    await expect(ws.read('a\ud800')).rejects.toEqual(code('INVALID_ARGUMENTS'))
    await expect(ws.read('x'.repeat(300))).rejects.toEqual(code('INVALID_ARGUMENTS'))
  })

  it('says what to do where the user has no right', async () => {
    writeFileSync(inside('file'), '')
    chmodSync(folders.base, 0o755)
    chmodSync(folders.ws, 0o555)
    const write = () => asOrdinaryUser(() => ws.write('file', bytes('x')))
    await expect(write()).rejects.toThrow(
      '"file" could not be used: EACCES; give the user of keepup the right to, or start a run in another folder (--workspace)',
    )
    chmodSync(folders.ws, 0o755)
  })

  it('refuses pipes, devices and sockets instead of hanging on them', async () => {
    execFileSync('mkfifo', [inside('pipe')])
    const server = createServer().listen(inside('socket'))
    await new Promise((resolve) => server.on('listening', resolve))
    for (const name of ['pipe', 'socket']) {
      await expect(ws.read(name)).rejects.toEqual(code('SANDBOX_VIOLATION'))
      await expect(ws.write(name, bytes(''))).rejects.toEqual(code('SANDBOX_VIOLATION'))
    }
    server.close()
    symlinkSync('/dev/zero', inside('zero'))
    await expect(ws.read('zero')).rejects.toEqual(code('SANDBOX_VIOLATION'))
  })

  it('lets tools read .git but not write into it, however it is reached', async () => {
    mkdirSync(inside('.git/hooks'), { recursive: true })
    writeFileSync(inside('.git/config'), 'x')
    symlinkSync('.git', inside('g'))
    expect(Buffer.from(await ws.read('.git/config')).toString()).toBe('x')
    for (const path of ['.git/hooks/pre-commit', 'g/hooks/pre-commit', '.GIT/config', 'sub/.git/config', 'sub/.git']) {
      await expect(ws.write(path, bytes('evil'))).rejects.toEqual(code('SANDBOX_VIOLATION'))
    }
  })

  it('lets tools write neither through a link .git nor into the targets of a .git', async () => {
    execFileSync('git', ['init', '-q', '--bare', inside('store')])
    symlinkSync('store', inside('.git'))
    mkdirSync(inside('worktree'))
    for (const name of ['HEAD', 'commondir']) writeFileSync(inside(`worktree/${name}`), '..')
    symlinkSync('store/hooks', inside('hooks'))
    for (const path of ['.git/config', 'store/config', 'store/new/deep', 'hooks/post-checkout', 'worktree/commondir']) {
      await expect(ws.write(path, bytes('evil'))).rejects.toEqual(code('SANDBOX_VIOLATION'))
    }
  })

  it('lets tools write no file that makes a folder a git repository', async () => {
    const written: string[] = []
    const names = ['HEAD', 'refs/heads/x', 'config', 'objects/x', 'file']
    for (const folder of ['', 'deep/er/'])
      for (const name of names)
        await ws.write(`${folder}${name}`, bytes('x')).then(
          () => written.push(`${folder}${name}`),
          (error) => expect([name, error]).toEqual(['objects/x', code('SANDBOX_VIOLATION')]),
        )
    expect(written).toEqual(
      ['', 'deep/er/'].flatMap((folder) => names.filter((n) => n !== 'objects/x').map((n) => folder + n)),
    )
    expect(existsSync(inside('objects'))).toBe(false)
    await expect(ws.write('deep/er/commondir', bytes('x'))).rejects.toEqual(code('SANDBOX_VIOLATION'))
  })

  it('leaves nothing behind when a write fails', async () => {
    mkdirSync(inside('d/e'), { recursive: true })
    await expect(ws.write('d/e', bytes('x'))).rejects.toEqual(code('CONFLICT'))
    expect(readdirSync(inside('d'))).toEqual(['e'])
  })
})

describe('an absolute path', () => {
  it('is taken where it leads inside: by the real path, or through a link from elsewhere', async () => {
    symlinkSync(folders.ws, outside('alias'))
    for (const [n, root] of [folders.ws, outside('alias')].entries()) {
      const path = join(root, `a/new${n}.txt`)
      expect(await ws.resolve(path)).toBe(`a/new${n}.txt`)
      expect(await ws.write(path, bytes('1'))).toEqual({ created: true })
      expect(Buffer.from(await ws.read(path)).toString()).toBe('1')
      expect(await ws.exists(path)).toBe(true)
      expect(await ws.resolve(root)).toBe('')
      expect((await ws.list(root)).map(({ name }) => name)).toEqual(['a'])
      const query = { pattern: '1', regex: false, path: join(root, 'a'), caseSensitive: true, limit: 9 }
      const found = await ws.search(query, AbortSignal.timeout(10_000))
      expect(found.matches.map((match) => match.path)).toContain(`a/new${n}.txt`)
      await expect(ws.write(join(root, '.git/config'), bytes('x'))).rejects.toEqual(code('SANDBOX_VIOLATION'))
    }
  })

  it('is refused where it leads out: beside the workspace, above it, or out again through a link', async () => {
    mkdirSync(outside('workspace-2'), { recursive: true })
    symlinkSync(folders.base, outside('up'))
    symlinkSync(folders.base, inside('out'))
    const wrong = [folders.base, `${folders.ws}-2/f`, join(folders.ws, '../x'), outside('up/x'), '/', '/nowhere/at/all']
    for (const path of [...wrong, `${inside('out')}/x`])
      await expect(ws.resolve(path), path).rejects.toEqual(code('SANDBOX_VIOLATION'))
  })
})

describe('nothing leads out of a workspace', () => {
  beforeEach(() => {
    mkdirSync(outside('other'))
    writeFileSync(outside('other/secret'), 'outside')
    writeFileSync(outside('other/marker'), 'outside')
    mkdirSync(inside('a/b'), { recursive: true })
    writeFileSync(inside('a/f'), 'inside')
    symlinkSync('..', inside('a/up'))
    symlinkSync('../..', inside('a/out'))
    symlinkSync(outside('other'), inside('abs'))
    symlinkSync(outside('other/secret'), inside('abs-file'))
    symlinkSync('../other/none', inside('dangling'))
    symlinkSync('loop', inside('loop'))
    symlinkSync(`../${folders.ws.split('/').at(-1)}`, inside('self'))
  })
  const part = fc.constantFrom(
    '..',
    '.',
    '',
    'a',
    'b',
    'f',
    'up',
    'out',
    'abs',
    'abs-file',
    'dangling',
    'loop',
    'self',
    'other',
    'secret',
    'ws',
    'data',
    'new',
  )

  it('whatever the path', async () => {
    const path = fc
      .tuple(fc.constantFrom('', '', '', '/'), fc.array(part, { maxLength: 7 }))
      .map(([p, s]) => p + s.join('/'))
    await fc.assert(
      fc.asyncProperty(path, async (path) => {
        const failure = (error: { name: string; code: string }) => {
          expect(error.name).toBe('ToolError')
          return null
        }
        const read = await ws.read(path).catch(failure)
        expect(read === null || ['inside', 'written'].includes(Buffer.from(read).toString())).toBe(true)
        await ws.write(path, bytes('written')).catch(failure)
        await ws.list(path).then((l) => expect(l.map((e) => e.name)).not.toContain('marker'), failure)
        await ws.resolve(path).then((real) => expect(`/${real}/`).not.toContain('/../'), failure)
        expect(readFileSync(outside('other/secret'), 'utf8')).toBe('outside')
        expect(readdirSync(folders.base).sort()).toEqual(['data', 'other', 'ws'])
        expect(readdirSync(outside('other')).sort()).toEqual(['marker', 'secret'])
      }),
      { numRuns: 300 },
    )
  })

  it.each(['../other/secret', '/etc/passwd', 'a/out/other/secret', 'abs/secret', 'abs-file', 'dangling', 'abs/new'])(
    '%s is a SANDBOX_VIOLATION',
    async (path) => {
      await expect(ws.read(path)).rejects.toEqual(code('SANDBOX_VIOLATION'))
      await expect(ws.write(path, bytes('x'))).rejects.toEqual(code('SANDBOX_VIOLATION'))
    },
  )

  it('also when a folder is swapped for a link between the check and the use', async () => {
    const segments = await realSegments(folders.ws, 'a/b/f', ['a', 'b', 'f'])
    rmSync(inside('a'), { recursive: true })
    mkdirSync(outside('other/b'))
    symlinkSync(outside('other'), inside('a'))
    const use = withFolder(folders.ws, segments.slice(0, -1), { create: true }, async () => 'reached')
    await expect(use).rejects.toThrow(/ENOTDIR|ELOOP/)
  })

  it('also when a folder is swapped after it was opened: the write goes where the check was', async () => {
    await withFolder(folders.ws, ['a', 'b'], { create: false }, async (folder) => {
      renameSync(inside('a'), inside('moved'))
      symlinkSync(outside('other'), inside('a'))
      mkdirSync(outside('other/b'))
      writeFileSync(folder.at('new'), 'x')
    })
    expect(existsSync(outside('other/b/new'))).toBe(false)
    expect(existsSync(inside('moved/b/new'))).toBe(true)
  })

  it('also under a swapper that never rests', async () => {
    const swap = `import { renameSync } from 'node:fs'
      const move = (from, to) => { try { renameSync(from, to) } catch {} }
      for (;;) { move('a', 'x'); move('abs', 'a'); move('a', 'abs'); move('x', 'a') }`
    writeFileSync(outside('other/f'), 'outside')
    const child = spawn(process.execPath, ['--input-type=module', '-e', swap], { cwd: folders.ws, stdio: 'ignore' })
    const ended = new Promise((resolve) => child.on('exit', resolve))
    const seen = new Set<string>()
    for (let i = 0; i < 200; i++) {
      await ws.read('a/f').then(
        (found) => seen.add(Buffer.from(found).toString()),
        () => {},
      )
      await ws.write('a/f', bytes('inside')).catch(() => {})
    }
    child.kill('SIGKILL')
    await ended
    expect([...seen].filter((text) => text !== 'inside')).toEqual([])
    expect(readFileSync(outside('other/f'), 'utf8')).toBe('outside')
  })
})

describe('openWorkspace', () => {
  const refused = (name: string) => expect.objectContaining({ name: 'WorkspaceError', code: name })

  it('refuses an unusable workspace, and makes nothing then', async () => {
    writeFileSync(outside('file'), '')
    await expect(openWorkspace(outside('none'), { dataFolder: folders.data })).rejects.toEqual(
      refused('WORKSPACE_MISSING'),
    )
    await expect(openWorkspace(outside('file'), { dataFolder: folders.data })).rejects.toEqual(
      refused('WORKSPACE_NOT_A_FOLDER'),
    )
    for (const dataFolder of [inside('x/data'), folders.ws]) {
      await expect(openWorkspace(folders.ws, { dataFolder })).rejects.toEqual(refused('WORKSPACE_HOLDS_DATA'))
    }
    await expect(openWorkspace(folders.ws, { dataFolder: folders.base })).rejects.toEqual(
      refused('WORKSPACE_HOLDS_DATA'),
    )
    expect(readdirSync(folders.ws)).toEqual([])
  })

  it('sees through links to the data folder', async () => {
    symlinkSync(folders.ws, outside('alias'))
    await expect(openWorkspace(folders.ws, { dataFolder: outside('alias/data') })).rejects.toEqual(
      refused('WORKSPACE_HOLDS_DATA'),
    )
  })
})
