import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findProgram, liesIn } from '../../../adapters/programs/programs.ts'
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
