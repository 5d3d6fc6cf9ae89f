import fc from 'fast-check'
import { expect, it, test } from 'vitest'
import { toolsWithin } from '../../../domain/agent/control/delegate-to-agent.ts'
import { controlToolNamed } from '../../../domain/agent/control/registry.ts'
import { admit } from '../../../domain/agent/rules/admission.ts'
import { childSpec } from '../../../domain/agent/rules/child-spec.ts'
import { covers } from '../../../domain/calls/tools/tool-patterns.ts'
import { externalDeliveryOf } from '../../../domain/external/courier.ts'
import { outsideSpec, toolsForOther } from '../../../domain/tree/outside-tools.ts'
import { ALL_RIGHTS, NO_RIGHTS } from '../../../domain/tree/rights.ts'
import { toolSpec } from '../../support/harness.ts'
import { property } from '../../support/property.ts'
import { Mixed } from '../../support/tree/mixed.ts'
import { says, use } from '../../support/tree/planned-model.ts'
import { HAND, treeSpec } from '../../support/tree/plans.ts'
import { ROOT } from '../../support/tree/walk.ts'

// What an agent starts another agent with (CONTRACTS 3 and 13): never a right that it lacks where it stands.

const files = ['read_file', 'write_file', 'run_command'].map((name) => toolSpec(name))
const phase = (name: string, ...allowedTools: string[]) => ({ name, allowedTools })
const role = (...phases: ReturnType<typeof phase>[]) => ({ ...HAND, phases })
const CODER = role(phase('plan', 'read_file'), phase('write', 'read_file', 'write_file', 'run_command'))
const SECRET = `secret:ku_${'a'.repeat(26)}`
const LEVELS = [
  { grants: { ...NO_RIGHTS, read: true, outside: true }, extensions: { 'backend.other.mode': 'read' } },
  { grants: ALL_RIGHTS, extensions: { 'backend.other.mode': 'all' } },
]

function spec(policy: object = {}, own: ReturnType<typeof role> | null = null, coder: object = CODER) {
  const base = treeSpec({ policy: { mode: 'batch', sandboxed: false, backends: ['other'], ...policy }, role: own })
  return {
    ...base,
    tools: [...base.tools, ...files],
    delegation: {
      ...{ maxDepth: 3, agents: 20, roles: { coder: coder as typeof CODER } },
      backends: { coder: { kind: 'other', capabilities: [], levels: LEVELS } },
    },
  }
}

/** What the root's delegation to a coder has led to: the birth of the child, or the end of the call. */
function delegated(given: ReturnType<typeof spec>, constraints?: string[], task = 'code it') {
  const call = use('delegate_to_agent', { role: 'coder', task, ...(constraints && { constraints }) }, 'p0')
  const done = use('complete_task', { summary: 'done' }, 'p1')
  const agents = new Mixed(({ state }) => ({
    ...says([state.turn === 1 ? call : done], 'tool_use'),
    usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 },
  }))
  agents.submit(ROOT, { kind: 'start', spec: given, task: 'do it' })
  agents.settle()
  const { events } = agents.of(ROOT)
  const born = events.find((event) => event.type === 'child_delegated')
  const end = events.find((event) => event.type === 'tool_call_end' && event.body.toolName === 'delegate_to_agent')
  return {
    agents,
    backend: born?.body.backend?.extensions,
    error: end?.type === 'tool_call_end' ? end.body.error : null,
  }
}

it.each([
  ['an agent without a role', spec(), undefined, 'all'],
  ['an agent in a phase that writes', spec({}, role(phase('work', '*'))), undefined, 'all'],
  [
    'an agent in a phase that reads',
    spec({}, role(phase('look', 'read_file', 'delegate_to_agent'))),
    undefined,
    'read',
  ],
  ['constraints that leave reading', spec(), ['read_file'], 'read'],
  ['a role that only reads', spec({}, null, role(phase('look', 'read_file'))), undefined, 'read'],
  ['writes that a person approves', spec({ requiresApproval: ['write_file'] }), undefined, 'read'],
  ['interactive mode', spec({ mode: 'interactive' }), undefined, 'read'],
] as const)('given %s, when it delegates, then the other agent has no more', (_, given, constraints, mode) => {
  const { backend } = delegated(given, constraints === undefined ? undefined : [...constraints])
  expect(backend).toEqual({ 'backend.other.mode': mode })
})

