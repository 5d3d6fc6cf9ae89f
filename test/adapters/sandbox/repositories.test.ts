import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../../../adapters/sandbox/bubblewrap.ts'
import { userRepositories } from '../../../adapters/sandbox/repositories.ts'
import { skipWithoutBubblewrap } from '../../support/bubblewrap.ts'
import { freshFolders } from '../../support/folders.ts'
import { never, sandboxOfEach, sh } from '../../support/sandbox-of-each.ts'

describe.skipIf(skipWithoutBubblewrap)('repositories in the sandbox', () => {
  const at = sandboxOfEach()

  it("shows the user's repository read-only, and lets a command make one of its own", async () => {
    execFileSync('git', ['init', '-q', at.folders.ws])
    const git = join(at.folders.ws, '.git')
    const config = readFileSync(join(git, 'config'), 'utf8')
    const hooks = existsSync(join(git, 'hooks')) ? readdirSync(join(git, 'hooks')) : null
    const box = await createSandbox({ workspace: at.folders.ws, hide: [] })
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
    expect(readdirSync(at.folders.ws)).toEqual(['.git'])
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
      mkdirSync(join(at.folders.ws, path), { recursive: true })
      execFileSync('git', ['init', '-q', join(at.folders.ws, path)])
      return readFileSync(join(at.folders.ws, path, '.git/config'), 'utf8')
    }
    const before = repository('a/b')
    const box = await createSandbox({ workspace: at.folders.ws, hide: [] })
    const attacks = (path: string) => [
      `cd ${path} && git config core.fsmonitor "touch /tmp/x"`,
      `rm -rf ${path}/.git`,
      `mv ${path} old && mkdir -p ${path} && cp -r old/.git ${path}/.git && echo x >> ${path}/.git/config`,
      `mv $(dirname ${path}) old && mkdir -p ${path} && cp -r old/*/.git ${path}/.git && echo x >> ${path}/.git/config`,
    ]
    for (const attack of attacks('a/b')) expect(await box.exec(sh(attack), never)).not.toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(at.folders.ws, 'a/b/.git/config'), 'utf8')).toBe(before)
    const later = repository('c/d')
    for (const attack of attacks('c/d')) expect(await box.exec(sh(attack), never)).not.toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(at.folders.ws, 'c/d/.git/config'), 'utf8')).toBe(later)
    expect(await box.exec(sh('echo x > a/b/f && cat a/b/f'), never)).toMatchObject({ exitCode: 0, stdout: 'x\n' })
  })

  it('shows the targets of a .git (by link, file or commondir) read-only, and puts a link back', async () => {
    const inside = (path: string) => join(at.folders.ws, path)
    mkdirSync(inside('l'))
    execFileSync('git', ['init', '-q', inside('l')])
    renameSync(inside('l/.git'), inside('store'))
    symlinkSync('../store', inside('l/.git'))
    execFileSync('git', ['init', '-q', `--separate-git-dir=${inside('apart')}`, inside('s')])
    mkdirSync(inside('worktree'))
    for (const [file, text] of [
      ['HEAD', 'ref: refs/heads/main'],
      ['commondir', '../common'],
    ])
      writeFileSync(inside(`worktree/${file}`), `${text}\n`)
    execFileSync('git', ['init', '-q', '--bare', inside('common')])
    mkdirSync(inside('w'))
    writeFileSync(inside('w/.git'), 'gitdir: ../worktree\n')
    const told: string[] = []
    const box = await createSandbox({ workspace: at.folders.ws, hide: [], warn: (text) => told.push(text) })
    const configs = ['store/config', 'apart/config', 'common/config']
    const before = configs.map((path) => readFileSync(inside(path), 'utf8'))
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
      expect(readlinkSync(inside('l/.git'))).toBe('../store')
    }
    expect(told).toEqual(Array(4).fill(expect.stringContaining('l/.git; it was put back')))
    expect(configs.map((path) => readFileSync(inside(path), 'utf8'))).toEqual(before)
    expect(await box.exec(sh('git -C l status && git -C s status && touch l/f s/f'), never)).toMatchObject({
      exitCode: 0,
    })
  })

  it('shows the repositories of installed packages read-only, and leaves the packages writable', async () => {
    const packages = ['node_modules/a', 'node_modules/@s/b', 'sub/node_modules/a/node_modules/c']
    for (const path of packages) execFileSync('git', ['init', '-q', join(at.folders.ws, path)])
    const box = await createSandbox({ workspace: at.folders.ws, hide: [] })
    for (const path of packages) {
      expect(await box.exec(sh(`echo x >> ${path}/.git/config`), never)).not.toMatchObject({ exitCode: 0 })
      expect(await box.exec(sh(`touch ${path}/index.js`), never)).toMatchObject({ exitCode: 0 })
    }
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
  expect(told).toEqual([261, 1].map((most) => expect.stringContaining(`only ${most} folders of ${ws} were searched`)))
  remove()
})
