import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Role } from '../../../api/operations/definitions/schemas.ts'
import { StartRun } from '../../../api/operations/runs/start-schemas.ts'
import { DECIMAL, draftOf, requestOf, ruleField, toolsOf, unshown, WHOLE } from '../../../api/web/start/draft.ts'
import {
  type RecordedSettings,
  settingsOf,
  settingsOfFork,
  settingsOfOther,
} from '../../../api/web/start/recorded-settings.ts'
import { testSpec, toolSpec } from '../../support/harness.ts'

// The start form of the page: drafts, the requests that they make, and the drafts of earlier runs.

const TOOLS = ['read_file', 'write_file', 'run_command']
const draft = {
  ...{ task: 'do it', role: 'coder', model: 'm', workspace: '/w', mode: 'batch', instructions: 'be brief' },
  ...{
    dollars: '0.25',
    tokens: '1000',
    turns: '7',
    minutes: '1.5',
    secrets: 'A, B=@host:h.example',
    delegation: 'none',
  },
  ...{ 'tool:read_file': 'approved', 'tool:write_file': 'asks', 'tool:run_command': 'withheld' },
}

describe('a draft', () => {
  it('asks for exactly what was filled in, in the units of the API', () => {
    const request = requestOf(draft, TOOLS, 'ada')
    expect(request).toEqual({
      ...{ task: 'do it', role: 'coder', model: 'm', workspace: '/w', by: 'ada', instructions: 'be brief' },
      policy: { mode: 'batch', requiresApproval: ['write_file'] },
      ...{ approve: ['read_file'], tools: ['read_file', 'write_file'], delegation: false },
      secrets: ['A', 'B=@host:h.example'],
      budget: { nanoDollars: 250_000_000, tokens: 1000 },
      limits: { maxTurns: 7, wallClockMs: 90_000 },
    })
    expect(StartRun.safeParse(request).error).toBeUndefined()
    expect(requestOf({ task: 'x' }, TOOLS, 'ada')).toEqual({ task: 'x', by: 'ada' })
  })

  it('of another agent leaves out what only keepup’s own agent has', () => {
    const request = requestOf({ ...draft, agent: 'claude' }, TOOLS, 'ada')
    expect(Object.keys(request).sort()).toEqual(['agent', 'budget', 'by', 'limits', 'model', 'task', 'workspace'])
    expect(StartRun.safeParse(request).error).toBeUndefined()
  })
})

const seed = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) }

/** The request that *Run again* sends if a person changes nothing in the form. */
const again = ({ request }: RecordedSettings, listed = TOOLS) =>
  requestOf(draftOf(request, listed), listed, 'ada', request)

