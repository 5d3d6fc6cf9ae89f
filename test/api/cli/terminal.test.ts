// @module-tag git
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { startOf } from '../../../adapters/sandbox/process-table.ts'
import { atTerminal } from '../../support/programs/terminal.ts'
import { cliFolder, entry, idIn } from '../support/cli.ts'

const CTRL_C = '\u0003'
const ENTER = '\r'

// What needs a real terminal: its modes, its size, its Ctrl-C. What the answers mean is in cli-questions.test.ts.

describe('a run at a terminal', { tags: ['python3'], timeout: 120_000 }, () => {
  const folder = cliFolder()
  afterAll(() => folder.clean())

  const keepup = (...args: string[]) => sized(args)
  const sized = (args: readonly string[], size?: string) => {
    const command = [process.execPath, entry, '--data', folder.data, '--by', 'ada', ...args]
    const terminal = atTerminal(command, { cwd: folder.root, env: folder.env, ...(size && { size }) })
    onTestFinished(() => void terminal.kill())
    return terminal
  }
  const writing = (workspace: string) => keepup('run', 'write it', '-w', workspace, '--tools', 'write_file')

  it('asks for an approval right there, with the diff, and goes on', async () => {
    const workspace = folder.workspace()
    const terminal = writing(workspace)
    await terminal.sees('write_file asks:')
    await terminal.sees('+hello')
    await terminal.sees('Let it happen?')
    expect(existsSync(join(workspace, 'hello.txt'))).toBe(false)
    await terminal.sees('y: approve, n: reject; Enter alone: leave it open')
    terminal.type(`y${ENTER}`)
    await terminal.sees('approved by ada')
    await terminal.sees('write approved')
    expect(await terminal.ended).toBe(0)
    expect(readFileSync(join(workspace, 'hello.txt'), 'utf8')).toBe('hello\n')
  })

  it('is not answered by what was typed before the question', async () => {
    const workspace = folder.workspace()
    const terminal = writing(workspace)
    terminal.type(`y${ENTER}y\ny`)
    await terminal.sees('Let it happen?')
    terminal.type(ENTER)
    expect(await terminal.ended).toBe(8)
    expect(existsSync(join(workspace, 'hello.txt'))).toBe(false)
  })

  it('leaves the question open at Ctrl-C', async () => {
    const workspace = folder.workspace()
    const terminal = writing(workspace)
    await terminal.sees('Let it happen?')
    terminal.type(CTRL_C)
    await terminal.sees('keepup.js approve')
    expect(await terminal.ended).toBe(8)
    expect(terminal.shown()).not.toContain('approved by')
    expect(existsSync(join(workspace, 'hello.txt'))).toBe(false)
  })

  it('shows a long question whole, also where the terminal does not know its size, and takes a line feed', async () => {
    const terminal = sized(['run', 'ask me at length', '--no-workspace'], 'cols 0 rows 0')
    await terminal.sees('word 119 and the end?')
    await terminal.sees('Your answer')
    terminal.type('blue\n')
    await terminal.sees('DONE')
    expect(await terminal.ended).toBe(0)
  })

  it('pauses at the first Ctrl-C and says how to go on', async () => {
    const terminal = keepup(...folder.waits(folder.workspace()))
    await terminal.sees('thinking')
    terminal.type(CTRL_C)
    await terminal.sees('pausing')
    await terminal.sees('the run is paused')
    await terminal.sees('keepup.js resume')
    expect(await terminal.ended).toBe(8)
    const { out } = await folder.look('-o', 'json', 'runs', 'show', idIn(terminal.shown()))
    expect(JSON.parse(out)).toMatchObject({ run: { waiting: [{ for: 'pause' }] } })
  })

  it('breaks off a command at the second Ctrl-C, also one that ignores signals', async () => {
    const workspace = folder.workspace()
    const terminal = keepup('run', 'linger', '--no-sandbox', '--approve', 'run_command', '-w', workspace)
    await terminal.sees('lingering')
    terminal.type(CTRL_C)
    await terminal.sees('pausing')
    terminal.type(CTRL_C)
    await terminal.sees(`aborted; go on with: ${folder.program} resume`)
    expect(await terminal.ended).toBe(130)
    expect(terminal.shown()).not.toContain('keepup: ')
    expect(startOf(Number(readFileSync(join(workspace, 'pid'), 'utf8')))).toBeNull()
    expect((await folder.look('verify', idIn(terminal.shown()))).code).toBe(0)
  })

  it('aborts at the second Ctrl-C', async () => {
    const terminal = keepup('run', 'stall', '--no-workspace')
    await terminal.sees('turn 1')
    terminal.type(CTRL_C)
    await terminal.sees('pausing')
    terminal.type(CTRL_C)
    await terminal.sees(`aborted; go on with: ${folder.program} resume`)
    expect(await terminal.ended).toBe(130)
    expect((await folder.look('verify', idIn(terminal.shown()))).code).toBe(0)
  })
})
