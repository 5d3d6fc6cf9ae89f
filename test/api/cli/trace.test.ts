// @module-tag git
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { cliFolder, idIn } from '../support/cli.ts'

const folder = cliFolder()
afterAll(() => folder.clean())
const { look, root } = folder

it('shows a chain, one step a line with its event, and finds the run of a file', async () => {
  const workspace = join(root, 'ws')
  mkdirSync(workspace)
  const tools = ['--tools', 'list_dir,read_file,write_file', '--mode', 'batch', '-w', workspace]
  const { err } = await look('--by', 'ada', 'run', 'write it', ...tools)
  const id = idIn(err)
  const call = `${id}.t1.c0`

  const line = await look('trace', `${join(workspace, 'hello.txt')}:1`)
  expect(line.err).toBe('')
  expect(line.code).toBe(0)
  const lines = line.out.split('\n')
  expect(lines.map((text) => text.split(' ')[0]).slice(0, 7)).toEqual([
    ...['line', 'effect', 'call', 'rule', 'answer', 'input', 'start'],
  ])
  expect(lines[0]).toMatch(new RegExp(`^line +agent-${id}@\\d+ +line 1 of hello.txt at step \\d+, .*: hello$`))
  expect(lines[3]).toContain(`agent-${id}@0`)
  expect(lines[7]).toBe('on the authority of ada, as the request said')
  expect(line.out).toContain('the model had read 2 texts before, 0 untrusted (!)')

  // A shortened call, the event of its end, and the file by name give the same chain.
  const [, event = ''] = /^effect +(\S+)/m.exec(line.out) ?? []
  const chain = (out: string) => out.slice(out.indexOf('effect '))
  for (const target of [`${id.slice(0, 20)}.t1.c0`, event])
    expect((await look('trace', target)).out).toBe(chain(line.out))
  expect((await look('trace', 'hello.txt:1', '--run', id)).out).toBe(line.out)

  const { steps, person } = JSON.parse((await look('-o', 'json', 'trace', call)).out)
  expect(steps[0]).toMatchObject({ kind: 'effect', stream: `agent-${id}`, toolCallId: call })
  expect(person).toEqual({ kind: 'user', id: 'ada', claimed: true })
  expect((await look('trace', call, '--limit', '1')).err).toContain('1 more text')
})

it('says what is wrong with a target, and what to name', async () => {
  for (const [args, told] of [
    [['nonsense'], 'is no line, event or call; name src/a.ts:3'],
    [['hello.txt'], 'ask files_written --path hello.txt'],
    [['agent-none@0'], 'there is no event "agent-none@0"'],
    [['none.t1.c0'], 'there is no tool call "none.t1.c0"'],
    [['nowhere.txt:3'], 'name one with --run'],
    [['agent-none@0', '--step', '3'], 'go with FILE:LINE only'],
  ] as const) {
    const { code, err } = await look('trace', ...args)
    expect([code, err]).toEqual([2, expect.stringContaining(told)])
  }
})
