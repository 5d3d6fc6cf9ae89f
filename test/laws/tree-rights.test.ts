import fc from 'fast-check'
import { expect, test } from 'vitest'
import { permitted } from '../../domain/agent/control/delegate-to-agent.ts'
import { admit } from '../../domain/agent/rules/admission.ts'
import { childSpec } from '../../domain/agent/rules/child-spec.ts'
import { matches } from '../../domain/calls/tools/tool-patterns.ts'
import type { AgentSpec } from '../../domain/tree/spec.ts'
import { toolSpec } from '../support/harness.ts'
import { law } from '../support/laws.ts'
import { treeSpec } from '../support/tree/plans.ts'

// Law: no child has a right that its parent lacks, over any number of generations.

const NAMES = ['look', 'put', 'save', 'web:get', 'web:post', 'db:get']
const patterns = fc.array(fc.constantFrom('*', 'web:*', 'db:*', ...NAMES), { maxLength: 4 })

test('the rights of every generation are a part of those before, and its spec may be started', async () => {
  const policies = fc.record({ allowedTools: patterns, deniedTools: patterns, requiresApproval: patterns })
  await law(fc.tuple(policies, fc.array(patterns, { minLength: 1, maxLength: 3 })), 300, ([policy, generations]) => {
    const base = treeSpec()
    const tools = [...base.tools.filter(({ control }) => control), ...NAMES.map((name) => toolSpec(name))]
    let parent: AgentSpec = { ...base, tools, policy: { ...base.policy, ...policy } }
    for (const constraints of generations) {
      const grant = { tokens: 10_000, nanoDollars: null, agents: 2 }
      const body = { childId: 'c', role: 'coder', task: 't', constraints, grant, tree: null }
      const child = childSpec(parent, body)!
      admit(child)
      const [before, after] = [permitted(parent), permitted(child)].map((list) => list.map(({ name }) => name)) as [
        string[],
        string[],
      ]
      expect(before).toEqual(expect.arrayContaining(after))
      expect(child.withheld ?? []).toEqual([
        ...(parent.withheld ?? []),
        ...before.filter((name) => !after.includes(name)),
      ])
      if (constraints.length > 0)
        expect(after.every((name) => constraints.some((pattern) => matches(pattern, name)))).toBe(true)
      for (const name of after) {
        const asks = parent.policy.requiresApproval.some((pattern) => matches(pattern, name))
        expect(
          child.policy.requiresApproval.some((pattern) => matches(pattern, name)),
          name,
        ).toBe(asks)
      }
      expect(child.policy).toMatchObject({ mode: parent.policy.mode, sandboxed: parent.policy.sandboxed })
      expect(child).toMatchObject({ contextVariables: {}, budget: { tokens: 10_000 }, delegation: { agents: 2 } })
      parent = child
    }
  })
})
