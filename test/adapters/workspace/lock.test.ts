import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { tryHold } from '../../../adapters/files/exclusive.ts'
import { lockWorkspace } from '../../../adapters/workspace/lock.ts'
import { freshFolders } from '../../support/folders.ts'

let folders: ReturnType<typeof freshFolders>
beforeEach(() => {
  folders = freshFolders()
})
afterEach(() => {
  folders.remove()
})

describe('the lock of a workspace', () => {
  it('is refused to a second run of the same real path, until it is released', () => {
    const alias = join(folders.base, 'alias')
    symlinkSync(folders.ws, alias)
    const lock = lockWorkspace(folders.ws, folders.data, 'one')
    expect(() => lockWorkspace(alias, folders.data, 'two')).toThrow(/another run, one, works in/)
    lock.release()
    const next = lockWorkspace(alias, folders.data, 'two')
    lock.release()
    expect(() => lockWorkspace(folders.base, folders.data, 'three')).toThrow(/another run, two, works in/)
    next.release()
  })

  it('is free after an error: the name of the run or the lock of another folder cannot be written', () => {
    const inside = join(folders.ws, 'a')
    mkdirSync(inside)
    const locks = join(folders.data, 'locks')
    const lock = lockWorkspace(inside, folders.data, 'one')
    const name = readdirSync(locks).find((one) => one.endsWith('.run'))!
    const named = readFileSync(join(locks, name))
    lock.release()
    mkdirSync(join(locks, name))
    expect(() => lockWorkspace(inside, folders.data, 'one')).toThrow(expect.objectContaining({ code: 'EISDIR' }))
    rmdirSync(join(locks, name))
    lockWorkspace(inside, folders.data, 'one').release()
    const database = join(locks, name.replace('.run', ''))
    rmSync(database)
    mkdirSync(database)
    writeFileSync(join(locks, name), named)
    expect(() => lockWorkspace(folders.ws, folders.data, 'two')).toThrow()
    rmdirSync(database)
    lockWorkspace(folders.ws, folders.data, 'two').release()
  })

  it('is taken by one process at a time, because taking it also looks for nested folders', () => {
    lockWorkspace(folders.ws, folders.data, 'one').release()
    const gate = tryHold(join(folders.data, 'locks', 'workspaces.db'))!
    expect(() => lockWorkspace(folders.ws, folders.data, 'two')).toThrow()
    gate.release()
    lockWorkspace(folders.ws, folders.data, 'two').release()
  })

  it('is refused to a second run inside the folder or around it, and not beside it', () => {
    const [inside, beside] = [join(folders.ws, 'a/b'), `${folders.ws}-2`]
    for (const path of [inside, beside]) mkdirSync(path, { recursive: true })
    const whole = lockWorkspace(folders.ws, folders.data, 'one')
    const busy = (works: string) =>
      expect.objectContaining({ code: 'WORKSPACE_BUSY', message: expect.stringContaining(works) })
    expect(() => lockWorkspace(inside, folders.data, 'two')).toThrow(busy(`another run, one, works in ${folders.ws};`))
    expect(() => lockWorkspace(folders.base, folders.data, null)).toThrow(busy(`works in ${folders.ws};`))
    lockWorkspace(beside, folders.data, 'two').release()
    lockWorkspace(inside, folders.data, 'one').release()
    whole.release()
    const part = lockWorkspace(inside, folders.data, null)
    expect(() => lockWorkspace(folders.ws, folders.data, 'two')).toThrow(busy(`another run works in ${inside};`))
    part.release()
    lockWorkspace(folders.ws, folders.data, 'two').release()
  })

  it('ends with its process, however that ends, and not before', async () => {
    const module = new URL('../../../adapters/workspace/lock.ts', import.meta.url).href
    const program = `import { lockWorkspace } from ${JSON.stringify(module)}
      lockWorkspace(process.argv[1], process.argv[2], 'one')
      setTimeout(() => (gc(), console.log('locked')))
      process.stdin.resume()`
    const child = spawn(
      process.execPath,
      ['--expose-gc', '--input-type=module', '-e', program, folders.ws, folders.data],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    )
    onTestFinished(() => void child.kill('SIGKILL'))
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const other = () => lockWorkspace(folders.ws, folders.data, 'two')
    expect(other).toThrow(/another run, one, works in/)
    // The same run holds the lock, in another process.
    const itself = () => lockWorkspace(folders.ws, folders.data, 'one')
    expect(itself).toThrow(/a process that drives this run, or drove it, still holds/)
    expect(() => lockWorkspace(folders.base, folders.data, 'two')).toThrow(/another run, one, works in/)
    child.kill('SIGKILL')
    await new Promise((resolve) => child.on('exit', resolve))
    lockWorkspace(folders.base, folders.data, 'two').release()
    lockWorkspace(folders.ws, folders.data, 'one').release()
  })
})