it.each([
  ['a sandbox', spec({ sandboxed: true })],
  ['no leave to read', spec({ deniedTools: ['read_file'] })],
  ['a phase without tools of files', spec({}, role(phase('talk', 'look')))],
] as const)('given %s, when it delegates, then the call is refused, and nothing is started', (_, given) => {
  const { agents, backend, error } = delegated(given)
  expect([backend, error]).toEqual([
    undefined,
    expect.objectContaining({ code: 'PERMISSION_DENIED', rule: 'backend_rights' }),
  ])
  expect([...agents.others.keys()]).toEqual([])
})

test('keepup’s tools, memory and secrets of another agent are those of its parent, under the same rules', () => {
  const names = ['read_url', 'search_web', 'crm:read', 'crm:write', 'recall', 'forget', 'run_command', 'look']
  const patterns = fc.subarray(['*', 'crm:*', ...names], { maxLength: 4 })
  const policies = fc.record({ allowedTools: patterns, deniedTools: patterns, requiresApproval: patterns })
  const secrets = [{ name: 'CRM', reference: SECRET, server: 'crm' }]
  const approvers = [{ tools: ['crm:write'], count: 2 }]
  const memory = ['recall', 'forget'].map((name) => controlToolNamed(name)!.spec)
  const web = ['read_url', 'search_web', 'crm:read', 'crm:write'].map((name) => toolSpec(name))
  fc.assert(
    fc.property(policies, fc.option(patterns), patterns, (policy, here, constraints) => {
      const base = treeSpec({ policy: { mode: 'batch', sandboxed: false, approvers, ...policy } })
      const parent = { ...base, secrets, tools: [...base.tools, ...memory, ...web, ...files] }
      const given = toolsForOther(parent, toolsWithin(parent, constraints), { role: null, here })
      const grant = { tokens: null, nanoDollars: null, agents: 1 }
      const child = childSpec(parent, { childId: 'c', role: 'coder', task: 't', constraints, grant, tree: null })!
      const outside = outsideSpec(child, given)
      const reached = outside.tools.map(({ name }) => name)
      for (const name of [...given, ...reached]) {
        expect(parent.tools.map((tool) => tool.name)).toContain(name)
        expect(policy.deniedTools.filter((one) => one !== '*')).not.toContain(name)
        if (memory.some((tool) => tool.name === name)) continue
        for (const list of [policy.allowedTools, ...(here === null ? [] : [here])])
          expect(covers(list, name)).toBe(true)
        expect(covers(policy.deniedTools, name)).toBe(false)
        if (constraints.length > 0) expect(covers(constraints, name)).toBe(true)
      }
      for (const name of reached)
        expect(covers(outside.policy.requiresApproval, name)).toBe(covers(policy.requiresApproval, name))
      const { sandboxed, secretPatterns } = parent.policy
      expect(outside).toMatchObject({ secrets, policy: { approvers, sandboxed, secretPatterns } })
    }),
    property(300),
  )
})

it.each([
  ['its name', [{ name: 'API_KEY', reference: SECRET }], 'API_KEY'],
  ['its reference', [], SECRET],
])('given a task that holds a secret, when it delegates, then the call is refused by %s', (_, secrets, told) => {
  const { agents, error } = delegated({ ...spec(), secrets }, undefined, `use ${SECRET}`)
  expect(error).toMatchObject({ code: 'SECRET_UNAVAILABLE', message: expect.stringContaining(`holds ${told};`) })
  expect([...agents.others.keys()]).toEqual([])
})

it('a spec whose policy does not grant the kind is refused at the start', () => {
  expect(() => admit(spec({ backends: ['another'] }))).toThrow(/policy\.backends does not grant "other"/)
})

it('gates of its role are told as unmet: nothing checks them', () => {
  const gate = { after: 'write', check: 'tests_exist' }
  const { agents } = delegated(spec({}, null, { ...CODER, qualityGates: [gate, { ...gate, after: 'plan' }] }))
  const [run] = agents.others.values()
  const to = { stream: run!.stream, target: run!.state!.reportsTo!, after: -1, hash: 'a'.repeat(64) }
  const letters = run!.events.flatMap((event) => externalDeliveryOf(run!.state!, event, to) ?? [])
  expect(letters).toMatchObject([
    { kind: 'deliver_reported_end', end: { status: 'completed', unmetGates: ['tests_exist'] } },
  ])
})
