// @module-tag git
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openWorkspace } from '../../../adapters/workspace/open.ts'
import type { Workspace } from '../../../domain/ports/index.ts'
import { createRedactor } from '../../../domain/secrets/redactor.ts'
import { freshFolders } from '../../support/folders.ts'

if (process.env.FC_SEED) fc.configureGlobal({ seed: Number(process.env.FC_SEED) })

let folders: ReturnType<typeof freshFolders>
let ws: Workspace
const inside = (path: string) => join(folders.ws, path)
const text = (bytes: Uint8Array | null) => (bytes === null ? null : Buffer.from(bytes).toString())
const code = (code: string) => expect.objectContaining({ name: 'ToolError', code })

/** Every file beneath a folder: name in hex → mode and bytes. */
function picture(folder: string, prefix = Buffer.alloc(0)): Record<string, string> {
  const out: Record<string, string> = {}
  const base = Buffer.concat([Buffer.from(`${folder}/`), prefix])
  for (const name of readdirSync(base, { encoding: 'buffer' })) {
    const path = Buffer.concat([base, name])
    const stat = lstatSync(path)
    const key = Buffer.concat([prefix, name])
    if (stat.isDirectory()) Object.assign(out, picture(folder, Buffer.concat([key, Buffer.from('/')])))
    else if (stat.isSymbolicLink()) out[key.toString('hex')] = `link ${readlinkSync(path, 'hex')}`
    else out[key.toString('hex')] = `${stat.mode & 0o100 ? 'x' : '-'} ${readFileSync(path, 'hex')}`
  }
  return out
}

beforeEach(async () => {
  folders = freshFolders()
  ws = await openWorkspace(folders.ws, { dataFolder: folders.data })
})
afterEach(() => folders.remove())

