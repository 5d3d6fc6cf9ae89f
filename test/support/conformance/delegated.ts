import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const decided = 'test/domain/external/delegated.test.ts'
const law = 'test/laws/tree-backends.test.ts'
const api = 'test/api/agent-delegation.test.ts'
const views = 'test/api/agent-delegation-views.test.ts'
const rule = 'delegation to another agent'

/** Delegation from keepup's own agents to other agents (CONTRACTS 13). */
export const DELEGATED: readonly Rule[] = [
  {
    rule,
    says: 'only a kind that the policy grants is delegated to',
    test: decided,
    name: 'a spec whose policy does not grant the kind is refused at the start',
    fault: fault('agent/rules/admission.ts', 'if (!policy.backends?.includes(kind))', 'if (false)'),
  },
  {
    rule,
    says: 'another agent has no right that its parent lacks in its phase',
    test: decided,
    name: 'then the other agent has no more',
    fault: fault('agent/control/delegate-to-agent.ts', 'role: here === null ? null :', 'role: true ? null :'),
  },
  {
    rule,
    says: 'rights that no option of the agent is as narrow as are refused with a code',
    test: decided,
    name: 'then the call is refused, and nothing is started',
    fault: fault(
      'agent/control/delegate-to-agent.ts',
      'if (level === null) return null',
      'if (level === null) return undefined',
    ),
  },
  {
    rule,
    says: 'without the right to commands nothing in its folder may start a program',
    test: 'test/domain/external/delegation.test.ts',
    name: 'is only let read',
    fault: {
      file: 'adapters/agents-cli/claude-code.ts',
      search: "extensions: { [MODE]: 'plan', [RESTRICTED]: true }",
      replace: "extensions: { [MODE]: 'plan' }",
    },
  },
  {
    rule,
    says: 'gates of its role are told as unmet',
    test: decided,
    name: 'gates of its role are told as unmet',
    fault: fault('external/courier.ts', 'unmetGates: [...state.gates]', 'unmetGates: []'),
  },
  {
    rule,
    says: 'its use is on the bill of its parent once',
    test: law,
    name: 'what it has used is counted once',
    fault: fault(
      'external/courier.ts',
      'const output = own?.outputTokens ?? 0',
      'const output = 2 * (own?.outputTokens ?? 0)',
    ),
  },
  {
    rule,
    says: 'a death at work leaves an unknown outcome in the call',
    test: law,
    name: 'leaves an unknown outcome in its call',
    fault: fault(
      'agent/rules/delegation.ts',
      "'CANCELLED', 'BUDGET_EXCEEDED', 'UNKNOWN_OUTCOME'",
      "'CANCELLED', 'BUDGET_EXCEEDED'",
    ),
  },
  {
    rule,
    says: 'what a dead one has not told counts as uncertain',
    test: law,
    name: 'leaves an unknown outcome in its call',
    fault: fault('external/courier.ts', 'Math.max(0, (most ?? 0) - used)', '0'),
  },
  {
    rule,
    says: 'a role is given to another agent, which is started once',
    test: api,
    name: 'is started once, and its end is the result of the call',
    fault: fault('external/courier.ts', "return { status: 'completed',", "return { status: 'failed',"),
  },
  {
    rule,
    says: 'in a pause none is started',
    test: api,
    name: 'in a pause no other agent is started',
    fault: fault('runtime/tree/other-agents.ts', "=== 'requested' && !parent.state.paused)", "=== 'requested')"),
  },
  {
    rule,
    says: 'what it owes counts as its run’s, which a process that drives by itself finds',
    test: api,
    name: 'the run is due by then',
    fault: {
      file: 'projections/queries/due.ts',
      search: "eb('r.ungoverned', '=', 0)",
      replace: "eb('r.ungoverned', '=', 2)",
    },
  },
  {
    rule,
    says: 'an erasure of the run reaches its stream',
    test: views,
    name: 'erasing the run empties what was said to the other agent and by it',
    fault: fault('runtime/agent/stream-to-erase.ts', '(await streamOfAgent(log, agentId)) === stream', 'false'),
  },
  {
    rule,
    says: 'its final text is registered with its parent',
    test: views,
    name: 'the tree, the bill and the artifacts show it',
    fault: {
      file: 'projections/changes/agent/tree.ts',
      search: "kindOf(e.body.origin.stream) === 'external'",
      replace: 'false',
    },
  },
]
