// @module-tag git
import { mkdirSync, realpathSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { fakeProgram, type Step } from '../../../adapters/agents/process/fake-steps.ts'
import { tempFolder } from '../../support/folders.ts'
import { inProcess } from '../support/cli.ts'

// `keepup agents` and `keepup run --agent`: live output, the result on stdout, exit codes.

const line = (value: object): Step => ({ do: 'print', text: JSON.stringify(value) })
const EDITS = 'backend.claude_code.permission_mode=acceptEdits'
const INIT = line({ type: 'system', subtype: 'init', session_id: 's1', model: 'm1' })
const SAYS = line({ type: 'assistant', message: { content: [{ type: 'text', text: 'I look.\n' }] } })
const ENDS = line({
  ...{
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'All done',
    session_id: 's1',
    total_cost_usd: 0.25,
  },
  usage: { input_tokens: 100, output_tokens: 20 },
})

/** A `claude` on the PATH that plays these steps. */
function played(steps: readonly Step[]) {
  const root = realpathSync(tempFolder())
  const [bin, data, work] = [join(root, 'bin'), join(root, 'data'), join(root, 'work')]
  for (const folder of [bin, work]) mkdirSync(folder)
  renameSync(fakeProgram(bin, steps), join(bin, 'claude'))
  const before = process.env.PATH
  const keepup = async (...args: string[]) => {
    process.env.PATH = `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`
    try {
      return await inProcess(['--data', data, '--by', 'ann', ...args], {}, { cwd: work })
    } finally {
      process.env.PATH = before
    }
  }
  return { keepup, root }
}

test('run --agent shows what the agent says as it comes, and its result on stdout', async () => {
  const { keepup } = played([INIT, SAYS, ENDS])
  const { code, out, err } = await keepup('run', '--agent', 'claude_code', '--extension', EDITS, 'do it')
  expect([code, out]).toEqual([0, 'All done\n'])
  expect(err).toMatch(/session started\nI look\.\n.*done\n/s)
  expect(err).toContain('100 tokens in, 20 out, $0.2500; ungoverned')
  const listed = await keepup('runs', 'list')
  expect(listed.out).toMatch(/AGENT.*\n.*completed.*claude_code, ungoverned/)
  const [, id] = /^run (\w+)$/m.exec(err)!
  const events = await keepup('events', id!)
  expect(events.out).toMatch(/external_started .*by ann: claude_code, do it/)
  expect(events.out).toMatch(/external_ended .*exited, exit 0, All done/)
})

test('continue goes on with the session of an ended run, and shows which run it continues', async () => {
  const { keepup } = played([INIT, SAYS, ENDS])
  const first = await keepup('run', '--agent', 'claude_code', '--extension', EDITS, 'do it')
  const [, id] = /^run (\w+)$/m.exec(first.err)!
  const { code, out, err } = await keepup('continue', id!, 'and test it')
  expect([code, out]).toEqual([0, 'All done\n'])
  const [, next] = /^run (\w+)$/m.exec(err)!
  expect((await keepup('runs', 'show', next!)).out).toMatch(new RegExp(`continues +${id}`))
  expect((await keepup('runs', 'show', id!)).out).toMatch(new RegExp(`continued by +${next}`))
  const refused = await keepup('continue', 'no-such-run', 'go on')
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('no-such-run')])
})

test('an agent that could change nothing is refused before it starts, with the option to add', async () => {
  const { keepup } = played([INIT, SAYS, ENDS])
  for (const [kind, option] of [
    ['claude_code', EDITS],
    ['codex', 'backend.codex.sandbox=workspace-write'],
    ['gemini', 'backend.gemini.approval_mode=auto_edit'],
  ] as const) {
    const { code, err } = await keepup('run', '--agent', kind, 'fix it')
    expect([code, err]).toEqual([2, expect.stringContaining(`--extension ${option}`)])
  }
  expect((await keepup('runs', 'list', '-o', 'jsonl')).out).toBe('')
  const given = await keepup('run', '--agent', 'claude_code', '--extension', EDITS, 'do it')
  expect(given.code).toBe(0)
})

test('run --agent --no-sandbox says that the agent runs unconfined, and the log says why', async () => {
  const { keepup } = played([INIT, SAYS, ENDS])
  const { code, err } = await keepup('run', '--agent', 'claude_code', '--extension', EDITS, '--no-sandbox', 'do it')
  expect(code).toBe(0)
  expect(err).toContain('the agent runs unconfined: the start asked for it (sandboxed: false)')
  const [, id] = /^run (\w+)$/m.exec(err)!
  expect((await keepup('events', id!)).out).toMatch(/process_start .*unconfined: the start asked for it/)
  const confined = await keepup('run', '--agent', 'claude_code', '--extension', EDITS, 'do it')
  expect([confined.code, confined.err]).toEqual([0, expect.not.stringContaining('unconfined')])
})

test('an agent that fails gives exit code 3, a kind that there is not gives 2', async () => {
  const { keepup } = played([INIT, { do: 'exit', code: 7 }])
  const { code, err, out } = await keepup('run', '--agent', 'claude_code', '--extension', EDITS, 'do it')
  expect([code, out]).toEqual([3, expect.stringMatching(/^\w+ failed\n$/)])
  expect(err).toContain('the agent failed: the agent ended with exit code 7')
  expect(err).toContain(': ? tokens in, ? out, ?; ungoverned')
  const none = await keepup('run', '--agent', 'unknown-agent', 'do it')
  expect([none.code, none.err]).toEqual([2, expect.stringContaining('there is no such backend')])
  const own = await keepup('run', '--agent', 'claude_code', '--extension', EDITS, '--role', 'coder', 'do it')
  expect([own.code, own.err]).toEqual([2, expect.stringContaining("keepup's own agent")])
})

test('agents list and check tell what is installed', async () => {
  const { keepup } = played([{ do: 'print', text: '2.1.330 (Claude Code)' }])
  const checked = await keepup('agents', 'check', 'claude_code')
  expect(checked.out).toMatch(/installed +yes\nversion +2\.1\.330/)
  expect(checked.out).toContain('agent_api.session.fork.v1')
  const missing = await keepup('agents', 'check', 'codex')
  expect([missing.code, missing.out]).toEqual([1, expect.stringMatching(/installed +no\n.*install it/s)])
  const listed = await keepup('agents', 'list')
  expect(listed.out).toMatch(/claude_code +yes +2\.1\.330/)
})
