import { expect, it } from 'vitest'
import { asks } from '../../../api/cli/ask/ask-person.ts'
import { nextLines } from '../../../api/cli/ask/question-lines.ts'

const ctx = { command: (...words: string[]) => ['keepup', ...words].join(' ') }
const RUN = {
  ...{ runId: 'r1', status: 'active', driving: false, interrupted: true, ungoverned: true },
  ...{ waiting: [{ for: 'approval' }], backend: 'claude', workspace: '/a b' },
}
const ask = { for: 'approval', toolCallId: 'c1', text: 'why', agentPath: [], toolName: 'edit', arguments: {} }
const MISSING = { missingTools: [], missingProviders: [] }
const lines = (run: object, more: object = {}) =>
  nextLines(ctx as never, { run: { ...RUN, ...run }, asks: [ask], ...MISSING, workersDrive: false, ...more } as never)

it('a killed run of another agent is interrupted, and its end is recorded first', () => {
  const [line, ...more] = lines({})
  expect(more).toEqual([])
  expect(line).toContain('the run was interrupted: the process that ran the agent is gone; record the end with')
  expect(line).toMatch(/keepup cancel r1; then .* keepup runs show r1$/)
})

it('a killed run whose end was recorded names the command that continues its session, or starts it again', () => {
  const ended = { status: 'failed', interrupted: false, error: { code: 'UNKNOWN_OUTCOME', message: 'it was killed' } }
  expect(lines(ended, { continuable: true })[0]).toMatch(/continue its session with: keepup continue r1 "TASK"$/)
  expect(lines(ended, { continuable: false })[0]).toMatch(/: keepup run --agent claude --workspace '\/a b' "TASK"$/)
  expect(lines({ ...ended, workspace: null })[0]).toMatch(/: keepup run --agent claude "TASK"$/)
  expect(lines({ ...ended, error: { code: 'EXITED', message: '1' } }, { continuable: true })).toEqual([])
})

it.each([
  ['missingTools', 'its tools', 'crm:find'],
  ['missingProviders', 'the providers of its models', 'own:acme'],
])('a run with %s is not resumed here', (missing, what, name) => {
  const [line] = lines({ ungoverned: false, waiting: [] }, { [missing]: [name] }).slice(-1)
  expect(line).toBe(`  it goes on in the program that has ${what}; this one does not have ${name}`)
})

it.each([
  [{ driving: true, interrupted: false }, /^ {2}edit waits for approval/],
  [{ interrupted: null }, /another process may run the agent/],
])('the run %j of another agent is not called interrupted', (run, says) => {
  const text = lines(run).join('\n')
  expect(text).toMatch(new RegExp(says.source, 'm'))
  expect(text).not.toContain('interrupted')
})

it.each([
  ['2026-01-01T00:00:00.000Z', 'edit asks: why (until 2026-01-01T00:00:00.000Z; then it counts as refused)'],
  ['', 'edit asks: why'],
])('a question that expires at %j', (expiresAt, says) => {
  const approval = { state: 'pending', needed: 1, toolName: 'edit', reason: 'why', agentPath: [], expiresAt }
  expect(asks(approval as never)).toBe(says)
})
