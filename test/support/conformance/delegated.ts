import { drop, replace } from '../mutations/edits.ts'
import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const decided = 'test/domain/external/delegated.test.ts'
const law = 'test/laws/tree-backends.test.ts'
const api = 'test/api/agents/agent-delegation.test.ts'
const views = 'test/api/agents/agent-delegation-views.test.ts'
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
    fault: fault('domain/agent/rules/admission.ts', 'checkBackends', replace('condition', 'backends', 'false')),
  },
  {
    rule,
    says: 'another agent has no right that its parent lacks in its phase',
    test: decided,
    name: 'then the other agent has no more',
    fault: fault('domain/agent/control/delegate-to-agent.ts', 'backendFor', replace('condition', 'here', 'true')),
  },
  {
    rule,
    says: 'rights that no option of the agent is as narrow as are refused with a code',
    test: decided,
    name: 'then the call is refused, and nothing is started',
    fault: fault(
      'domain/agent/control/delegate-to-agent.ts',
      'backendFor',
      replace('value', 'return null', 'undefined'),
    ),
  },
  {
    rule,
    says: 'a task that holds a secret is refused by its name',
    test: decided,
    name: 'given a task that holds a secret',
    fault: fault('domain/agent/control/delegate-to-agent.ts', 'decide', replace('condition', 'secret', 'false')),
  },
  {
    rule,
    says: 'without the right to commands nothing in its folder may start a program',
    test: 'test/domain/external/delegation.test.ts',
    name: 'is only let read',
    fault: fault('adapters/agents/cli/claude-code.ts', 'claudeCode', replace('value', 'RESTRICTED plan true', 'false')),
  },
  {
    rule,
    says: 'gates of its role are told as unmet',
    test: decided,
    name: 'gates of its role are told as unmet',
    fault: fault('domain/external/courier.ts', 'reportedEnd', replace('value', 'unmetGates', '[]')),
  },
  {
    rule,
    says: 'its use is on the bill of its parent once',
    test: law,
    name: 'what it has used is counted once',
    fault: fault('domain/external/courier.ts', 'reportOf', replace('value', 'output own', '2 * ($)')),
  },
  {
    rule,
    says: 'a death at work leaves an unknown outcome in the call',
    test: law,
    name: 'leaves an unknown outcome in its call',
    fault: fault('domain/agent/rules/delegation-text.ts', 'SHARED', drop('entry', 'UNKNOWN_OUTCOME')),
  },
  {
    rule,
    says: 'what a dead one has not told counts as uncertain',
    test: law,
    name: 'leaves an unknown outcome in its call',
    fault: fault('domain/external/courier.ts', 'open', replace('call', 'max', '0')),
  },
  {
    rule,
    says: 'a role is given to another agent, which is started once',
    test: api,
    name: 'is started once, and its end is the result of the call',
    fault: fault('domain/external/courier.ts', 'resultOf', replace('word', 'completed', 'failed')),
  },
  {
    rule,
    says: 'in a pause none is started',
    test: api,
    name: 'in a pause no other agent is started',
    fault: fault('domain/external/runtime/delegated-agents.ts', '#work', drop('operand', 'paused')),
  },
  {
    rule,
    says: 'what it owes counts as its run’s, which a process that drives by itself finds',
    test: api,
    name: 'the run is due by then',
    fault: fault('projections/engine/queries/due.ts', 'drivable', replace('word', '0', '2')),
  },
  {
    rule,
    says: 'an erasure of the run reaches its stream',
    test: views,
    name: 'erasing the run empties what was said to the other agent and by it',
    fault: fault(
      'domain/agent/runtime/stream-to-erase.ts',
      'streamToErase',
      replace('operand', 'streamOfAgent', 'null'),
    ),
  },
  {
    rule,
    says: 'its final text is registered with its parent',
    test: views,
    name: 'the tree, the bill and the artifacts show it',
    fault: fault('projections/agent/rows/tree.ts', 'artifactRegistrations', replace('operand', 'kindOf', 'false')),
  },
  {
    rule: calls,
    says: 'what its options govern is not offered a second time',
    test: 'test/api/agents/agent-tools.test.ts',
    name: 'a call is judged, recorded',
    fault: fault('domain/tree/outside-tools.ts', 'toolsForOther', drop('operand', 'ITS_OWN')),
  },
  {
    rule: calls,
    says: 'a call of what it does not reach is refused, and recorded',
    test: outside,
    name: 'then the call is refused and recorded',
    fault: fault('domain/tree/outside-tools.ts', 'outsideSpec', replace('call', 'filter names', '$0')),
  },
  {
    rule: calls,
    says: 'a call that the policy asks about waits for a person',
    test: outside,
    name: 'then nothing is begun before a person has given it',
    fault: fault('domain/tree/outside-tools.ts', 'outsideSpec', replace('value', 'requiresApproval', '[]')),
  },
  {
    rule: calls,
    says: 'in a pause of its parent no call is begun',
    test: outside,
    name: 'when its parent is paused, then nothing is begun',
    fault: fault('domain/external/decide-calls.ts', 'proceed', replace('condition', 'paused', 'true')),
  },
  {
    rule: calls,
    says: 'an unknown outcome is told at once, and no person is asked',
    test: outside,
    name: 'when it is unknown whether a call happened',
    fault: fault('domain/external/decide-calls.ts', 'end:tool_in_doubt', drop('statement', 'failCall')),
  },
  {
    rule: calls,
    says: 'after a crash a call that had begun is unknown, and none is begun again',
    test: outside,
    name: 'when the program that ran it is gone',
    fault: fault('domain/external/decide.ts', 'bring:reaped', drop('statement', 'settleExternalCalls')),
  },
  {
    rule: calls,
    says: 'no call is open behind the end of its agent',
    test: outside,
    name: 'each call has one start and one end',
    fault: fault('domain/external/decide.ts', 'bring:end', drop('statement', 'settleExternalCalls')),
  },
  {
    rule: calls,
    says: 'an erasure leaves no word of a call',
    test: outside,
    name: 'erasing what was said',
    fault: fault('domain/external/erasing.ts', 'RESIDUES', replace('value', 'tool_call_end', '(body) => body')),
  },
  {
    rule: calls,
    says: 'secrets are hidden before a call is recorded, and resolved where it is performed',
    test: 'test/api/agents/agent-tools-ends.test.ts',
    name: 'a secret is resolved for the tool',
    fault: fault('domain/external/runtime/given-tools.ts', '#ask', replace('value', 'args plain', 'plain')),
  },
  {
    rule: calls,
    says: 'the token of the server dies with the run',
    test: 'test/adapters/functions-mcp/own-tools.test.ts',
    name: 'the token dies with the run',
    fault: fault('adapters/agents/process/reach-tools.ts', 'close', drop('statement', 'close')),
  },
]