describe('shadow versions', () => {
  it('give back every byte, mode, link and name', async () => {
    const put = (name: string | Buffer, data: string | Buffer) =>
      writeFileSync(Buffer.concat([Buffer.from(`${folders.ws}/`), Buffer.from(name)]), data)
    put(
      '.gitattributes',
      '* text=auto eol=crlf\n*.bin filter=lfs diff=lfs merge=lfs\n*.u16 working-tree-encoding=UTF-16\n*.id ident\n',
    )
    put('crlf.txt', 'a\r\nb\nc\r\n')
    put('lf.txt', 'a\nb\n')
    put('x.bin', Buffer.from([0, 1, 2, 255, 13, 10]))
    put('x.u16', 'not utf-16')
    put('x.id', '$Id: 123 $')
    put('empty', '')
    put('odd \n"\\ name', '1')
    put('-rf', '2')
    put('git~1', '3')
    put(Buffer.from([0xff, 0xfe, 0x41]), '4')
    put('été 漢字', '5')
    put('run.sh', '#!/bin/sh\n')
    chmodSync(inside('run.sh'), 0o755)
    mkdirSync(inside('deep/er'), { recursive: true })
    symlinkSync('../none', inside('deep/link'))
    symlinkSync('/etc', inside('etc'))
    put('deep/er/f', 'x'.repeat(100_000))
    const before = picture(folders.ws)
    const tree = await ws.versions.snapshot()

    const copy = join(folders.base, 'copy')
    await ws.versions.materialize(tree, copy)
    expect(picture(copy)).toEqual(before)

    for (const name of readdirSync(folders.ws, { encoding: 'buffer' })) {
      rmSync(Buffer.concat([Buffer.from(`${folders.ws}/`), name]), { recursive: true })
    }
    await ws.versions.restore(tree)
    expect(picture(folders.ws)).toEqual(before)
    await expect(ws.versions.materialize(tree, copy)).rejects.toEqual(code('CONFLICT'))
  })

  it('restore any state from any other, and undo that', async () => {
    const names = ['a', 'b', 'a/x', 'b/y', 'b/y/z', 'c/d/e']
    const state = fc.dictionary(
      fc.constantFrom(...names),
      fc.oneof(fc.constantFrom('link', 'x1'), fc.string({ maxLength: 3 })),
    )
    const fill = (files: Record<string, string>) => {
      for (const name of readdirSync(folders.ws)) rmSync(inside(name), { recursive: true })
      for (const [name, data] of Object.entries(files)) {
        try {
          mkdirSync(join(inside(name), '..'), { recursive: true })
          if (data === 'link') symlinkSync('a', inside(name))
          else writeFileSync(inside(name), data, { mode: data === 'x1' ? 0o755 : 0o644, flag: 'wx' })
        } catch {}
      }
      return picture(folders.ws)
    }
    await fc.assert(
      fc.asyncProperty(state, state, async (first, second) => {
        const one = fill(first)
        const tree = await ws.versions.snapshot()
        const two = fill(second)
        const { replaced } = await ws.versions.restore(tree)
        expect(picture(folders.ws)).toEqual(one)
        expect(await ws.versions.snapshot()).toBe(tree)
        await ws.versions.restore(replaced)
        expect(picture(folders.ws)).toEqual(two)
      }),
      { numRuns: 10 },
    )
  })

  it('leave ignored files aside: not stored, not removed, and never written over', async () => {
    writeFileSync(inside('.gitignore'), 'ignored\n*.log\n')
    writeFileSync(inside('a'), '1')
    const tree = await ws.versions.snapshot()
    writeFileSync(inside('b'), 'added')
    writeFileSync(inside('x.log'), 'kept')
    mkdirSync(inside('node_modules/m'), { recursive: true })
    writeFileSync(inside('node_modules/m/i.js'), 'kept')
    expect(await ws.versions.changes(tree, await ws.versions.snapshot())).toEqual([{ path: 'b', change: 'added' }])
    await ws.versions.restore(tree)
    expect(existsSync(inside('b'))).toBe(false)
    expect(readFileSync(inside('x.log'), 'utf8') + readFileSync(inside('node_modules/m/i.js'), 'utf8')).toBe('keptkept')

    rmSync(inside('.gitignore'))
    rmSync(inside('x.log'))
    writeFileSync(inside('z.log'), 'versioned')
    const versioned = await ws.versions.snapshot()
    await ws.versions.restore(tree)
    await ws.versions.snapshot()
    writeFileSync(inside('z.log'), 'precious')
    await expect(ws.versions.restore(versioned)).rejects.toEqual(code('CONFLICT'))
    expect(readFileSync(inside('z.log'), 'utf8')).toBe('precious')
  })

  it("honour the user's own exclude file, and run nothing of the workspace's git settings", async () => {
    execFileSync('git', ['init', '-q', folders.ws])
    const evil = join(folders.base, 'evil')
    writeFileSync(evil, `#!/bin/sh\ntouch ${evil}.ran\n`, { mode: 0o755 })
    writeFileSync(
      inside('.git/config'),
      `[core]\n\tfsmonitor = ${evil}\n\thooksPath = ${folders.base}\n[filter "x"]\n\tclean = ${evil}\n`,
    )
    writeFileSync(inside('.gitattributes'), '* filter=x\n')
    writeFileSync(inside('.git/info/exclude'), 'private\n')
    writeFileSync(inside('private'), '1')
    writeFileSync(inside('f'), '1')
    const tree = await ws.versions.snapshot()
    expect(text(await ws.versions.read(tree, 'f'))).toBe('1')
    expect(await ws.versions.read(tree, 'private')).toBe(null)
    expect(await ws.versions.read(tree, '.git/config')).toBe(null)
    expect(existsSync(`${evil}.ran`)).toBe(false)
  })

  it('hold the files of nested repositories too', async () => {
    mkdirSync(inside('sub/deep'), { recursive: true })
    execFileSync('git', ['init', '-q', inside('sub')])
    execFileSync('git', ['init', '-q', inside('sub/deep')])
    writeFileSync(inside('sub/f'), '1')
    writeFileSync(inside('sub/deep/g'), '2')
    const commit = ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'x']
    for (const repo of ['sub', 'sub/deep']) execFileSync('git', ['-C', inside(repo), ...commit])
    const tree = await ws.versions.snapshot()
    writeFileSync(inside('sub/f'), 'changed')
    writeFileSync(inside('sub/new'), '')
    const next = await ws.versions.snapshot()
    expect(await ws.versions.changes(tree, next)).toEqual([
      { path: 'sub/f', change: 'modified' },
      { path: 'sub/new', change: 'added' },
    ])
    await ws.versions.restore(tree)
    expect(readFileSync(inside('sub/f'), 'utf8') + readFileSync(inside('sub/deep/g'), 'utf8')).toBe('12')
  })

  it('do not follow a link that took the place of a folder', async () => {
    mkdirSync(inside('d'))
    writeFileSync(inside('d/f'), 'mine')
    await ws.versions.snapshot()
    mkdirSync(join(folders.base, 'other'))
    writeFileSync(join(folders.base, 'other/f'), 'outside!')
    rmSync(inside('d'), { recursive: true })
    symlinkSync('../other', inside('d'))
    const tree = await ws.versions.snapshot()
    expect(await ws.versions.read(tree, 'd/f')).toBe(null)
    expect(text(await ws.versions.read(tree, 'd'))).toBe('../other')
  })

  it('notice a change of line ends only, whatever .gitattributes says', async () => {
    writeFileSync(inside('.gitattributes'), '* text=auto\n')
    writeFileSync(inside('f'), 'a\nb\n')
    const tree = await ws.versions.snapshot()
    writeFileSync(inside('f'), 'a\r\nb\r\n')
    expect(await ws.versions.changes(tree, await ws.versions.snapshot())).toEqual([{ path: 'f', change: 'modified' }])
  })

  it('notice a change of equal size within the same tick', async () => {
    const trees = new Set<string>()
    for (let i = 0; i < 10; i++) {
      writeFileSync(inside('f'), String(i))
      trees.add(await ws.versions.snapshot())
    }
    expect(trees.size).toBe(10)
  })

  it('are shared by all workspaces of a data folder, and survive a restart', async () => {
    writeFileSync(inside('f'), '1')
    const tree = await ws.versions.snapshot()
    mkdirSync(join(folders.base, 'fork'))
    const fork = await openWorkspace(join(folders.base, 'fork'), { dataFolder: folders.data })
    await fork.versions.restore(tree)
    expect(text(await fork.read('f'))).toBe('1')
    expect(await fork.versions.snapshot()).toBe(tree)
    const again = await openWorkspace(folders.ws, { dataFolder: folders.data })
    expect(await again.versions.snapshot()).toBe(tree)
  })

  it('show bounded differences, and say which version is unknown', async () => {
    writeFileSync(inside('f'), 'one\n')
    const one = await ws.versions.snapshot()
    writeFileSync(inside('f'), `${'two\n'.repeat(1000)}`)
    const two = await ws.versions.snapshot()
    expect(await ws.versions.diff(one, two, 100_000)).toContain('-one\n+two\n')
    const cut = await ws.versions.diff(one, two, 300)
    expect(cut.endsWith('[… cut off at 300 bytes …]\n')).toBe(true)
    expect(cut.length).toBeLessThan(400)
    for (const bad of ['0'.repeat(64), 'HEAD', '--output=x']) {
      await expect(ws.versions.changes(one, bad)).rejects.toEqual(code('RESOURCE_NOT_FOUND'))
      await expect(ws.versions.restore(bad)).rejects.toEqual(code('RESOURCE_NOT_FOUND'))
    }
  })
})