describe('a run again', () => {
  const spec = testSpec({
    role: null,
    tools: [
      toolSpec('read_file'),
      toolSpec('write_file'),
      toolSpec('gone'),
      toolSpec('delegate', { control: 'delegates' }),
    ],
    policy: {
      ...{ mode: 'batch', requiresApproval: ['file_write', 'gone', 'web:*', '*', 'delegate'] },
      ...{ deniedTools: ['run_command'], allowedTools: ['read_file', 'write_file'], approvalTtlMs: 5_000 },
      ...{ sandboxed: false, secretPatterns: ['x+'], maxParallel: 2 },
      approvers: [{ tools: ['write_file'], count: 2 }],
    },
    budget: { tokens: 1000, nanoDollars: 500 },
    limits: { maxTurns: 7, wallClockMs: 100_000 },
    recovery: { graceTurns: 5 },
    context: { preserveLastN: 9 },
    testCommand: ['npm', 'test'],
    contextVariables: { a: 1 },
    knowledge: [{ name: 'k', text: 't' }],
    delegation: { maxDepth: 1, agents: 2, roles: {} },
    workspace: { path: '/w', tree: null },
  })
  const settings = settingsOf('do it', spec, [])

  it('has every setting of the run, and no standing approval', () => {
    const request = again(settings)
    expect(request).toEqual({
      ...{ task: 'do it', by: 'ada', model: 'test-model', cache: false, workspace: '/w' },
      policy: { ...spec.policy, requiresApproval: ['web:*', '*', 'delegate'] },
      ...{ budget: spec.budget, limits: spec.limits, recovery: spec.recovery, context: spec.context },
      retry: { ...spec.retry, modelOutageMs: 0 },
      tools: ['read_file', 'write_file', 'gone'],
      ...{ testCommand: ['npm', 'test'], contextVariables: { a: 1 }, knowledge: spec.knowledge, secrets: [] },
      delegation: { maxDepth: 1, agents: 2 },
    })
    expect(StartRun.safeParse(request).error).toBeUndefined()
    expect(settings.lost).toEqual([])
  })

  it('asks for the same tools where the form shows the rule of each one', () => {
    const draft = draftOf(settings.request, TOOLS)
    const rules = ['read_file', 'write_file', 'run_command', 'gone'].map((name) => draft[ruleField(name)])
    expect(rules).toEqual(['asks', 'asks', 'withheld', 'asks'])
    const some = { request: { policy: { requiresApproval: ['file_write', 'web:*'] } }, lost: [] }
    expect(draftOf(some.request, ['write_file', 'web:get', 'read_file'])).toEqual({
      'tool:write_file': 'asks',
      'tool:web:get': 'asks',
    })
    expect(again(some, ['write_file', 'web:get']).policy).toEqual({ requiresApproval: ['web:*', 'write_file'] })
  })

  it('has what a person changes in the form: an emptied figure, another rule, another model', () => {
    const routing = { models: ['a', 'b'], rules: [] } as never
    const { model: _, ...base } = { ...settings.request, routing }
    const { minutes: _m, dollars: _d, mode: _o, delegation: _g, ...draft } = draftOf(base, TOOLS)
    const changed = { ...draft, model: 'c', 'tool:gone': 'withheld', 'tool:read_file': 'approved' }
    expect(requestOf(draft, TOOLS, 'ada', base).routing).toEqual(routing)
    expect(requestOf(changed, TOOLS, 'ada', base)).toMatchObject({
      ...{ model: 'c', approve: ['read_file'], tools: ['read_file', 'write_file'] },
      policy: { mode: 'interactive' },
      ...{ limits: { wallClockMs: null }, budget: { nanoDollars: null, tokens: 1000 } },
    })
    expect(Object.keys(requestOf(changed, TOOLS, 'ada', base))).not.toContain('delegation')
    expect(requestOf(changed, TOOLS, 'ada', base).routing).toBeUndefined()
  })

  it('names the settings without a field', () => {
    const names = unshown(settings.request, {}, TOOLS).map(([name]) => name)
    const policy = ['allowedTools', 'deniedTools', 'maxParallel', 'approvalTtlMs', 'sandboxed', 'secretPatterns']
    expect(names).toEqual([
      ...[...policy, 'approvers', 'requiresApproval'].map((name) => `policy.${name}`),
      ...['cache', 'recovery', 'retry', 'context', 'knowledge', 'testCommand', 'contextVariables'],
    ])
  })

  it('says that the role changed since', () => {
    const role = { name: 'coder', profile: '', goal: '', phases: [{ name: 'p', allowedTools: [] }] }
    const definition = { ...role, qualityGates: [], maxReactLoop: 3 }
    const now = (goal: string) => [{ name: 'coder', definition: { ...definition, goal } }] as unknown as Role[]
    const ofRole = testSpec({ role: definition })
    expect(settingsOf('x', ofRole, now('')).lost).toEqual([])
    expect(settingsOf('x', ofRole, now('other')).lost).toEqual([expect.stringContaining('“coder”')])
    expect(settingsOf('x', ofRole, []).request.role).toBe('coder')
  })

  it('of a fork has the changes of the fork', () => {
    const changes = { model: 'm2', limits: { maxTurns: 3 }, budget: { nanoDollars: 9 } }
    const fork = again(settingsOfFork(settings, { changes, workspace: { path: '/fork' } }))
    expect(fork).toMatchObject({
      ...{ model: 'm2', workspace: '/fork', limits: { maxTurns: 3, wallClockMs: 100_000 } },
      budget: { tokens: 1000, nanoDollars: 9 },
    })
  })

  it('of another agent has its request, and says which variables are not recorded', () => {
    const extensions = { 'agent_api.config.model.v1': 'opus', other: { a: 1 } }
    const budget = { tokens: 5, nanoDollars: null }
    const recorded = { prompt: 'go', workingDir: '/w', timeoutMs: 60_000, extensions, budget, envNames: ['A'] }
    const found = settingsOfOther('claude', recorded, true)
    expect(again(found)).toEqual({
      ...{ agent: 'claude', task: 'go', model: 'opus', workspace: '/w', budget, limits: { wallClockMs: 60_000 } },
      ...{ extensions: { other: { a: 1 } }, policy: { sandboxed: true }, by: 'ada' },
    })
    expect(StartRun.safeParse(again(found)).error).toBeUndefined()
    expect(found.lost).toEqual([expect.stringMatching(/variables.*: A$/)])
    // A run of another kind of agent takes nothing of it beside the fields.
    const { agent: _, ...own } = draftOf(found.request, TOOLS)
    expect(Object.keys(requestOf(own, TOOLS, 'ada', found.request))).not.toContain('extensions')
  })

  it('has the same figures, in texts that the form accepts, for any budget and limit', () => {
    const whole = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
    const figures = fc.record({
      budget: fc.record({ tokens: whole, nanoDollars: whole }),
      limits: fc.record({ maxTurns: whole, wallClockMs: fc.integer({ min: 1, max: 8_640_000_000 }) }),
    })
    const accepts = (pattern: string, text = '') => new RegExp(`^(?:${pattern})$`, 'v').test(text)
    fc.assert(
      fc.property(figures, (base) => {
        const draft = draftOf(base, [])
        expect([accepts(DECIMAL, draft.dollars), accepts(DECIMAL, draft.minutes)], JSON.stringify(draft)).toEqual([
          true,
          true,
        ])
        expect([accepts(WHOLE, draft.tokens), accepts(WHOLE, draft.turns)]).toEqual([true, true])
        expect(requestOf(draft, [], 'ada', base)).toEqual({ ...base, by: 'ada' })
      }),
      { ...seed, examples: [[{ budget: { tokens: 1, nanoDollars: 500 }, limits: { maxTurns: 1, wallClockMs: 1 } }]] },
    )
  })
})

describe('a template', () => {
  it('keeps the rules of tools that the server does not list', () => {
    const draft = { task: 'x', 'tool:gone': 'asks', 'tool:lost': 'withheld' }
    expect(requestOf(draft, TOOLS, 'ada')).toEqual({
      ...{ task: 'x', by: 'ada', policy: { requiresApproval: ['gone'] }, tools: [...TOOLS, 'gone'] },
    })
    expect(toolsOf(draft, TOOLS)).toEqual([...TOOLS, 'gone', 'lost'])
  })
})
