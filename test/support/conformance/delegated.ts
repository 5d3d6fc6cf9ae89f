import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const decided = 'test/domain/external/delegated.test.ts'
const law = 'test/laws/tree-backends.test.ts'
const api = 'test/api/agent-delegation.test.ts'
const views = 'test/api/agent-delegation-views.test.ts'
const rule = 'delegation to another agent'
const calls = 'keepup’s tools for another agent'
const outside = 'test/domain/external/own-tools.test.ts'

/** Delegation from keepup agents to external agents (CONTRACTS 13). */
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
    says: 'a task that holds a secret is refused by its name',
    test: decided,
    name: 'given a task that holds a secret',
    fault: fault('agent/control/delegate-to-agent.ts', 'if (secret !== null) return', 'if (false as boolean) return'),
  },
  {
    rule,
    says: 'without the right to commands nothing in its folder may start a program',
    test: 'test/domain/external/delegation.test.ts',
    name: 'is only let read',
    fault: {
      file: 'adapters/agents/cli/claude-code.ts',
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
    fault: fault(
      'external/runtime/delegated-agents.ts',
      "=== 'requested' && !parent.state.paused)",
      "=== 'requested')",
    ),
  },
  {
    rule,
    says: 'what it owes counts as its run’s, which a process that drives by itself finds',
    test: api,
    name: 'the run is due by then',
    fault: {
      file: 'projections/engine/queries/due.ts',
      search: "eb('r.ungoverned', '=', 0)",
      replace: "eb('r.ungoverned', '=', 2)",
    },
  },
  {
    rule,
    says: 'an erasure of the run reaches its stream',
    test: views,
    name: 'erasing the run empties what was said to the other agent and by it',
    fault: fault('agent/runtime/stream-to-erase.ts', '(await streamOfAgent(log, agentId)) === stream', 'false'),
  },
  {
    rule,
    says: 'its final text is registered with its parent',
    test: views,
    name: 'the tree, the bill and the artifacts show it',
    fault: {
      file: 'projections/agent/rows/tree.ts',
      search: "kindOf(e.body.origin.stream) === 'external'",
      replace: 'false',
    },
  },
  {
    rule: calls,
    says: 'what its options govern is not offered a second time',
    test: 'test/api/agent-tools.test.ts',
    name: 'a call is judged, recorded',
    fault: fault('tree/outside-tools.ts', '!ITS_OWN.has(name) && inSome', 'inSome'),
  },
  {
    rule: calls,
    says: 'a call of what it does not reach is refused, and recorded',
    test: outside,
    name: 'then the call is refused and recorded',
    fault: fault(
      'tree/outside-tools.ts',
      'const tools = spec.tools.filter(({ name }) => names.includes(name))',
      'const { tools } = spec',
    ),
  },
  {
    rule: calls,
    says: 'a call that the policy asks about waits for a person',
    test: outside,
    name: 'then nothing is begun before a person has given it',
    fault: fault(
      'tree/outside-tools.ts',
      'requiresApproval: spec.policy.requiresApproval.filter(concerns)',
      'requiresApproval: []',
    ),
  },
  {
    rule: calls,
    says: 'in a pause of its parent no call is begun',
    test: outside,
    name: 'when its parent is paused, then nothing is begun',
    fault: fault('external/decide-calls.ts', 'while (proceed(d, paused))', 'while (proceed(d, false))'),
  },
  {
    rule: calls,
    says: 'an unknown outcome is told at once, and no person is asked',
    test: outside,
    name: 'when it is unknown whether a call happened',
    fault: fault(
      'external/decide-calls.ts',
      "return failCall(d, call, { code: 'UNKNOWN_OUTCOME'",
      "return void ({ code: 'UNKNOWN_OUTCOME'",
    ),
  },
  {
    rule: calls,
    says: 'after a crash a call that had begun is unknown, and none is begun again',
    test: outside,
    name: 'when the program that ran it is gone',
    fault: fault('external/decide.ts', "      settleCalls(d, 'the program that ran the agent was gone')\n", ''),
  },
  {
    rule: calls,
    says: 'no call is open behind the end of its agent',
    test: outside,
    name: 'each call has one start and one end',
    fault: fault('external/decide.ts', "      if (running) settleCalls(d, 'the agent that called has ended')\n", ''),
  },
  {
    rule: calls,
    says: 'an erasure leaves no word of a call',
    test: outside,
    name: 'erasing what was said',
    fault: fault('external/erasing.ts', 'tool_call_end: callResidues.tool_call_end', 'tool_call_end: (body) => body'),
  },
  {
    rule: calls,
    says: 'secrets are hidden before a call is recorded, and resolved where it is performed',
    test: 'test/api/agent-tools-ends.test.ts',
    name: 'a secret is resolved for the tool',
    fault: fault(
      'external/runtime/given-tools.ts',
      'plain === null ? null : secrets.arguments(tool?.name ?? name, plain)',
      'plain',
    ),
  },
  {
    rule: calls,
    says: 'the token of the server dies with the run',
    test: 'test/adapters/functions-mcp/own-tools.test.ts',
    name: 'the token dies with the run',
    fault: { file: 'adapters/agents/process/reach-tools.ts', search: '      await close()\n', replace: '' },
  },
]
