// @module-tag git
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { fakeTerminal } from '../../support/programs/fake-terminal.ts'
import { cliFolder, idIn, inProcess } from '../support/cli.ts'

const CTRL_C = '\u0003'
const ENTER = '\r'
const DOWN = '\u001b[B'

describe('a question at a terminal', { timeout: 60_000 }, () => {
  const folder = cliFolder()
  afterAll(() => folder.clean())
  const at = (terminal: ReturnType<typeof fakeTerminal>, ...args: string[]) =>
    inProcess(
      ['--data', folder.data, '--by', 'ada', ...args],
      { KEEPUP_MODEL: folder.env.KEEPUP_MODEL },
      terminal.streams,
    )
  const writing = (terminal: ReturnType<typeof fakeTerminal>, workspace: string) =>
    at(terminal, 'run', 'write it', '-w', workspace, '--tools', 'write_file')

  it('is not answered by what was typed before it appeared', async () => {
    const [terminal, workspace] = [fakeTerminal(), folder.workspace()]
    terminal.type('y\ry\ry\n')
    const ended = writing(terminal, workspace)
    await terminal.sees('Let it happen?')
    terminal.type(CTRL_C)
    expect((await ended).code).toBe(8)
    expect(existsSync(join(workspace, 'hello.txt'))).toBe(false)
    expect(terminal.shown()).not.toContain('approved by')
  })

  it('takes a refusal with its reason', async () => {
    const [terminal, workspace] = [fakeTerminal(), folder.workspace()]
    const ended = writing(terminal, workspace)
    await terminal.sees('Let it happen?')
    terminal.type(`n${ENTER}`)
    await terminal.sees('Why?')
    terminal.type(`not today${ENTER}`)
    await terminal.sees('APPROVAL_REJECTED')
    await terminal.sees('not today')
    await terminal.sees('write rejected')
    expect((await ended).code).toBe(0)
    expect(existsSync(join(workspace, 'hello.txt'))).toBe(false)
  })

  it.each([
    ['Enter alone', ENTER],
    ['Enter after an arrow', DOWN + ENTER],
    ['Ctrl-C', CTRL_C],
  ])('stays open at %s', async (_, keys) => {
    const [terminal, workspace] = [fakeTerminal(), folder.workspace()]
    const ended = writing(terminal, workspace)
    await terminal.sees('Let it happen?')
    terminal.type(keys)
    await terminal.sees('keepup approve')
    expect((await ended).code).toBe(8)
    expect(terminal.shown()).not.toContain('approved by')
    expect(existsSync(join(workspace, 'hello.txt'))).toBe(false)
  })

  it('appears again where the answer is none of those it names', async () => {
    const terminal = fakeTerminal()
    const ended = writing(terminal, folder.workspace())
    await terminal.sees('Let it happen?')
    terminal.type(`x${ENTER}`)
    await terminal.sees('type y or n')
    terminal.type(CTRL_C)
    expect((await ended).code).toBe(8)
  })

  it('of the agent takes the answer', async () => {
    const terminal = fakeTerminal()
    const ended = at(terminal, 'run', 'ask me', '--no-workspace')
    await terminal.sees('Your answer')
    terminal.type(`blue${ENTER}`)
    await terminal.sees('DONE')
    expect(await ended).toMatchObject({ code: 0, out: 'blue\n' })
  })

  it('precedes a change of files, and changes none where the answer is no', async () => {
    const workspace = folder.workspace()
    const run = await folder.look('run', 'write', '-w', workspace, '--tools', 'write_file', '--approve', 'write_file')
    const answer = async (keys: string) => {
      const terminal = fakeTerminal()
      const ended = at(terminal, 'restore', idIn(run.err), '0')
      await terminal.sees('- hello.txt')
      await terminal.sees('Change these files?')
      terminal.type(keys)
      return { terminal, code: (await ended).code }
    }
    expect((await answer(ENTER)).code).toBe(130)
    expect(existsSync(join(workspace, 'hello.txt'))).toBe(true)
    const yes = await answer(`y${ENTER}`)
    expect([yes.code, existsSync(join(workspace, 'hello.txt'))]).toEqual([0, false])
    expect(yes.terminal.shown()).toContain('to bring it back: keepup restore')
  })

  it('precedes the emptying of a body, and empties none where the answer is no', async () => {
    const run = await folder.look('run', 'finish', '--no-workspace')
    const answer = async (keys: string) => {
      const terminal = fakeTerminal()
      const ended = at(terminal, 'erase', idIn(run.err), '--revision', '1', '--reason', 'private')
      await terminal.sees('@1 turn 0 user_input')
      await terminal.sees('Empty them?')
      terminal.type(keys)
      return (await ended).code
    }
    const task = async () => (await folder.look('runs', 'show', idIn(run.err))).out
    expect([await answer(ENTER), await task()]).toEqual([130, expect.stringMatching(/^task +finish$/m)])
    expect([await answer(`y${ENTER}`), await task()]).toEqual([0, expect.stringMatching(/^task +\[erased\]$/m)])
  })

  it('takes what is typed from then on, and not a word of it for the next question', async () => {
    const [terminal, workspace] = [fakeTerminal(), folder.workspace()]
    const ended = writing(terminal, workspace)
    await terminal.sees('Let it happen?')
    terminal.type('n\rtyped ahead\r')
    await terminal.sees('Why?')
    terminal.type('not today\r')
    expect((await ended).code).toBe(0)
    expect(terminal.shown()).toContain('not today')
    expect(terminal.shown()).not.toContain('typed ahead')
  })

  it('that erases or restores is not answered beforehand either', async () => {
    const run = await folder.look('run', 'finish', '--no-workspace')
    const terminal = fakeTerminal()
    terminal.type('y\r')
    const erased = at(terminal, 'erase', idIn(run.err), '--revision', '1', '--reason', 'private')
    await terminal.sees('Empty them?')
    terminal.type('\r')
    expect((await erased).code).toBe(130)
    expect(terminal.shown()).toContain('nothing was erased')
  })

  it.each([
    ['SIGINT', 8, 'keepup approve'],
    ['SIGTERM', 130, 'ended by SIGTERM; the question stays open'],
    ['SIGHUP', 130, 'ended by SIGHUP; the question stays open'],
  ] as const)('ends at once at a %s, and stays open', async (signal, code, said) => {
    const [terminal, workspace] = [fakeTerminal(), folder.workspace()]
    const ended = writing(terminal, workspace)
    await terminal.sees('Let it happen?')
    process.emit(signal, signal)
    expect((await ended).code).toBe(code)
    expect(terminal.shown()).toContain(said)
    expect(terminal.shown()).not.toContain('pausing')
    expect((await folder.look('approvals', '-o', 'json')).out).toContain(idIn(terminal.shown()))
    expect(process.listenerCount(signal)).toBe(0)
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('about what cannot be taken back changes nothing at a %s', async (signal) => {
    const run = await folder.look('run', 'finish', '--no-workspace')
    const terminal = fakeTerminal()
    const erased = at(terminal, 'erase', idIn(run.err), '--revision', '1', '--reason', 'private')
    await terminal.sees('Empty them?')
    process.emit(signal, signal)
    expect((await erased).code).toBe(130)
    expect((await folder.look('runs', 'show', idIn(run.err))).out).toMatch(/^task +finish$/m)
  })
})
