import { behaviour, fault, law, type Row } from './row.ts'

const GATEWAY = 'test/runtime/document/gateway.test.ts'

/** Seed 000, sections 6 to 11. */
export const STRUCTURE: readonly Row[] = [
  {
    must: '6',
    says: 'the state machine',
    test: law('3-decisions'),
    fault: fault(
      'agent/state/evolve-calls.ts',
      '  const allIn = calls.every(',
      '  const allIn = false && calls.every(',
    ),
  },
  {
    must: '7.1',
    says: 'the Coder, with phases and gates',
    test: behaviour('7-roles'),
    fault: fault('agent/state/phases.ts', 'return at >= from && at < target', 'return at === from && at < target'),
  },
  {
    must: '7.2',
    says: 'the Researcher',
    test: behaviour('7-built-in-roles'),
    name: '7.2',
    fault: fault(
      'agent/definition/roles.ts',
      "['search_web', 'read_url', 'search_code']",
      "['search_web', 'search_code']",
    ),
  },
  {
    must: '7.3',
    says: 'the Reviewer',
    test: behaviour('7-built-in-roles'),
    name: '7.3',
    fault: fault('agent/definition/roles.ts', "'Code Review Specialist'", "'Coder'"),
  },
  {
    must: '7.4',
    says: 'the Architect',
    test: behaviour('7-built-in-roles'),
    name: '7.4',
    fault: fault('agent/definition/roles.ts', "check: 'diagram_exists'", "check: 'tests_exist'"),
  },
  {
    must: '8.1',
    says: 'checkpoints in SQLite',
    test: 'test/projections/audit.test.ts',
    fault: {
      file: 'projections/agent/rows/checkpoint-rows.ts',
      search: "e.type !== 'tool_call_end' && ",
      replace: '',
    },
  },
  {
    must: '8.2',
    says: 'the event log is append-only',
    test: 'test/adapters/log/sqlite-refuses.test.ts',
    fault: {
      file: 'adapters/sqlite/log/schema.ts',
      search: "SELECT RAISE(ABORT, 'the log refuses DELETE')",
      replace: 'SELECT 1',
    },
  },
  {
    must: '8.3',
    says: 'artifacts with their checkpoint',
    test: 'test/projections/queries.test.ts',
    fault: {
      file: 'projections/agent/rows/artifact-rows.ts',
      search: "e.type !== 'artifact_registered'",
      replace: "e.type !== 'completion'",
    },
  },
  {
    must: '8.4',
    says: 'agent lineage',
    test: 'test/projections/queries.test.ts',
    fault: {
      file: 'projections/engine/schema/views.ts',
      search: 'create view agent_lineage as',
      replace: 'create view agent_lineages as',
    },
  },
  {
    must: '10.1',
    says: 'mutations flow through the AI gateway',
    test: GATEWAY,
    name: 'under the peer of the gateway is refused',
    fault: fault('document/runtime/desk.ts', "if (found.kind === 'refused') throw personFault(found)", ''),
  },
  {
    must: '10.2',
    says: 'doc_frontier',
    test: 'test/api/documents.test.ts',
    name: 'refuses the frontier of another document',
    fault: fault(
      'document/envelope/judge.ts',
      'if (!ACCEPTED.has(document.relation(clientFrontier(request))))',
      'if (false)',
    ),
  },
  {
    must: '10.3',
    says: 'preconditions',
    test: GATEWAY,
    name: 'gives a repeated request its first answer',
    fault: fault('document/envelope/judge.ts', 'if (failed.length > 0)', 'if (false)'),
  },
  {
    must: '10.4',
    says: 'canonical structures',
    test: 'test/domain/document/normalize.test.ts',
    name: 'is equal for equal meaning',
    fault: fault('document/model/runs.ts', 'last !== undefined && sameMarks(last.marks, marks)', 'false'),
  },
  {
    must: '10.5',
    says: 'fail closed',
    test: GATEWAY,
    name: 'records of a body answered with 400',
    fault: fault('document/envelope/judge.ts', 'if (fault !== null) return', 'if (false) return'),
  },
  {
    must: '10.6',
    says: 'mutation requests are in the log',
    test: GATEWAY,
    name: 'records a request with its update',
    fault: fault('document/stream/decide.ts', "emit('envelope_received', command.received)", ''),
  },
  {
    must: '11.1',
    says: 'all MUSTs of section 5',
    test: 'test/conformance.test.ts',
    name: 'every MUST has a row',
    fault: { file: 'test/support/conformance/recording.ts', search: "must: '5.4.1'", replace: "must: '5.4'" },
  },
  {
    must: '11.2',
    says: 'the state machine of section 6',
    test: law('runs'),
    fault: fault(
      'agent/state/evolve.ts',
      "    case 'completion':\n      if (!completing(state))",
      "    case 'completion':\n      if (completing(state))",
    ),
  },
  {
    must: '11.3',
    says: 'checkpoints as in section 8',
    test: law('1-folds'),
    name: 'checkpoint N',
    fault: fault('agent/runtime/history/replay.ts', 'state.step === at.step', 'state.step > at.step'),
  },
  {
    must: '11.4',
    says: 'LFCC of section 10',
    test: behaviour('5.8-envelopes'),
    name: 'applied once',
    fault: fault(
      'document/runtime/agent-edit.ts',
      'retryOf === undefined ? call.toolCallId',
      'retryOf === undefined ? `${call.toolCallId}.${Math.random()}`',
    ),
  },
]
