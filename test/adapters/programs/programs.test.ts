import { chmodSync, chownSync, lchownSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { liesIn } from '../../../adapters/files/inside.ts'
import { findProgram } from '../../../adapters/processes/programs.ts'
import { freshFolders } from '../../support/folders.ts'

let at: ReturnType<typeof freshFolders>
beforeEach(() => {
  at = freshFolders()
})
afterEach(() => at.remove())

/** Puts an executable file there, and returns its path. */
function program(...path: string[]): string {
  const file = join(at.base, ...path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  return file
}

const find = (path: readonly string[], name = 'git') =>
  findProgram(name, {
    env: { PATH: path.join(':') },
    system: [],
    writable: (found) => liesIn(realpathSync(at.ws), found),
  })

describe('a program that keepup starts', () => {
  it('is not one that an agent put into the workspace, wherever that stands on the PATH', () => {
    program('ws/bin/git')
    program('ws/node_modules/.bin/git')
    const good = program('good/git')
    expect(find([join(at.ws, 'node_modules/.bin'), join(at.ws, 'bin'), join(at.base, 'good')])).toBe(good)
  })

  it('is not one in node_modules, of whatever project', () => {
    program('other/node_modules/.bin/git')
    expect(() => find([join(at.base, 'other/node_modules/.bin')])).toThrow(/passed over: .*\.bin\/git.*node_modules/)
  })

  it('is not found by a relative or empty entry of the PATH', () => {
    program('ws/git')
    const cwd = process.cwd()
    process.chdir(at.ws)
    try {
      for (const path of [[''], ['.'], ['./'], ['', '.'], ['bin']])
        expect(() => find(path)).toThrow(/git was not found.*Install it/)
    } finally {
      process.chdir(cwd)
    }
  })

  it('is not a link into the workspace, nor in a folder that is a link into it, nor a link in the workspace', () => {
    const impostor = program('ws/tools/git')
    mkdirSync(join(at.base, 'links'))
    symlinkSync(impostor, join(at.base, 'links/git'))
    symlinkSync(join(at.ws, 'tools'), join(at.base, 'folder'))
    const good = program('good/git')
    mkdirSync(join(at.ws, 'out'))
    symlinkSync(good, join(at.ws, 'out/git'))
    const bad = ['links', 'folder', 'ws/out'].map((name) => join(at.base, name))
    expect(() => find(bad)).toThrow(/links\/git .*folder\/git .*out\/git /)
    expect(find([...bad, join(at.base, 'good')])).toBe(good)
  })

  it('is not one that every user can replace', () => {
    program('open/git')
    chmodSync(join(at.base, 'open'), 0o777)
    expect(() => find([join(at.base, 'open')])).toThrow(/every user can change/)
    chmodSync(join(at.base, 'open'), 0o755)
    chmodSync(program('open/git'), 0o757)
    expect(() => find([join(at.base, 'open')])).toThrow(/every user can change/)
  })

  it('is not reached over a link in between that lies in a workspace, or where every user can write', () => {
    const good = program('good/git')
    for (const middle of ['ws/middle', 'open']) {
      mkdirSync(join(at.base, middle, 'way'), { recursive: true })
      symlinkSync(good, join(at.base, middle, 'way/git'))
      mkdirSync(join(at.base, `to/${middle}`), { recursive: true })
      symlinkSync(join(at.base, middle, 'way/git'), join(at.base, `to/${middle}/git`))
      // The folder itself is a link that leads there and back.
      symlinkSync(join(at.base, 'good'), join(at.base, middle, 'folder'))
      symlinkSync(join(at.base, middle, 'folder'), join(at.base, `to/${middle}/folder`))
    }
    chmodSync(join(at.base, 'open'), 0o777)
    const bad = ['to/ws/middle', 'to/ws/middle/folder', 'to/open', 'to/open/folder'].map((name) => join(at.base, name))
    for (const folder of bad) expect(() => find([folder])).toThrow(/lies in a workspace|every user can change/)
    expect(find([...bad, join(at.base, 'good')])).toBe(good)
  })

  it.runIf(process.getuid?.() === 0)('is not one that another user or a group of users can replace', () => {
    program('theirs/git')
    chownSync(join(at.base, 'theirs'), 12_345, 0)
    expect(() => find([join(at.base, 'theirs')])).toThrow(/another user owns .*theirs/)
    chownSync(join(at.base, 'theirs'), 0, 12_345)
    expect(find([join(at.base, 'theirs')])).toBe(join(at.base, 'theirs/git'))
    chmodSync(join(at.base, 'theirs'), 0o775)
    expect(() => find([join(at.base, 'theirs')])).toThrow(/a group of users can change .*theirs/)
    // The link belongs to another user, in a sticky folder that every user may write to.
    mkdirSync(join(at.base, 'sticky'))
    chmodSync(join(at.base, 'sticky'), 0o1777)
    symlinkSync(program('good/git'), join(at.base, 'sticky/git'))
    lchownSync(join(at.base, 'sticky/git'), 12_345, 0)
    expect(() => find([join(at.base, 'sticky')])).toThrow(/another user owns .*sticky\/git/)
  })

  it('is started by its real path where that bears its name', () => {
    const real = program('cellar/git')
    mkdirSync(join(at.base, 'bin'))
    symlinkSync('../cellar/git', join(at.base, 'bin/git'))
    symlinkSync('bin', join(at.base, 'current'))
    expect(find([join(at.base, 'current')])).toBe(real)
  })

  it('is a file that can be executed; a system folder comes before the PATH', () => {
    mkdirSync(join(at.base, 'a/git'), { recursive: true })
    chmodSync(program('b/git'), 0o644)
    const good = program('c/git')
    const path = ['a', 'b', 'c'].map((name) => join(at.base, name))
    expect(find(path)).toBe(good)
    const system = dirname(program('system/git'))
    expect(findProgram('git', { env: { PATH: path.join(':') }, system: [system] })).toBe(join(system, 'git'))
  })

  it('keeps the name of a link, by which programs such as busybox decide', () => {
    const box = program('good/busybox')
    symlinkSync(box, join(at.base, 'good/ps'))
    expect(find([join(at.base, 'good')], 'ps')).toBe(join(at.base, 'good/ps'))
  })
})
