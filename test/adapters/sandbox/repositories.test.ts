import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createSandbox } from '../../../adapters/sandbox/bubblewrap.ts'
import { gitFolders } from '../../../adapters/sandbox/git-folders.ts'
import { holding } from '../../../adapters/sandbox/held-folder.ts'
import { userRepositories } from '../../../adapters/sandbox/repositories.ts'
import { freshFolders } from '../../support/folders.ts'
import { asOrdinaryUser } from '../../support/programs/ordinary-user.ts'
import { never, sandboxOfEach, sh } from '../../support/programs/sandbox-of-each.ts'

describe('repositories in the sandbox', { tags: ['bubblewrap'] }, () => {
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

  it('shows the targets of a .git (by file or commondir) read-only', async () => {
    const inside = (path: string) => join(at.folders.ws, path)
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
    const box = await createSandbox({ workspace: at.folders.ws, hide: [] })
    const configs = ['apart/config', 'common/config']
    const before = configs.map((path) => readFileSync(inside(path), 'utf8'))
    const attacks = [
      ...configs.map((path) => `echo x >> ${path}`),
      'echo .. > worktree/commondir',
      'echo x > s/.git',
      'rm s/.git',
      'mv apart old && cp -r old apart && echo x >> apart/config',
      'mv w old && mkdir w',
    ]
    for (const attack of attacks) expect(await box.exec(sh(attack), never)).not.toMatchObject({ exitCode: 0 })
    expect(configs.map((path) => readFileSync(inside(path), 'utf8'))).toEqual(before)
    expect(await box.exec(sh('git -C s status && touch s/f w/f'), never)).toMatchObject({ exitCode: 0 })
  })

  it('runs no command where a repository could be replaced by a link, a missing folder, or as the workspace itself', async () => {
    const inside = (path: string) => join(at.folders.ws, path)
    const refusal = async () => {
      const ended = at.run('touch ran').then(
        () => 'it ran',
        ({ message, code, beforeEffect }) => ({ message, code, beforeEffect }),
      )
      const refused = await ended
      expect(refused).toMatchObject({ code: 'EXECUTION_FAILED', beforeEffect: true })
      expect(existsSync(inside('ran'))).toBe(false)
      return (refused as { message: string }).message
    }
    for (const path of ['l', 'store', 'real']) mkdirSync(inside(path))
    execFileSync('git', ['init', '-q', '--bare', inside('real/git')])
    symlinkSync('../real/git', inside('l/.git'))
    expect(await refusal()).toMatch(
      /the repository of "l\/\.git" cannot be protected: .* the link "l\/\.git"; put a file there/,
    )
    rmSync(inside('l/.git'))
    symlinkSync('real', inside('alias'))
    writeFileSync(inside('l/.git'), 'gitdir: ../alias/git\n')
    expect(await refusal()).toMatch(/a command could replace the link "alias"/)
    writeFileSync(inside('l/.git'), 'gitdir: ../gone/git\n')
    expect(await refusal()).toMatch(/a command could make "gone", which is missing/)
    writeFileSync(inside('l/.git'), 'gitdir: ..\n')
    expect(await refusal()).toMatch(/the workspace itself is a git folder/)
    writeFileSync(inside('l/.git'), 'gitdir: ../real/git\n')
    expect(await at.run('git -C l rev-parse --git-dir && ! touch real/git/x')).toMatchObject({ exitCode: 0 })
    execFileSync('git', ['init', '-q', '--bare', at.folders.ws])
    expect(await refusal()).toMatch(/the repository of "\." cannot be protected: the workspace itself is a git folder/)
  })

  it('shows a repository without a folder .git read-only, by the signs that git uses', async () => {
    const bare = join(at.folders.ws, 'a/bare')
    execFileSync('git', ['init', '-q', '--bare', bare])
    const config = readFileSync(join(bare, 'config'), 'utf8')
    for (const attack of ['git -C a/bare config a.b c', 'echo x >> a/bare/config', 'mv a b', 'rm -r a/bare'])
      expect(await at.run(attack)).not.toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(bare, 'config'), 'utf8')).toBe(config)
  })

  it('shows repositories read-only however many folders commands have made', async () => {
    // In memory, because a disk takes a minute for so many folders.
    const ws = mkdtempSync('/dev/shm/keepup-test-')
    onTestFinished(() => rmSync(ws, { recursive: true }))
    const box = await createSandbox({ workspace: ws, hide: [] })
    const deep = join(ws, 'a/b/c/d/e')
    execFileSync('git', ['init', '-q', deep])
    const config = readFileSync(join(deep, '.git/config'), 'utf8')
    const many = `node -e "for (let i = 0; i < 20500; i++) require('fs').mkdirSync('many/' + (i % 150) + '/' + i, { recursive: true })"`
    expect(await box.exec(sh(many), never)).toMatchObject({ exitCode: 0 })
    for (const attack of ['cd a/b/c/d/e && git config core.fsmonitor "touch /tmp/x"', 'mv a/b old'])
      expect(await box.exec(sh(attack), never)).not.toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(deep, '.git/config'), 'utf8')).toBe(config)
  })

  it('names the repositories that a command made, and leaves them to later commands', async () => {
    const made = await at.run(
      'git init -q new && git init -q --bare b.git && mkdir -p "odd\xff" && git init -q "odd\xff"',
    )
    expect(made.warnings).toHaveLength(3)
    expect(made.warnings).toContainEqual(
      'the command made the git repository "new/.git"; git runs the programs that its settings name',
    )
    const later = await at.run('git -C new config a.b c && git -C b.git config a.b c')
    expect(later).toMatchObject({ exitCode: 0 })
    expect(later.warnings).toBeUndefined()
    // The user's own, in the place of the former.
    rmSync(join(at.folders.ws, 'new'), { recursive: true })
    execFileSync('git', ['init', '-q', join(at.folders.ws, 'new')])
    expect(await at.run('git -C new config a.b c')).not.toMatchObject({ exitCode: 0 })
  })

  it("shows the user's repositories read-only within a folder that a command has made a git folder", async () => {
    const paths = ['a/.git', 'a/b/.git']
    for (const path of paths) execFileSync('git', ['init', '-q', join(at.folders.ws, path, '..')])
    const configs = () => paths.map((path) => readFileSync(join(at.folders.ws, path, 'config'), 'utf8'))
    const before = configs()
    const made = await at.run('cd a && mkdir objects refs && touch HEAD')
    expect(made.warnings).toEqual([
      'the command made the git repository "a"; git runs the programs that its settings name',
    ])
    for (const attack of [...paths.map((path) => `echo x >> ${path}/config`), 'mv a old', 'mv a/b old', 'rm -r a/.git'])
      expect(await at.run(attack)).not.toMatchObject({ exitCode: 0 })
    expect(configs()).toEqual(before)
    expect(await at.run('cd a && echo x > config && rm -r HEAD objects refs')).toMatchObject({ exitCode: 0 })
    execFileSync('git', ['init', '-q', '--bare', join(at.folders.ws, 'a/c')])
    expect(await at.run('echo x >> a/c/config')).not.toMatchObject({ exitCode: 0 })
    expect(await at.run('git init -q m')).toMatchObject({ exitCode: 0 })
    execFileSync('git', ['init', '-q', join(at.folders.ws, 'm/.git/modules/sub')])
    expect(await at.run('touch m/.git/modules/sub/.git/x')).not.toMatchObject({ exitCode: 0 })
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

it('a workspace that cannot be searched in time runs no command', async () => {
  const { ws, remove } = freshFolders()
  const command = vi.fn(async () => 'ran')
  const around = (limitMs?: number) => userRepositories(ws, limitMs).around(command, () => undefined)
  await expect(around(-1)).rejects.toMatchObject({
    code: 'EXECUTION_FAILED',
    beforeEffect: true,
    message: expect.stringContaining('name a smaller workspace'),
  })
  expect(command).not.toHaveBeenCalled()
  expect(await around()).toBe('ran')
  remove()
})

it('a repository is looked at as often however deep its folder lies', async () => {
  const { ws, remove } = freshFolders()
  onTestFinished(remove)
  const looks = async (depth: number) => {
    const git = join(ws, 'd/'.repeat(depth), '.git')
    mkdirSync(git, { recursive: true })
    return holding(ws, async (folder) => {
      const at = vi.fn(folder.at)
      expect(await gitFolders({ ...folder, at }, git)).toEqual([git])
      return at.mock.calls.length
    })
  }
  expect(await looks(100)).toBe(await looks(1))
})

it('a folder that its owner may not read is read-only, so that no command looks into it', async () => {
  const { base, ws, remove } = freshFolders()
  onTestFinished(remove)
  for (const path of [base, ws]) chmodSync(path, 0o755)
  mkdirSync(join(ws, 'a/closed/.git'), { recursive: true })
  chmodSync(join(ws, 'a/closed'), 0)
  const found = await asOrdinaryUser(() =>
    userRepositories(ws).around(
      async ({ readOnly }) => readOnly,
      () => undefined,
    ),
  )
  expect(found).toEqual([join(ws, 'a/closed')])
})
