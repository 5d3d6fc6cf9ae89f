// @module-tag git
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSandbox } from '../../../adapters/sandbox/bubblewrap.ts'
import { openWorkspace } from '../../../adapters/workspace/open.ts'
import { freshFolders } from '../../support/folders.ts'
import { never, sh } from '../../support/programs/sandbox-of-each.ts'

// Files that an agent may leave in its workspace run nothing when keepup itself works there.

let at: ReturnType<typeof freshFolders>
const ran = () => join(at.base, 'ran')
const inside = (path: string) => join(at.ws, path)
beforeEach(() => {
  at = freshFolders()
})
afterEach(() => {
  vi.unstubAllEnvs()
  at.remove()
})

/** An executable that tells that it ran. */
function impostor(path: string): string {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, `#!/bin/sh\necho "$0 $*" >> '${ran()}'\nexit 1\n`, { mode: 0o755 })
  return path
}

const told = () => (existsSync(ran()) ? readFileSync(ran(), 'utf8') : '')

/** All that keepup does with git in a workspace. */
async function work(): Promise<void> {
  const { versions, search } = await openWorkspace(at.ws, { dataFolder: at.data })
  writeFileSync(inside('a.txt'), 'one\n')
  const first = await versions.snapshot()
  writeFileSync(inside('a.txt'), 'two\n')
  const second = await versions.snapshot()
  expect(await versions.diff(first, second, 10_000)).toContain('+two')
  await versions.restore(first)
  const copy = join(at.base, 'copy')
  await versions.materialize(second, copy)
  rmSync(copy, { recursive: true })
  await search({ pattern: 'one', regex: false, path: '.', caseSensitive: true, limit: 9 }, never)
  await versions.read('0'.repeat(64), 'a.txt').catch(() => null)
}

describe('the git of the shadow versions', () => {
  it('is the git of the system, with impostors first on the PATH', async () => {
    const folders = ['node_modules/.bin', 'bin', '.'].map(inside)
    for (const folder of folders) for (const name of ['git', 'bwrap', 'ps']) impostor(join(folder, name))
    mkdirSync(join(at.base, 'links'))
    symlinkSync(inside('bin/git'), join(at.base, 'links/git'))
    vi.stubEnv('PATH', ['.', '', ...folders, join(at.base, 'links'), process.env.PATH].join(delimiter))
    await work()
    expect(told()).toBe('')
  })

  it('runs no filter, hook, monitor, driver or transport of a configuration, whichever file names it', async () => {
    await work()
    const evil = impostor(inside('evil'))
    const settings = [
      `[core]\n\tfsmonitor = ${evil}\n\thooksPath = ${at.ws}\n\tpager = ${evil}\n\tsshCommand = ${evil}\n\teditor = ${evil}`,
      `\tgitProxy = ${evil}\n\talternateRefsCommand = ${evil}\n\tattributesFile = ${inside('.gitattributes')}`,
      `[filter "x"]\n\tclean = ${evil}\n\tsmudge = ${evil}\n\tprocess = ${evil}\n\trequired = true`,
      `[diff]\n\texternal = ${evil}\n[diff "x"]\n\tcommand = ${evil}\n\ttextconv = ${evil}\n[merge "x"]\n\tdriver = ${evil}`,
      `[alias]\n\tls-files = !${evil}\n[gc]\n\tauto = 1\n[extensions]\n\tpartialClone = origin`,
      `[remote "origin"]\n\turl = ext::${evil}\n\tuploadpack = ${evil}\n\tpromisor = true\n\tvcs = ${evil}`,
    ].join('\n')
    writeFileSync(inside('.gitattributes'), '* filter=x diff=x merge=x text eol=crlf working-tree-encoding=UTF-16\n')
    writeFileSync(inside('.gitconfig'), settings)
    execFileSync('git', ['init', '-q', at.ws])
    appendFileSync(inside('.git/config'), settings)
    for (const hook of ['post-index-change', 'reference-transaction', 'pre-auto-gc']) impostor(inside(hook))
    vi.stubEnv('HOME', at.ws)
    vi.stubEnv('XDG_CONFIG_HOME', at.ws)
    vi.stubEnv('GIT_EXTERNAL_DIFF', evil)
    vi.stubEnv('GIT_CONFIG_COUNT', '1')
    vi.stubEnv('GIT_CONFIG_KEY_0', 'core.fsmonitor')
    vi.stubEnv('GIT_CONFIG_VALUE_0', evil)
    await work()
    expect(told()).toBe('')
    // Also where a command without a sandbox has written to the data folder.
    appendFileSync(join(at.data, 'versions.git/config'), settings)
    for (const hook of ['post-index-change', 'reference-transaction'])
      impostor(join(at.data, 'versions.git/hooks', hook))
    await work()
    expect(told()).toBe('')
    expect(readFileSync(join(at.data, 'versions.git/config'), 'utf8')).not.toContain('evil')
  })

  it('starts no transport for a missing object, though its own configuration was changed while it was open', async () => {
    writeFileSync(inside('a.txt'), 'one\n')
    const { versions } = await openWorkspace(at.ws, { dataFolder: at.data })
    const tree = await versions.snapshot()
    const evil = impostor(inside('evil'))
    const remote = `[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\turl = ${at.ws}\n\tuploadpack = ${evil}\n\tpromisor = true\n`
    appendFileSync(join(at.data, 'versions.git/config'), remote)
    const objects = join(at.data, 'versions.git/objects')
    for (const name of readdirSync(objects)) rmSync(join(objects, name), { recursive: true })
    await expect(versions.read(tree, 'a.txt')).rejects.toThrow()
    expect(told()).toBe('')
  })
})

it('the launcher of a clone finds its clone without the PATH', () => {
  for (const name of ['dirname', 'readlink', 'pwd', 'cd', 'node']) impostor(inside(`bin/${name}`))
  const launcher = join(import.meta.dirname, '../../../api/cli/bin/keepup')
  const env = { HOME: at.base, PATH: ['.', inside('bin'), process.env.PATH].join(delimiter) }
  const out = execFileSync(launcher, ['--version'], { cwd: inside('bin'), env, encoding: 'utf8' })
  expect([told(), out]).toEqual(['', expect.stringMatching(/^\d/)])
})

describe('bubblewrap', { tags: ['bubblewrap'] }, () => {
  it('is the one of the system, with impostors first on the PATH', async () => {
    impostor(inside('node_modules/.bin/bwrap'))
    const env = { HOME: at.base, PATH: ['.', inside('node_modules/.bin'), process.env.PATH].join(delimiter) }
    const box = await createSandbox({ workspace: at.ws, hide: [], env })
    expect((await box.exec(sh('echo fine'), never)).stdout).toBe('fine\n')
    expect(told()).toBe('')
  })

  it('is started without the variables of a command, which are for the command alone', async () => {
    const box = await createSandbox({ workspace: at.ws, hide: [] })
    // The loader of any program that sees these writes a file: outside of the sandbox only bubblewrap itself could.
    const env = { LD_DEBUG: 'files', LD_DEBUG_OUTPUT: join(at.base, 'loaded'), GREETING: 'two\nlines' }
    const result = await box.exec(sh('printf %s "$GREETING$KEEPUP_COMMAND"', { env }), never)
    expect(result.stdout).toBe('two\nlines')
    expect(readdirSync(at.base).sort()).toEqual(['data', 'ws'])
  })
})
