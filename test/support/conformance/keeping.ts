import { behaviour, fault } from './row.ts'
import type { Rule } from './rules.ts'

const runtime = (name: string) => `test/runtime/${name}.test.ts`

/** Rules for reads of the log, turns and their versions, keys, secrets and erasures. */
export const KEEPING: readonly Rule[] = [
  {
    rule: 'event log',
    says: 'a read holds all that comes before a head taken earlier',
    test: 'test/adapters/log/sqlite-answers.test.ts',
    name: 'misses nothing of it',
    fault: {
      file: 'adapters/sqlite/log/log.ts',
      search: 'this.#tail?.last ?? reader.last()',
      replace: 'reader.last()',
    },
  },
  {
    rule: 'event log',
    says: 'a body is gone only together with the fact that names it',
    test: 'test/adapters/log/sqlite-answers.test.ts',
    name: 'a body that it erases',
    fault: {
      file: 'adapters/sqlite/log/log.ts',
      search: 'this.#tail.rest(appended)',
      replace: 'appended',
    },
  },
  {
    rule: 'the stream of events',
    says: 'a heartbeat parts no event from its end',
    test: 'test/api/stream-response.test.ts',
    fault: {
      file: 'api/http/stream-response.ts',
      search: 'isAsked() && controller',
      replace: 'controller',
    },
  },
  {
    rule: 'erasure',
    says: 'what was read before an erasure is written into no file after it',
    test: 'test/api/plan-emptied.test.ts',
    fault: {
      file: 'api/operations/plan/plan-persistence.ts',
      search: 'this.#writing.run(runId, () => this.#keep(runId))',
      replace: 'this.#keep(runId)',
    },
  },
  {
    rule: 'erasure',
    says: 'no snapshot holds a body that was erased while an append was on its way',
    test: runtime('erased'),
    fault: fault('stream/runtime/mailbox.ts', 'state !== null && !this.stale', 'state !== null'),
  },
  {
    rule: 'who is woken',
    says: 'a step pauses the run at the end of its turn',
    test: 'test/projections/state.test.ts',
    fault: {
      file: 'projections/agent/rows/agents.ts',
      search: 'undriven: 0, paused: 1, stepping: 1',
      replace: 'undriven: 0, stepping: 1',
    },
  },
  {
    rule: 'late answers of models',
    says: 'the true use of a lost attempt replaces its estimate',
    test: behaviour('5.9-late'),
    fault: fault('agent/state/evolve-turns.ts', 'spend(spend(state.spent, lost, -1), event.body)', 'state.spent'),
  },
  {
    rule: 'late answers of models',
    says: 'an answer is one of its turn and attempt',
    test: behaviour('5.9-late'),
    fault: fault('agent/state/evolve-turns.ts', 'lost.turn === turn && lost.attempt === attempt', 'lost.turn > turn'),
  },
  {
    rule: 'versions owed',
    says: 'a turn ends after the version of its files',
    test: runtime('version-workspace'),
    name: 'a steady turn takes two appends',
    fault: fault('agent/decide/proceed.ts', 'if (d.state.unversioned !== null) return false\n    endTurn', 'endTurn'),
  },
  {
    rule: 'versions owed',
    says: 'a call that ends while a version is taken is owed the next version',
    test: runtime('version-workspace'),
    fault: fault(
      'agent/state/evolve-versions.ts',
      'unversioned.to > step ? { from: step + 1, to: unversioned.to } : null',
      'null',
    ),
  },
  {
    rule: 'keys',
    says: 'a request that found nothing to do is noted under its key',
    test: runtime('keys'),
    fault: fault(
      'agent/decide/decide.ts',
      'if (d.drafts.length === 0 && isKeyed(context.commandId))',
      'if (state === null)',
    ),
  },
  {
    rule: 'keys',
    says: 'a key is known after hundreds of others',
    test: runtime('keys'),
    fault: fault(
      'stream/runtime/keys.ts',
      'return isRepeated(this.aggregate, this.keys.get(key), commandId)',
      'return false',
    ),
  },
  {
    rule: 'secrets',
    says: 'a named secret is for the runs that were given it',
    test: 'test/api/boundary.test.ts',
    fault: {
      file: 'api/process/host/secret-use.ts',
      search: 'if (found !== undefined) throw unavailable(reference, found.why)',
      replace: '',
    },
  },
  {
    rule: 'secrets',
    says: 'a run is told the names of its secrets',
    test: behaviour('5.12-security'),
    name: 'a run is told which secrets',
    fault: fault('agent/window/prompt.ts', 'if (secrets.length > 0) {', 'if (secrets.length > 1) {'),
  },
  {
    rule: 'secrets',
    says: 'a key that stands twice hides nothing',
    test: runtime('redact'),
    fault: fault('calls/requested-calls.ts', 'jsonFault(text) === null', "text.startsWith('{')"),
  },
  {
    rule: 'erasure',
    says: 'the parts of erased bodies that the fold needs are kept',
    test: runtime('erase-many'),
    fault: fault(
      'stream/runtime/erasure/facts.ts',
      'if (left.length > 0) facts.push',
      'if (left.length > 9_999) facts.push',
    ),
  },
  {
    rule: 'erasure',
    says: 'nothing that was said is kept of them',
    test: runtime('erase-many'),
    fault: fault('tree/erased-spec.ts', 'profile: ERASED, goal: ERASED', ''),
  },
  {
    rule: 'erasure',
    says: 'bodies of more than one append are all erased',
    test: runtime('erase-many'),
    fault: fault('stream/runtime/erasure/erase.ts', 'one.revision <= gone ?', 'one.revision >= 0 ?'),
  },
]
