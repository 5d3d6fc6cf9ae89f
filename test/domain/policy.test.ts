import fc from 'fast-check'
import { expect, test } from 'vitest'
import { denial, needsApproval, offeredTools, rightTo } from '../../domain/agent/rules/policy.ts'
import type { AgentState } from '../../domain/agent/state/state.ts'
import { RequestedPolicy } from '../../domain/calls/policy-schema.ts'
import { Decider } from '../support/decider.ts'
import { property } from '../support/property.ts'
import { tool } from '../support/story.ts'

// Which calls a policy refuses, and which ask a person, told a second time over generated policies, roles and permissions.

const SENSITIVE = ['write_file', 'run_command', 'create_document', 'edit_document']
const OWN = ['look', 'srv:get', 'srv:put', ...SENSITIVE]
const PATTERNS = [...OWN, 'srv:*', '*', 'file_write']
const CONTROLS = ['set_context', 'request_permission', 'advance_phase']

const patterns = fc.uniqueArray(fc.constantFrom(...PATTERNS, 'set_context', 'request_permission'), { maxLength: 4 })
const plan = fc.record({
  mode: fc.constantFrom('interactive', 'batch'),
  allowedTools: fc.oneof(fc.constant(['*']), patterns),
  deniedTools: patterns,
  requiresApproval: patterns,
  phase: fc.option(patterns),
  standing: patterns,
  permitted: fc.option(fc.constantFrom(...OWN, 'srv:*')),
  child: fc.boolean(),
})
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never

const covers = (given: readonly string[], name: string) =>
  given.some((one) => one === '*' || one === name || (one === 'srv:*' && name.startsWith('srv:')) || isAlias(one, name))
const isAlias = (one: string, name: string) => one === 'file_write' && name === 'write_file'

/** Why the policy refuses a tool; null: it does not. */
function refusal({ allowedTools, deniedTools, phase }: Plan, name: string): string | null {
  if (CONTROLS.includes(name)) {
    if (deniedTools.includes(name)) return 'denied'
    // In a phase without tools there is nothing to ask for.
    return phase?.length === 0 && name === 'request_permission' ? 'phase' : null
  }
  if (covers(deniedTools, name)) return 'denied'
  if (!covers(allowedTools, name)) return 'not_allowed'
  return phase !== null && !covers(phase, name) ? 'phase' : null
}

function asks({ mode, requiresApproval, standing }: Plan, name: string): boolean {
  if (name === 'request_permission') return true
  if (covers(standing, name)) return false
  const isControl = CONTROLS.includes(name)
  const patterns = requiresApproval.filter((one) => !isControl || one !== '*')
  return covers(patterns, name) || (mode === 'interactive' && SENSITIVE.includes(name))
}

function stateOf({ phase, standing, permitted, child, ...policy }: Plan): AgentState {
  const role = phase && {
    ...{ name: 'r', profile: 'p', goal: 'g', qualityGates: [], maxReactLoop: 9 },
    phases: [{ name: 'now', allowedTools: phase }],
  }
  const { state } = new Decider(
    { policy, role, asksPermission: true },
    OWN.map((name) => tool(name)),
  )
  const parent = { agentId: 'root', toolCallId: 'root.t1.c0' } as AgentState['parent']
  const scope = { scope: 'run', until: Number.MAX_SAFE_INTEGER, phase: null } as const
  const permissions = permitted === null ? [] : [{ id: 'p', tool: permitted, ...scope }]
  return { ...state, standing, permissions, parent: child ? parent : null }
}

test('a policy refuses, permits and asks as CONTRACTS 3 says, for any policy, phase, permission and standing approval', () => {
  const holds = fc.property(plan, (one) => {
    const state = stateOf(one)
    for (const spec of state.spec.tools.filter(({ name }) => [...OWN, ...CONTROLS].includes(name))) {
      const refused = refusal(one, spec.name)
      const liftable = !one.child || refused === 'phase'
      const lifted = liftable && one.permitted !== null && covers([one.permitted], spec.name)
      const expected = refused === null || lifted ? null : refused
      expect([spec.name, denial(state, spec)?.rule ?? null]).toEqual([spec.name, expected])
      expect([spec.name, rightTo(state, spec)]).toEqual([
        spec.name,
        expected === null ? 'call' : liftable ? 'ask' : 'none',
      ])
      expect(offeredTools(state).includes(spec), spec.name).toBe(expected === null)
      expect([spec.name, needsApproval(state, { toolName: spec.name, effect: spec.effect }) !== null]).toEqual([
        spec.name,
        asks(one, spec.name),
      ])
    }
    // Completion is always offered and never asks.
    expect(offeredTools(state).map(({ name }) => name)).toContain('complete_task')
    expect(needsApproval(state, { toolName: 'complete_task', effect: 'pure' })).toBeNull()
  })
  fc.assert(holds, property(300))
})

test('the secret patterns of a policy have a bounded number and length', () => {
  const isTaken = (count: number, length: number) =>
    RequestedPolicy.safeParse({ secretPatterns: Array(count).fill('a'.repeat(length)) }).success
  expect([isTaken(100, 100), isTaken(1, 10_000)]).toEqual([true, true])
  expect([isTaken(101, 1), isTaken(1, 10_001), isTaken(99, 102)]).toEqual([false, false, false])
})
