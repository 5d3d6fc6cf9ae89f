import { drop, replace, reworded } from '../mutations/edits.ts'
import type { Mutation } from '../mutations/mutation.ts'
import { KEEPING } from './keeping.ts'
import { MESSAGES } from './messages.ts'
import { PROVING } from './proving.ts'
import { ROUTING } from './routing.ts'
import { behaviour, fault } from './row.ts'
import { WORK } from './work.ts'

/** A rule outside the MUSTs and laws, with a fault that its tests must catch. */
export interface Rule {
  /** The source: a section of the contracts or of the design. */
  readonly rule: string
  readonly says: string
  readonly test: string
  readonly name?: string
  readonly fault: Mutation
}

const runtime = (name: string) => `test/runtime/${name}.test.ts`

export const RULES: readonly Rule[] = [
  {
    rule: 'another policy over recorded calls',
    says: 'it lists each call that it would have refused',
    test: behaviour('3-policy-check'),
    fault: fault('domain/agent/rules/policy-check.ts', 'verdictOn', replace('condition', 'judged', 'false')),
  },
  ...WORK,
  ...ROUTING,
  ...MESSAGES,
  {
    rule: 'memory',
    says: 'a call that is performed again saves no second fact',
    test: 'test/api/operations/memory.test.ts',
    name: 'a second time',
    fault: fault('domain/memory/fact.ts', 'memoryOfCall', replace('entry', 'callId', '$ + Math.random()')),
  },
  {
    rule: 'memory',
    says: 'an agent forgets only facts that it reaches',
    test: 'test/api/operations/memory.test.ts',
    name: 'nothing else',
    fault: fault('domain/memory/runtime/memories.ts', '#mustReach', replace('condition', 'some', 'true')),
  },
  {
    rule: 'memory',
    says: 'a search stays within its places',
    test: 'test/projections/memories.test.ts',
    fault: fault('domain/memory/words.ts', 'placeWord', replace('entry', 'place', 'scope')),
  },
  {
    rule: 'memory',
    says: 'only a fact that was forgotten is erased',
    test: 'test/domain/memory/aggregate.test.ts',
    fault: fault('domain/memory/aggregate.ts', 'memory', drop('entry', 'ends fact_forgotten')),
  },
  ...KEEPING,
  ...PROVING,
  {
    rule: 'forks',
    says: 'a fork spends on its own account',
    test: behaviour('history/5.9-forks'),
    fault: fault('domain/agent/state/evolve-fork.ts', 'evolveFork', drop('entry', 'NOTHING_SPENT')),
  },
  {
    rule: 'forks',
    says: 'the spending of its source is kept apart',
    test: behaviour('history/5.9-forks'),
    fault: fault('domain/agent/state/evolve-fork.ts', 'evolveFork', replace('value', 'inherited', 'inherited')),
  },
  {
    rule: 'bounded numbers',
    says: 'figures of a model are such that they can be counted',
    test: runtime('figures'),
    fault: fault('domain/agent/events/model-outcome.ts', 'tokens', replace('call', 'max', '$0')),
  },
  {
    rule: 'bounded numbers',
    says: 'tokens and prices have bounds within which every call can be counted',
    test: runtime('figures'),
    fault: fault('domain/tree/spec.ts', 'price', replace('call', 'max', '$0')),
  },
  {
    rule: 'bounded numbers',
    says: 'a decision that fails ends the run by name',
    test: runtime('figures'),
    fault: fault('domain/agent/decide/decide.ts', 'afterOutcome', replace('statement', 'endByFault', 'throw fault')),
  },
  {
    rule: 'gates',
    says: 'tests that passed before a file changed have not passed',
    test: runtime('gates'),
    fault: fault('domain/agent/runtime/perform/gates.ts', 'testsPass', replace('operand', 'snapshot', 'false')),
  },
  {
    rule: 'gates',
    says: 'the test command is one of the workspace itself',
    test: runtime('gates'),
    fault: fault('domain/calls/command-line.ts', 'commandInRoot', replace('condition', 'every', 'true')),
  },
  {
    rule: 'gates',
    says: 'a file is named by a test, not by another file',
    test: runtime('gates'),
    fault: fault('domain/agent/runtime/perform/gates.ts', 'testNaming', drop('entry', 'isTestFile')),
  },
  {
    rule: 'files of a lost agent',
    says: 'a driver that has lost the agent versions nothing',
    test: behaviour('history/5.9-overtaken'),
    fault: fault('domain/agent/decide/decide-outcomes.ts', 'versioned', drop('operand', 'sawTheFiles')),
  },
  {
    rule: 'files of a lost agent',
    says: 'a driver that has lost the agent reports no drift',
    test: behaviour('history/5.9-overtaken'),
    fault: fault('domain/agent/decide/decide-outcomes.ts', 'drifted', drop('operand', 'sawTheFiles')),
  },
  {
    rule: 'doubts',
    says: 'a control tool is never in doubt, and fails where it takes its drivers with it',
    test: behaviour('history/5.9-overtaken'),
    fault: fault('domain/calls/decide/proceed.ts', 'inDoubt', replace('value', 'control', 'false')),
  },
  {
    rule: 'the place of the warning turn',
    says: 'its reserve counts each answer again as input',
    test: behaviour('5.2-budget'),
    fault: fault('domain/agent/rules/own-budget.ts', 'roomFor', replace('value', 'each', 'rate.output')),
  },
  {
    rule: 'the place of the warning turn',
    says: 'its reserve counts the results of tools as input',
    test: behaviour('5.2-budget'),
    fault: fault('domain/agent/rules/own-budget.ts', 'roomFor', drop('operand', 'results')),
  },
  {
    rule: 'the place of the warning turn',
    says: 'money is reserved for writes to a cache',
    test: behaviour('5.2-budget'),
    fault: fault('domain/agent/rules/own-budget.ts', 'accounts', replace('call', 'max', '$1')),
  },
  {
    rule: 'the grace time',
    says: 'a completion after the limit does not count, whichever check comes first',
    test: behaviour('5.2-recovery'),
    fault: fault('domain/agent/decide/decide-tools.ts', 'succeeded', replace('condition', 'graceIsOver', 'false')),
  },
  {
    rule: 'failed calls',
    says: 'a later change forgives a failed call, in the same turn too',
    test: behaviour('5.10-errors'),
    fault: fault('domain/agent/state/evolve-calls.ts', 'settleCalls', replace('value', 'forgiven', 'false')),
  },
  {
    rule: 'sessions of the page',
    says: 'the cookie, which every program of the host gets, is worth nothing without the key of the page',
    test: 'test/api/web/session.test.ts',
    fault: fault('api/http/sessions/web-sessions.ts', '#sessionOf', drop('operand', 'page')),
  },
  {
    rule: 'sessions of the page',
    says: 'a link to the page works once',
    test: 'test/api/web/session.test.ts',
    fault: fault('api/http/sessions/web-sessions.ts', 'exchange', drop('statement', 'delete')),
  },
  {
    rule: 'sessions of the page',
    says: 'a page of another port of the host cannot use a session',
    test: 'test/api/web/session.test.ts',
    fault: fault(
      'api/http/sessions/session-guard.ts',
      'mustBeSameOrigin',
      replace('operand', 'same-origin', "site === 'cross-site'"),
    ),
  },
  {
    rule: 'proofs of trees',
    says: 'a child ends where its parent has recorded it',
    test: behaviour('5.4-proofs'),
    fault: fault(
      'domain/agent/runtime/history/verify-children.ts',
      'faultOf',
      replace('condition', 'hash head', 'false'),
    ),
  },
  {
    rule: 'erasures in trees',
    says: 'bodies of children stay in the blob store',
    test: behaviour('5.4-proofs'),
    fault: fault(
      'domain/stream/runtime/erasure/unnamed-blobs.ts',
      'removeUnnamed',
      replace('condition', 'born', 'false'),
    ),
  },
  {
    rule: 'compared runs',
    says: 'the causal history of a child stands below the call of its parent',
    test: behaviour('history/5.9-compared-runs'),
    fault: fault('domain/agent/rules/causal-history.ts', 'below', replace('value', 'path', 'entry.path')),
  },
  {
    rule: 'compared runs',
    says: 'a fact that a fork records anew is no difference',
    test: behaviour('history/5.9-compared-runs'),
    fault: fault('domain/agent/rules/causal-history.ts', 'causalHistoryOf', replace('condition', 'prompt', 'true')),
  },
  {
    rule: '5.9 recorded answers',
    says: 'a fork that asks for the same performs nothing',
    test: behaviour('history/5.9-recorded-answers'),
    fault: fault('domain/agent/runtime/perform/reuse.ts', 'model', replace('operator', '> differs', '>=')),
  },
  {
    rule: '5.9 recorded answers',
    says: 'the first difference ends it',
    test: behaviour('history/5.9-left-records'),
    fault: fault('domain/agent/runtime/perform/reuse.ts', 'model', replace('operator', '> differs', '<')),
  },
  {
    rule: '5.9 recorded answers',
    says: 'an outcome that is taken from the record is not billed',
    test: behaviour('history/5.9-recorded-answers'),
    fault: fault('domain/agent/runtime/perform/reuse.ts', 'outcomeOf', replace('word', 'NO_USAGE', 'usage')),
  },
  {
    rule: '5.9 recorded answers',
    says: 'a call without a recorded outcome needs its approval',
    test: behaviour('history/5.9-left-records'),
    fault: fault('domain/agent/decide/decide-reuse.ts', 'beginsFromRecord', replace('condition', 'recorded', 'false')),
  },
  {
    rule: '5.9 recorded answers',
    says: 'a call of the memory saves nothing again',
    test: behaviour('history/5.9-recorded-answers'),
    fault: fault(
      'domain/agent/runtime/driver.ts',
      'performCall',
      replace('condition', 'reused', "$ && call.toolName !== 'remember'"),
    ),
  },
  {
    rule: '5.9 recorded answers',
    says: 'answers of the memory are not empty in the fork',
    test: behaviour('history/5.9-recorded-answers'),
    fault: fault('domain/agent/runtime/perform/reuse.ts', 'findingsOf', drop('operand', 'memory')),
  },
  {
    rule: '5.9 recorded answers',
    says: 'each call puts its recorded files back, and none over those of another hand',
    test: 'test/runtime/reused-files.test.ts',
    fault: fault('domain/agent/runtime/perform/put-back.ts', 'putBack', drop('statement', 'restore')),
  },
  {
    rule: 'trees on servers',
    says: 'no more agents of a run are at work than it allows, over all processes',
    test: 'test/runtime/tree/tree-shared.test.ts',
    fault: fault('domain/tree/runtime/tree-leases.ts', '#slot', replace('condition', '#atOnce', 'n < 99')),
  },
  {
    rule: 'refused delegations',
    says: 'an agent at depth 4 is refused by name',
    test: 'test/runtime/tree/tree-refusals.test.ts',
    fault: fault('domain/agent/control/delegate-to-agent.ts', 'depthFault', replace('operator', '<', '<=')),
  },
  {
    rule: 'books of trees',
    says: 'the tables reserve the amounts that children may still take',
    test: 'test/projections/tree.test.ts',
    fault: fault('projections/agent/budget-view.ts', 'reserved', reworded('granted', 'none')),
  },
]
