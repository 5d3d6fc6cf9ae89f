import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import { call, calls } from '../support/harness.ts'
import { property } from '../support/property.ts'
import { given, tool } from '../support/story.ts'

// A model that tries everything, under any policy, role and phase: no call that a rule refuses is ever performed. The rules are
// told here a second time, from the events alone and without the words of the product.

const EFFECTS = {
  look: 'pure',
  write_file: 'reconcilable',
  run_command: 'irreversible',
  'srv:get': 'pure',
  'srv:put': 'idempotent',
} as const
const NAMES = Object.keys(EFFECTS)
const PATTERNS = [...NAMES, 'file_write', 'srv:*', '*']
const CONTROL = ['complete_task', 'advance_phase', 'set_context', 'request_permission']

const some = (of: readonly string[], most: number) => fc.uniqueArray(fc.constantFrom(...of), { maxLength: most })
const policy = fc.record({
  mode: fc.constantFrom('interactive', 'batch'),
  allowedTools: fc.oneof(fc.constant(['*']), some(PATTERNS, 4)),
  deniedTools: some([...PATTERNS, 'set_context', 'request_permission'], 2),
  requiresApproval: some([...PATTERNS, 'set_context'], 2),
})
const role = fc.option(
  fc.array(some(PATTERNS, 3), { minLength: 1, maxLength: 3 }).map((phases) => ({
    ...{ name: 'r', profile: 'p', goal: 'g', qualityGates: [], maxReactLoop: 9 },
    phases: phases.map((allowedTools, n) => ({ name: `p${n}`, allowedTools })),
  })),
)
const args: fc.Arbitrary<object> = fc.constantFrom(
  {},
  { n: 1 },
  { n: 2 },
  { constructor: { n: 1 } },
  { path: 'a\u0000b' },
)
const asked = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom(...NAMES, 'file_write', 'nothing'), args) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(['advance_phase', { summary: 's' }], ['advance_phase', { summary: 's', to: 'p0' }]),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(['complete_task', { summary: ' ' }], ['set_context', { key: 'k', value: 1 }]),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...PATTERNS), fc.constantFrom('call', 'phase', 'run'), fc.constantFrom('1m', '2h'))
      .map(([name, scope, until]) => ['request_permission', { tool: name, scope, until, reason: 'please' }]),
  },
) as fc.Arbitrary<[string, object]>
const plan = fc.record({
  policy,
  role,
  answers: fc.array(fc.array(asked, { minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 12 }),
  people: fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
  maxTurns: fc.integer({ min: 3, max: 12 }),
})

const covers = (patterns: readonly string[], name: string) =>
  patterns
    .map((one) => (one === 'file_write' ? 'write_file' : one))
    .some((one) => one === '*' || one === name || (one === 'srv:*' && name.startsWith('srv:')))

type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never

/** Why this call of an answer must not have run, from the events alone; null: it may. */
function forbidden(events: readonly AgentEvent[], id: string, given: Plan): string | null {
  const [, turn, index] = /t(\d+)\.c(\d+)$/.exec(id)!.map(Number)
  const at = events.findIndex((event) => event.type === 'model_call_end' && event.turn === turn)
  const answer = events[at] as Extract<AgentEvent, { type: 'model_call_end' }>
  const before = events.slice(0, at)
  if (before.some(({ type, body }) => type === 'recovery' && (body as { phase: string }).phase === 'final_warning'))
    return 'recovery'
  const asked = answer.body.content as unknown as { name: string; input: object }[]
  const name = asked[index!]!.name.replace('__', ':')
  if (!NAMES.includes(name)) return 'unknown'
  if (JSON.stringify(asked[index!]!.input).match(/constructor|u0000/)) return 'malformed'
  const names = asked.map((one) => one.name)
  if (
    names.length > 1 &&
    (given.policy.mode === 'interactive' || names.some((one) => ['complete_task', 'advance_phase'].includes(one)))
  )
    return 'not alone'
  const moved = before.findLast((event) => event.type === 'phase_advanced')
  const phase = moved?.type === 'phase_advanced' ? moved.body.to : 'p0'
  const inPhase = given.role?.phases.find((one) => one.name === phase)?.allowedTools ?? ['*']
  const { allowedTools, deniedTools, requiresApproval, mode } = given.policy
  const refused = covers(deniedTools, name) || !covers(allowedTools, name) || !covers(inPhase, name)
  if (refused && !permitted(before, events, answer, name, phase, index!)) return 'policy'
  const asks =
    covers(requiresApproval, name) || (mode === 'interactive' && ['write_file', 'run_command'].includes(name))
  return asks && !approved(events, id) ? 'approval' : null
}

const approved = (events: readonly AgentEvent[], id: string) =>
  events.some((one) => one.type === 'approval_decided' && one.toolCallId === id && one.body.decision === 'approved')

function permitted(
  before: readonly AgentEvent[],
  events: readonly AgentEvent[],
  answer: AgentEvent,
  name: string,
  phase: string,
  index: number,
): boolean {
  return before.some((event) => {
    if (event.type !== 'permission_granted' || !approved(events, event.toolCallId!)) return false
    const { tool: pattern, scope, until, phase: bound } = event.body
    if (!covers([pattern], name) || answer.at >= Date.parse(until) || (scope === 'phase' && bound !== phase))
      return false
    if (scope !== 'call') return true
    // It is used up by the first call that names it.
    const uses = events.flatMap((one) =>
      one.type === 'model_call_end'
        ? one.body.calls.flatMap((planned, n) => (planned.permission === event.toolCallId ? [`${one.turn}.${n}`] : []))
        : [],
    )
    return uses[0] === `${answer.turn}.${index}`
  })
}

test('no call that a rule refuses is ever performed, whatever the model tries (5.3, 5.12, 7)', async () => {
  const seen = new Set<string>()
  const holds = fc.asyncProperty(plan, async (one) => {
    const performed: string[] = []
    const tools = NAMES.map((name) =>
      tool(
        name,
        { effect: EFFECTS[name as keyof typeof EFFECTS] },
        (_, context) => void performed.push(context.toolCallId),
      ),
    )
    const says = one.answers.map((answer, n) => () => {
      run.clock.time += n === 4 ? 120_000 : 0
      return calls(...answer.map(([name, input], i) => call(name.replace(':', '__'), input, `c${n}.${i}`)))
    })
    const limits = { maxTurns: one.maxTurns, wallClockMs: null }
    const spec = { policy: one.policy, role: one.role, limits, asksPermission: true, recovery: { graceTurns: 1 } }
    const run = await given({ says, tools, spec })
    for (let n = 0; n < 30; n++) {
      const end = await run.drive()
      if (end.end !== 'waiting' || end.for !== 'approval') break
      for (const toolCallId of end.toolCallIds) {
        const decision = one.people[n % one.people.length] ? 'approved' : 'rejected'
        await run.say({ kind: 'decide_approval', toolCallId, decision })
      }
    }
    const events = await run.events()
    for (const id of performed) expect([id, forbidden(events, id, one)]).toEqual([id, null])
    for (const event of events)
      if (event.type === 'tool_call_end' && event.body.error !== undefined)
        seen.add(event.body.error.rule ?? event.body.error.code)
    // What is refused without need is a fault too: a call that no rule forbids and no person holds back runs.
    for (const event of events) {
      if (event.type !== 'tool_call_end' || event.body.success || CONTROL.includes(event.body.toolName)) continue
      if (event.body.error?.code !== 'PERMISSION_DENIED') continue
      expect(['policy', 'recovery']).toContain(forbidden(events, event.toolCallId!, one))
    }
  })
  await fc.assert(holds, property(80))
  // The cases were not all alike.
  for (const rule of [
    'denied',
    'not_allowed',
    'phase',
    'recovery',
    'APPROVAL_REJECTED',
    'SINGLE_STEP_VIOLATION',
    'unknown_tool',
  ])
    expect([...seen]).toContain(rule)
}, 60_000)
