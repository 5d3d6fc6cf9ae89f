import fc from 'fast-check'
import type { Block } from '../../domain/calls/content.ts'
import { ModelError } from '../../domain/calls/errors.ts'
import type { ModelOutcome } from '../../domain/ports/index.ts'
import type { RoleDefinition } from '../../domain/tree/spec.ts'

// Random agents, models, tools and people, as plain data that fast-check can shrink.

export const TOOLS = { look: 'pure', put: 'idempotent', save: 'reconcilable', send: 'irreversible' } as const
export type ToolName = keyof typeof TOOLS
const toolName = fc.constantFrom<ToolName>('look', 'put', 'save', 'send')

export const ROLE: RoleDefinition = {
  name: 'Tester',
  profile: 'a role with gates and a phase without tools',
  goal: 'try everything',
  phases: [
    { name: 'first', allowedTools: ['look', 'put'] },
    { name: 'second', allowedTools: ['look', 'put', 'save', 'send'] },
    { name: 'third', allowedTools: [] },
  ],
  qualityGates: [{ after: 'first', check: 'diagram_exists' }],
  maxReactLoop: 6,
}

/** The end of one attempt of a tool. `late`: the effect happens, then the failure. */
const TOOL_ENDS = ['ok', 'ok', 'ok', 'permanent', 'same', 'other', 'early', 'late', 'hang', 'slow'] as const
export type ToolEnd = (typeof TOOL_ENDS)[number]

const oneCall = fc.record({ tool: toolName, key: fc.integer({ min: 0, max: 2 }) })
const answer = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('ask' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('calls' as const),
      calls: fc.array(oneCall, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('calls' as const),
      calls: fc.array(oneCall, { minLength: 1, maxLength: 1 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('complete' as const), summary: fc.constantFrom('done', '  ') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      to: fc.constantFrom('first', 'second', 'third', 'nowhere', null),
      diagram: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'text',
        'cut',
        'flood',
        'cut_call',
        'paused',
        'refused',
        'twice',
        'beside',
        'set',
        'unknown',
        'garbage',
        'proto',
        'nul',
        'empty',
        'rate',
        'network',
        'key',
        'hang',
      ),
    }),
  },
)
export type PlannedAnswer = typeof answer extends fc.Arbitrary<infer T> ? T : never

const person = fc.constantFrom(
  'input',
  'pause',
  'resume',
  'step',
  'cancel',
  'approve',
  'reject',
  'standing',
  'happened',
  'run',
  'abandon',
)
export type PersonRequest = typeof person extends fc.Arbitrary<infer T> ? T : never

export const planArbitrary = fc.record({
  mode: fc.constantFrom('interactive' as const, 'batch' as const),
  role: fc.boolean(),
  maxTurns: fc.integer({ min: 1, max: 8 }),
  graceTurns: fc.integer({ min: 0, max: 3 }),
  hardLimit: fc.boolean(),
  wallClockMs: fc.constantFrom(null, null, 5_000),
  tokens: fc.constantFrom(null, null, 8_000),
  maxRetries: fc.integer({ min: 0, max: 3 }),
  maxParallel: fc.integer({ min: 1, max: 4 }),
  requiresApproval: fc.subarray(['look', 'put', 'save', 'send']),
  deniedTools: fc.constantFrom<string[]>([], [], ['put'], ['ask_user']),
  answers: fc.array(answer, { minLength: 1, maxLength: 10 }),
  ends: fc.array(fc.constantFrom(...TOOL_ENDS), { minLength: 1, maxLength: 8 }),
  /** Actions of people while the run waits for them. */
  replies: fc.array(person, { maxLength: 6 }),
  /** Unrequested actions of people at the nth append. `elsewhere`: through another process. */
  requests: fc.array(fc.record({ at: fc.integer({ min: 1, max: 25 }), request: person, elsewhere: fc.boolean() }), {
    maxLength: 4,
  }),
})
export type Plan = typeof planArbitrary extends fc.Arbitrary<infer T> ? T : never

const use = (name: string, input: unknown, id: string): Block => ({ type: 'tool_use', id, name, input: input as never })

/** The planned answer as the model's outcome. An error is thrown; the caller handles `hang`. */
export function outcomeOf(planned: PlannedAnswer, nth: number): Partial<ModelOutcome> {
  const id = (i: number) => `p${nth}.${i}`
  const calls = (...blocks: Block[]): Partial<ModelOutcome> => ({ content: blocks, stopReason: 'tool_use' })
  const text = { type: 'text', text: `thought ${nth}` } as const
  switch (planned.kind) {
    case 'calls':
      return calls(...planned.calls.map(({ tool, key }, i) => use(tool, { key }, id(i))))
    case 'complete':
      return calls(use('complete_task', { summary: planned.summary }, id(0)))
    case 'advance': {
      const artifacts = planned.diagram ? { artifacts: [{ type: 'diagram', title: 't', content: 'c' }] } : {}
      return calls(
        use('advance_phase', { summary: 's', ...(planned.to === null ? {} : { to: planned.to }), ...artifacts }, id(0)),
      )
    }
    case 'text':
      return { content: [text], stopReason: 'end_turn' }
    case 'flood':
      return calls(...Array.from({ length: 130 }, (_, i) => use('look', { key: i }, id(i))))
    case 'cut':
      return { content: [text], stopReason: 'max_tokens' }
    case 'cut_call':
      return { content: [text, use('look', { key: 0 }, id(0))], stopReason: 'max_tokens' }
    case 'paused':
      return { content: [text], stopReason: 'pause_turn' }
    case 'refused':
      return { content: [text], stopReason: 'refusal' }
    case 'twice':
      return calls(use('complete_task', { summary: 'a' }, id(0)), use('complete_task', { summary: 'b' }, id(1)))
    case 'beside':
      return calls(use('look', { key: 0 }, id(0)), use('complete_task', { summary: 'a' }, id(1)))
    case 'ask':
      return calls(use('ask_user', { question: 'Which?' }, id(0)))
    case 'set':
      return calls(
        use('set_context', { key: 'k', value: nth }, id(0)),
        use('set_context', { key: 'k', value: -nth }, id(1)),
      )
    case 'unknown':
      return calls(use('no_such_tool', {}, id(0)))
    case 'garbage':
      return calls({ type: 'tool_use', id: id(0), name: 'look', input_text: '{"key":' })
    case 'proto':
      return calls(use('look', JSON.parse('{"__proto__":{"x":1}}'), id(0)))
    case 'nul':
      return calls(
        use('advance_phase', { summary: 'a\0b\ud800', artifacts: [{ type: 'plan', title: ' ', content: 'c' }] }, id(0)),
      )
    case 'empty':
      return { content: [], stopReason: 'end_turn' }
    case 'rate':
      throw new ModelError('RATE_LIMITED', 'slow down', { transient: true, retryAfterMs: 50 })
    case 'network':
      throw new ModelError('NETWORK', 'reset', { transient: true })
    case 'key':
      throw new ModelError('AUTHENTICATION', 'bad key')
    case 'hang':
      return {}
  }
}
