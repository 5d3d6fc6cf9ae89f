import { behaviour, ENVELOPE, fault, law, type Row } from './row.ts'

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
  { must: '7.2', says: 'the Researcher', later: 'read_url and search_web come first' },
  { must: '7.3', says: 'the Reviewer', later: 'comes with the other roles, as data' },
  { must: '7.4', says: 'the Architect', later: 'read_url and search_web come first' },
  {
    must: '8.1',
    says: 'checkpoints in SQLite',
    test: 'test/projections/audit.test.ts',
    fault: {
      file: 'projections/changes/agent/checkpoint-rows.ts',
      search: "e.type !== 'tool_call_end' && ",
      replace: '',
    },
  },
  {
    must: '8.2',
    says: 'the event log is append-only',
    test: 'test/adapters/log/sqlite-refuses.test.ts',
    fault: {
      file: 'adapters/log-sqlite/schema.ts',
      search: "SELECT RAISE(ABORT, 'the log refuses DELETE')",
      replace: 'SELECT 1',
    },
  },
  {
    must: '8.3',
    says: 'artifacts with their checkpoint',
    test: 'test/projections/queries.test.ts',
    fault: {
      file: 'projections/changes/agent/artifact-rows.ts',
      search: "e.type !== 'artifact_registered'",
      replace: "e.type !== 'completion'",
    },
  },
  {
    must: '8.4',
    says: 'agent lineage',
    test: 'test/projections/queries.test.ts',
    fault: {
      file: 'projections/schema/views.ts',
      search: 'create view agent_lineage as',
      replace: 'create view agent_lineages as',
    },
  },
  { must: '10.1', says: 'mutations flow through the AI gateway', later: ENVELOPE },
  { must: '10.2', says: 'doc_frontier', later: ENVELOPE },
  { must: '10.3', says: 'preconditions', later: ENVELOPE },
  { must: '10.4', says: 'canonical structures', later: ENVELOPE },
  { must: '10.5', says: 'fail closed', later: ENVELOPE },
  { must: '10.6', says: 'mutation requests are in the log', later: ENVELOPE },
  { must: '11.1', says: 'all MUSTs of section 5', later: 'holds when no row of section 5 says later' },
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
    fault: fault('runtime/agent/history/replay.ts', 'state.step === at.step', 'state.step > at.step'),
  },
  { must: '11.4', says: 'LFCC of section 10', later: ENVELOPE },
]