describe('shadow versions and secrets', () => {
  const secret = 'hunter2-and-more'
  const vault = new Map<string, string>()
  const open = (resolve = (ref: string) => vault.get(ref) ?? null) => {
    const { redactBytes } = createRedactor({ key: new Uint8Array(32), known: [secret] })
    const remember = async (references: ReadonlyMap<string, string>) => {
      for (const [ref, value] of references) vault.set(ref, value)
    }
    return openWorkspace(folders.ws, { dataFolder: folders.data, secrets: { redactBytes, remember, resolve } })
  }
  const everyObject = () => {
    const dir = join(folders.data, 'versions.git')
    return execFileSync('git', ['--git-dir', dir, 'cat-file', '--batch', '--batch-all-objects']).toString('latin1')
  }

  it('store references in place of values, and put the values back', async () => {
    ws = await open()
    writeFileSync(inside('.env'), `KEY=${secret}\r\n`)
    writeFileSync(inside('b64'), Buffer.from(secret).toString('base64'))
    writeFileSync(inside('bin'), Buffer.concat([Buffer.from([0, 255, 254]), Buffer.from(secret), Buffer.from([128])]))
    writeFileSync(inside('plain'), 'nothing')
    const before = picture(folders.ws)
    const tree = await ws.versions.snapshot()
    expect(everyObject()).not.toContain(secret)
    expect(everyObject()).not.toContain(Buffer.from(secret).toString('base64'))
    expect(text(await ws.versions.read(tree, '.env'))).toMatch(/^KEY=secret:ku_[0-9a-z]{26}\r\n$/)
    expect(await ws.versions.snapshot()).toBe(tree)

    await ws.versions.materialize(tree, join(folders.base, 'copy'))
    expect(picture(join(folders.base, 'copy'))).toEqual(before)
    for (const name of readdirSync(folders.ws)) rmSync(inside(name))
    await ws.versions.restore(tree)
    expect(picture(folders.ws)).toEqual(before)
  })

  it('touch nothing where a value is gone from the vault', async () => {
    ws = await open()
    writeFileSync(inside('.env'), `KEY=${secret}`)
    writeFileSync(inside('-first'), '1')
    const tree = await ws.versions.snapshot()
    rmSync(inside('.env'))
    writeFileSync(inside('-first'), '2')
    ws = await open(() => null)
    await expect(ws.versions.restore(tree)).rejects.toEqual(code('SECRET_UNAVAILABLE'))
    expect(picture(folders.ws)).toEqual({
      [Buffer.from('-first').toString('hex')]: `- ${Buffer.from('2').toString('hex')}`,
    })
  })
})
