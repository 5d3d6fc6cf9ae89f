import type { Mutation } from '../mutation.ts'
import { KEEPING } from './keeping.ts'
import { MESSAGES } from './messages.ts'
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
    fault: fault('agent/rules/policy-check.ts', 'judged.every((one)', '[].some((one)'),
  },
  ...WORK,
  ...ROUTING,
  ...MESSAGES,
  {
    rule: 'memory',
    says: 'a call that is performed again saves no second fact',
    test: 'test/api/memory.test.ts',
    name: 'a second time',
    fault: fault('memory/fact.ts', '`memory of ${callId}`', '`memory of ${callId} ${Math.random()}`'),
  },
  {
    rule: 'memory',
    says: 'an agent forgets only facts that it reaches',
    test: 'test/api/memory.test.ts',
    name: 'nothing else',
    fault: fault('memory/runtime/memories.ts', 'if (places.some(', 'if (places.every(() => true) || places.some('),
  },
  {
    rule: 'memory',
    says: 'a search stays within its places',
    test: 'test/projections/memories.test.ts',
    fault: fault('memory/words.ts', '${place}`).slice(0, 16)', '`).slice(0, 16)'),
  },
  {
    rule: 'memory',
    says: 'only a fact that was forgotten is erased',
    test: 'test/domain/memory/aggregate.test.ts',
    fault: fault('memory/aggregate.ts', "ended ||= type === 'fact_forgotten'", "ended ||= type !== ''"),
  },
  ...KEEPING,
  {
    rule: 'forks',
    says: 'a fork spends on its own account',
    test: behaviour('5.9-forks'),
    fault: fault('agent/state/evolve-fork.ts', '    spent: NOTHING_SPENT,\n', ''),
  },
  {
    rule: 'forks',
    says: 'the spending of its source is kept apart',
    test: behaviour('5.9-forks'),
    fault: fault(
      'agent/state/evolve-fork.ts',
      'inherited: addSpent(addSpent(inherited, spent), state.family.settled.spent)',
      'inherited',
    ),
  },
  {
    rule: 'bounded numbers',
    says: 'figures of a model are such that they can be counted',
    test: runtime('figures'),
    fault: fault('agent/events/model-outcome.ts', '.max(1_000_000_000_000)', ''),
  },
  {
    rule: 'bounded numbers',
    says: 'tokens and prices have bounds within which every call can be counted',
    test: runtime('figures'),
    fault: fault('tree/spec.ts', '.max(10_000_000_000_000)', ''),
  },
  {
    rule: 'bounded numbers',
    says: 'a decision that fails ends the run by name',
    test: runtime('figures'),
    fault: fault('agent/decide/decide.ts', '      endByFault(ending, fault)\n', '      throw fault\n'),
  },
  {
    rule: 'gates',
    says: 'tests that passed before a file changed have not passed',
    test: runtime('gates'),
    fault: fault('agent/runtime/perform/gates.ts', 'snapshot()) !== state.tested.tree', "snapshot()) === ''"),
  },
  {
    rule: 'gates',
    says: 'the test command is one of the workspace itself',
    test: runtime('gates'),
    fault: fault('calls/command-line.ts', "reads.every((folder) => folder === '' || folder === '.')", 'reads'),
  },
  {
    rule: 'gates',
    says: 'a file is named by a test, not by another file',
    test: runtime('gates'),
    fault: fault('agent/runtime/perform/gates.ts', ', only: isTestFile', ''),
  },
  {
    rule: 'files of a lost agent',
    says: 'a driver that has lost the agent versions nothing',
    test: behaviour('5.9-overtaken'),
    fault: fault(
      'agent/decide/decide-outcomes.ts',
      'step < unversioned.from || !sawTheFiles(d)',
      'step < unversioned.from',
    ),
  },
  {
    rule: 'files of a lost agent',
    says: 'a driver that has lost the agent reports no drift',
    test: behaviour('5.9-overtaken'),
    fault: fault(
      'agent/decide/decide-outcomes.ts',
      'd.state.unversioned !== null || !sawTheFiles(d)',
      'd.state.unversioned !== null',
    ),
  },
  {
    rule: 'doubts',
    says: 'a control tool is never in doubt, and fails where it takes its drivers with it',
    test: behaviour('5.9-overtaken'),
    fault: fault('calls/decide/proceed.ts', 'if (control && call.lost >= MAX_LOST)', 'if (false)'),
  },
  {
    rule: 'the place of the warning turn',
    says: 'its reserve counts each answer again as input',
    test: behaviour('5.2-budget'),
    fault: fault('agent/rules/budget.ts', 'final ? rate.output : rate.output + rate.input', 'rate.output'),
  },
  {
    rule: 'the place of the warning turn',
    says: 'its reserve counts the results of tools as input',
    test: behaviour('5.2-budget'),
    fault: fault('agent/rules/budget.ts', 'again * rate.input + results +', 'input * rate.input +'),
  },
  {
    rule: 'the place of the warning turn',
    says: 'money is reserved for writes to a cache',
    test: behaviour('5.2-budget'),
    fault: fault('agent/rules/budget.ts', 'Math.max(price.input, price.cacheWrite)', 'price.input'),
  },
  {
    rule: 'the grace time',
    says: 'a completion after the limit does not count, whichever check comes first',
    test: behaviour('5.2-recovery'),
    fault: fault('agent/decide/decide-tools.ts', 'if (graceIsOver(d.state, d.context.now))', 'if (d.context.now < 0)'),
  },
  {
    rule: 'failed calls',
    says: 'a later change forgives a failed call, in the same turn too',
    test: behaviour('5.10-errors'),
    fault: fault('agent/state/evolve-calls.ts', 'call.since < state.forgivenAt', 'state.forgivenAt > 9_999'),
  },
  {
    rule: 'sessions of the page',
    says: 'the cookie, which every program of the host gets, is worth nothing without the key of the page',
    test: 'test/api/web-session.test.ts',
    fault: {
      file: 'api/http/sessions/web-sessions.ts',
      search: " && equal(key, this.#sign('page', payload))",
      replace: '',
    },
  },
  {
    rule: 'sessions of the page',
    says: 'a link to the page works once',
    test: 'test/api/web-session.test.ts',
    fault: {
      file: 'api/http/sessions/web-sessions.ts',
      search: '    this.#codes.delete(key)\n    const now',
      replace: '    const now',
    },
  },
  {
    rule: 'sessions of the page',
    says: 'a page of another port of the host cannot use a session',
    test: 'test/api/web-session.test.ts',
    fault: {
      file: 'api/http/sessions/session-guard.ts',
      search: "site !== 'same-origin')",
      replace: "site === 'cross-site')",
    },
  },
  {
    rule: 'proofs of trees',
    says: 'a child ends where its parent has recorded it',
    test: behaviour('5.4-proofs'),
    fault: fault('agent/runtime/history/verify-children.ts', 'if (end.hash !== head.hash)', 'if (end.hash === "")'),
  },
  {
    rule: 'erasures in trees',
    says: 'bodies of children stay in the blob store',
    test: behaviour('5.4-proofs'),
    fault: fault('stream/runtime/erasure/unnamed-blobs.ts', 'if (born !== null) streams.push(born)', ''),
  },
  {
    rule: 'compared runs',
    says: 'the causal history of a child stands below the call of its parent',
    test: behaviour('5.9-compared-runs'),
    fault: fault('agent/rules/causal-history.ts', 'path: [...path, ...entry.path],', 'path: entry.path,'),
  },
  {
    rule: 'compared runs',
    says: 'a fact that a fork records anew is no difference',
    test: behaviour('5.9-compared-runs'),
    fault: fault('agent/rules/causal-history.ts', 'if (event.body.system !== prompt) ', ''),
  },
  {
    rule: '5.9 recorded answers',
    says: 'a fork that asks for the same performs nothing',
    test: behaviour('5.9-recorded-answers'),
    fault: fault('agent/runtime/perform/reuse.ts', 'if (differs.length > 0)', 'if (differs.length >= 0)'),
  },
  {
    rule: '5.9 recorded answers',
    says: 'the first difference ends it',
    test: behaviour('5.9-left-records'),
    fault: fault('agent/runtime/perform/reuse.ts', 'if (differs.length > 0)', 'if (differs.length < 0)'),
  },
  {
    rule: '5.9 recorded answers',
    says: 'an outcome that is taken from the record is not billed',
    test: behaviour('5.9-recorded-answers'),
    fault: fault('agent/runtime/perform/reuse.ts', 'usage: NO_USAGE, ...named', 'usage, ...named'),
  },
  {
    rule: '5.9 recorded answers',
    says: 'a call without a recorded outcome needs its approval',
    test: behaviour('5.9-left-records'),
    fault: fault('agent/decide/record.ts', 'if (call.recorded === undefined) {', 'if (false) {'),
  },
  {
    rule: '5.9 recorded answers',
    says: 'a call of the memory saves nothing again',
    test: behaviour('5.9-recorded-answers'),
    fault: fault(
      'agent/runtime/driver.ts',
      'const fact = call.reused\n',
      "const fact = call.reused && call.toolName !== 'remember'\n",
    ),
  },
  {
    rule: '5.9 recorded answers',
    says: 'answers of the memory are not empty in the fork',
    test: behaviour('5.9-recorded-answers'),
    fault: fault('agent/runtime/perform/reuse.ts', 'asked.memory !== undefined || ', ''),
  },
  {
    rule: '5.9 recorded answers',
    says: 'each call puts its recorded files back, and none over those of another hand',
    test: 'test/runtime/reused-files.test.ts',
    fault: fault('agent/runtime/perform/put-back.ts', 'await versions.restore(tree)', ''),
  },
  {
    rule: 'trees on servers',
    says: 'no more agents of a run are at work than it allows, over all processes',
    test: 'test/runtime/tree-shared.test.ts',
    fault: fault('tree/runtime/tree-leases.ts', 'n < atOnce; n++', 'n < 99; n++'),
  },
  {
    rule: 'refused delegations',
    says: 'an agent at depth 4 is refused by name',
    test: 'test/runtime/tree-refusals.test.ts',
    fault: fault(
      'agent/control/delegate-to-agent.ts',
      'if (depth < most) return null',
      'if (depth <= most) return null',
    ),
  },
  {
    rule: 'books of trees',
    says: 'the tables reserve the amounts that children may still take',
    test: 'test/projections/tree.test.ts',
    fault: {
      file: 'projections/agent/budget-view.ts',
      search: "c.kind = 'granted' and",
      replace: "c.kind = 'granted' and n.revision < 0 and",
    },
  },
]
