import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { confine } from '../../../adapters/agents/process/confine.ts'
import { createSandbox } from '../../../adapters/sandbox/bubblewrap.ts'
import { confineProgram } from '../../../adapters/sandbox/confined-program.ts'
import { never, sandboxOfEach, sh } from '../../support/programs/sandbox-of-each.ts'

describe('a folder that another process replaces before bubblewrap mounts it', {
  tags: ['bubblewrap'],
}, () => {
  const at = sandboxOfEach()
  let outside: string
  beforeEach(() => {
    outside = join(at.folders.base, 'outside')
    mkdirSync(join(outside, '.git'), { recursive: true })
    writeFileSync(join(outside, 'private'), 'private')
    writeFileSync(join(outside, '.git/config'), 'private')
  })

  const swap = (folder: string) => {
    renameSync(folder, `${folder}.old`)
    symlinkSync(outside, folder)
  }

  /** Runs a program with the descriptors for bubblewrap's reports and the filter of system calls. */
  const started = (file: string, args: readonly string[], filter: Buffer | null) => {
    const path = join(at.folders.base, 'filter')
    writeFileSync(path, filter ?? '')
    const [status, calls] = [openSync('/dev/null', 'w'), openSync(path, 'r')]
    try {
      return spawnSync(file, args, { stdio: ['ignore', 'pipe', 'pipe', status, calls], encoding: 'utf8' })
    } finally {
      for (const descriptor of [status, calls]) closeSync(descriptor)
    }
  }

  /** bubblewrap, after a link or another folder has replaced a folder. */
  const boxThatLoses = async (folder: string, how: 'ln -s' | 'mv' = 'ln -s') => {
    const [armed, bwrap] = [join(at.folders.base, 'armed'), join(at.folders.base, 'bwrap')]
    const swap = `rm '${armed}'; mv "${folder}" "${folder}.old"; ${how} "${outside}" "${folder}"`
    writeFileSync(bwrap, `#!/bin/sh\n[ -e '${armed}' ] && { ${swap}; }\nexec bwrap "$@"\n`, { mode: 0o755 })
    const box = await createSandbox({ workspace: at.folders.ws, hide: [], bwrap })
    writeFileSync(armed, '')
    return box
  }

  it('as the workspace gives a command nothing', async () => {
    const box = await boxThatLoses(at.folders.ws)
    await expect(box.exec(sh('cat private; echo x > scribbled'), never)).rejects.toMatchObject({
      code: 'SANDBOX_VIOLATION',
      beforeEffect: true,
      message: expect.stringContaining(at.folders.ws),
    })
    expect(existsSync(join(outside, 'scribbled'))).toBe(false)
  })

  it('around a repository gives a command no other folder', async () => {
    const folder = join(at.folders.ws, "it's")
    mkdirSync(join(folder, '.git'), { recursive: true })
    const box = await boxThatLoses(folder, 'mv')
    await expect(box.exec(sh(`cat "it's/private"`), never)).rejects.toMatchObject({ code: 'SANDBOX_VIOLATION' })
  })

  it('gives a confined program nothing', async () => {
    const warnings: string[] = []
    const options = { readable: [], hide: [], network: false, dataFolder: at.folders.data, id: 'program' }
    const program = { file: '/bin/sh', args: ['-c', 'cat private; echo x > scribbled'], env: {} }
    const confined = await confineProgram(program, {
      ...options,
      folder: at.folders.ws,
      warn: (text) => warnings.push(text),
    })
    swap(at.folders.ws)
    const { status, stdout, stderr } = started(confined.file, confined.args, confined.filter)
    confined.ended()
    expect({ status, stdout }).toEqual({ status: 125, stdout: '' })
    expect(stderr).toContain('another process replaced a folder')
    expect(existsSync(join(outside, 'scribbled'))).toBe(false)
  })

  it('gives a confined agent nothing', async () => {
    const rules = { writable: [], readable: [], hide: [] }
    const { args, bwrap, guard } = await confine({
      ...{ rules, program: '/bin/sh', cwd: at.folders.ws, keeps: undefined, writable: [], readable: [] },
      ...{ env: process.env, home: undefined, dataFolder: undefined, bwrap: undefined },
    })
    swap(at.folders.ws)
    const script = ['/bin/sh', '-c', 'cat private; echo x > scribbled']
    const { status, stdout } = started(bwrap, [...args, '--chdir', at.folders.ws, '--', ...guard, ...script], null)
    expect({ status, stdout }).toEqual({ status: 125, stdout: '' })
    expect(existsSync(join(outside, 'scribbled'))).toBe(false)
  })

  it('is refused if the link is there already', async () => {
    swap(at.folders.ws)
    await expect(at.run('cat private')).rejects.toMatchObject({ code: 'SANDBOX_VIOLATION', beforeEffect: true })
  })
})
