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

it('a killed run of another agent is interrupted, and the command that continues its session is named', () => {
  const [line, ...more] = lines({}, { sessionId: 's-1' })
  expect(more).toEqual([])
  expect(line).toContain('the run was interrupted: the process that ran the agent is gone')
  expect(line).toContain(
    `keepup run --agent claude --workspace '/a b' --extension 'agent_api.session.resume.v1={"selector":"id","id":"s-1"}' "TASK"`,
  )
  expect(line).toContain('keepup cancel r1')
  expect(lines({ workspace: null })[0]).toContain(
    'start it again with (add the options of this run): keepup run --agent claude "TASK"',
  )
})

it('a killed run whose end was recorded since still names that command', () => {
  const ended = { status: 'failed', interrupted: false, error: { code: 'UNKNOWN_OUTCOME', message: 'it was killed' } }
  const [line] = lines(ended, { sessionId: 's-1' })
  expect(line).toMatch(/was interrupted.*continue its session with.*"id":"s-1".* "TASK"$/)
  expect(lines({ ...ended, error: { code: 'EXITED', message: '1' } })).toEqual([])
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
