import { expect, it } from 'vitest'
import { substance } from '../../../api/cli/output/event-row.ts'
import { WORDS } from '../../../api/cli/output/event-words.ts'
import type { EventView, Payload } from '../../../api/operations/events/schemas.ts'
import { toneOf } from '../../../api/web/run/timeline/tone.ts'
import { AGGREGATES } from '../../../domain/kinds.ts'
import { KEY_CLAIMED } from '../../../domain/log/idempotency-claim.ts'
import { LOG_CREATED } from '../../../domain/log/identity.ts'
import { LOG_LOSS_ACCEPTED } from '../../../domain/log/loss/loss.ts'

const event = (type: string, payload: object): EventView =>
  ({ type, payload, actor: { kind: 'driver', id: 'd' } }) as unknown as EventView

const spent = { input: 120, output: 30, cacheRead: 0, cacheWrite: 0, nanoDollars: 4_200_000, agents: 0 }

it.each([
  ['a child reports what it took', 'usage_reported', { report: { spent } }, '120 tokens in, 30 out, $0.004200'],
  ['another agent says what it took', 'usage_reported', { inputTokens: 7, outputTokens: 2 }, '7 tokens in, 2 out'],
  ['another agent says nothing of its tokens', 'usage_reported', {}, '? tokens in, ? out'],
  [
    'a reported span says how it went',
    'spans_reported',
    { spans: [{ name: 'chat', startUs: 0, endUs: 2_000, usage: { input: 7, output: null }, error: { type: 'E' } }] },
    '1: ✗ chat, 2 ms, 7 tokens in, ? out, E',
  ],
  [
    'tools are named',
    'tools_changed',
    { choice: 'any', offered: ['read_file', 'run_command'] },
    '2 offered: read_file, run_command',
  ],
  [
    'a command with another exit code than 0 is marked',
    'tool_call_end',
    { toolName: 'run_command', success: true, result: 'no such file', detail: { exitCode: 2 } },
    'run_command ✗ no such file',
  ],
  ['a prompt is shown as text', 'prompt_set', { system: 'You are Coder.' }, 'You are Coder.'],
  [
    'a delegation names the child and its task',
    'child_delegated',
    { childId: 'c', role: 'coder', task: 'Fix it' },
    'c, coder: Fix it',
  ],
  ['a type without a text of its own is shown as JSON', 'budget_received', { request: 3 }, '{"request":3}'],
  ['a type of another program is shown as JSON', 'ticket_opened', { title: 'x' }, '{"title":"x"}'],
  ['a body in the shape of another program is shown as JSON', 'knowledge_added', { files: 3 }, '{"files":3}'],
])('%s', (_, type, payload, text) => {
  expect(substance(event(type, payload))).toBe(text)
})

it.each([
  [{ toolName: 'run_command', success: true, detail: { exitCode: 0 } }, 'tool'],
  [{ toolName: 'run_command', success: true, detail: { exitCode: 1 } }, 'bad'],
  [{ toolName: 'run_command', success: true, detail: { exitCode: null } }, 'bad'],
  [{ toolName: 'read_file', success: false, error: { code: 'TIMEOUT' } }, 'bad'],
  [{ toolName: 'own_tool', success: true, detail: { exitCode: 1 } }, 'tool'],
])('the end of a call %j has the colour of %s', (payload, tone) => {
  expect(toneOf('tool_call_end', event('tool_call_end', payload))).toBe(tone)
})

it('every type of event that keepup writes has words, and no other', () => {
  const types = [...AGGREGATES.values()].flatMap(({ versions }) => Object.keys(versions))
  const stateless = [LOG_CREATED, LOG_LOSS_ACCEPTED, KEY_CLAIMED]
  expect(Object.keys(WORDS).sort()).toEqual([...new Set([...types, ...stateless])].sort())
})

it('the compiler knows the members of every body', () => {
  const summary = (event: EventView): string => {
    // @ts-expect-error: only a completion has a summary.
    if (event.type === 'turn_end') return event.payload?.summary
    // @ts-expect-error: no event has this type.
    if (event.type === 'completed') return ''
    return event.type === 'completion' ? (event.payload?.summary ?? '') : ''
  }
  const words = (payload: Payload<'completion'>) =>
    // @ts-expect-error: a completion has no text.
    payload.text
  expect([summary(event('completion', { summary: 'done' })), words({} as Payload<'completion'>)]).toEqual([
    'done',
    undefined,
  ])
})
