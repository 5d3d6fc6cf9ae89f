import { drop, replace } from '../mutations/edits.ts'
import { behaviour, fault } from './row.ts'
import type { Rule } from './rules.ts'

const runtime = (name: string) => `test/runtime/${name}.test.ts`

/** Rules for reads of the log, turns and their versions, keys, secrets and erasures. */
export const KEEPING: readonly Rule[] = [
  {
    rule: 'event log',
    says: 'a read holds all that comes before a head taken earlier',
    test: 'test/adapters/log/sqlite/answers.test.ts',
    name: 'misses nothing of it',
    fault: fault('adapters/sqlite/log/log.ts', '#last', drop('operand', '#tail')),
  },
  {
    rule: 'event log',
    says: 'a body is gone only together with the fact that names it',
    test: 'test/adapters/log/sqlite/answers.test.ts',
    name: 'a body that it erases',
    fault: fault('adapters/sqlite/log/log.ts', 'append', replace('call', 'rest', '$1')),
  },
  {
    rule: 'the stream of events',
    says: 'a heartbeat parts no event from its end',
    test: 'test/api/http/stream-response.test.ts',
    fault: fault('api/http/stream-response.ts', 'beat', drop('operand', 'isAsked')),
  },
  {
    rule: 'erasure',
    says: 'what was read before an erasure is written into no file after it',
    test: 'test/api/operations/plan-emptied.test.ts',
    fault: fault('api/operations/plan/plan-persistence.ts', 'keep', replace('call', 'run', 'this.#keep($1)')),
  },
  {
    rule: 'erasure',
    says: 'no snapshot holds a body that was erased while an append was on its way',
    test: runtime('contents/erased'),
    fault: fault('domain/stream/runtime/mailbox.ts', 'decideOnce', drop('operand', 'stale')),
  },
  {
    rule: 'who is woken',
    says: 'a step pauses the run at the end of its turn',
    test: 'test/projections/state.test.ts',
    fault: fault(
      'projections/agent/rows/agents.ts',
      'changed:step_requested',
      replace('value', 'paused undriven', '0'),
    ),
  },
  {
    rule: 'late answers of models',
    says: 'the true use of a lost attempt replaces its estimate',
    test: behaviour('history/5.9-late'),
    fault: fault('domain/agent/state/evolve-turns.ts', 'evolveLateAnswer', replace('value', 'spent', 'state.spent')),
  },
  {
    rule: 'late answers of models',
    says: 'an answer is one of its turn and attempt',
    test: behaviour('history/5.9-late'),
    fault: fault('domain/agent/state/evolve-turns.ts', 'lostAttemptOf', replace('operator', '=== turn', '>')),
  },
  {
    rule: 'versions owed',
    says: 'a turn ends after the version of its files',
    test: runtime('version-workspace'),
    name: 'a steady turn takes two appends',
    fault: fault('domain/agent/decide/proceed.ts', 'observe', replace('condition', 'unversioned', 'false')),
  },
  {
    rule: 'versions owed',
    says: 'a call that ends while a version is taken is owed the next version',
    test: runtime('version-workspace'),
    fault: fault('domain/agent/state/evolve-versions.ts', 'versioned', replace('value', 'left', 'null')),
  },
  {
    rule: 'keys',
    says: 'a request that found nothing to do is noted under its key',
    test: runtime('idempotency-keys'),
    fault: fault('domain/agent/decide/decide.ts', 'decideAgent', replace('condition', 'isKeyed', 'false')),
  },
  {
    rule: 'keys',
    says: 'a key is known after hundreds of others',
    test: runtime('idempotency-keys'),
    fault: fault('domain/stream/runtime/idempotency-keys.ts', 'has', replace('call', 'isRepeated get', 'false')),
  },
  {
    rule: 'secrets',
    says: 'a named secret is for the runs that were given it',
    test: 'test/api/process/boundary.test.ts',
    fault: fault('api/process/host/secret-use.ts', 'secretsFor', replace('condition', 'found', 'false')),
  },
  {
    rule: 'secrets',
    says: 'a run is told the names of its secrets',
    test: behaviour('5.12-security'),
    name: 'a run is told which secrets',
    fault: fault('domain/agent/window/prompt.ts', 'systemPrompt', replace('condition', 'secrets', 'false')),
  },
  {
    rule: 'secrets',
    says: 'a key that stands twice hides nothing',
    test: runtime('contents/redact'),
    fault: fault('domain/calls/requested-calls.ts', 'parse', replace('condition', 'jsonFault', "text.startsWith('{')")),
  },
  {
    rule: 'erasure',
    says: 'the parts of erased bodies that the fold needs are kept',
    test: runtime('contents/erase-many'),
    fault: fault('domain/stream/runtime/erasure/facts.ts', 'factsOf', replace('condition', 'left', 'false')),
  },
  {
    rule: 'erasure',
    says: 'nothing that was said is kept of them',
    test: runtime('contents/erase-many'),
    fault: fault('domain/tree/erased-spec.ts', 'withoutText', replace('operand', 'roleWithoutText', 'role')),
  },
  {
    rule: 'erasure',
    says: 'bodies of more than one append are all erased',
    test: runtime('contents/erase-many'),
    fault: fault('domain/stream/runtime/erasure/erase.ts', 'erase', replace('condition', 'gone', 'true')),
  },
]
