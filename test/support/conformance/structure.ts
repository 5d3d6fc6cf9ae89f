import { drop, replace, reworded } from '../mutations/edits.ts'
import { behaviour, fault, law, type Row } from './row.ts'

const GATEWAY = 'test/runtime/document/gateway.test.ts'

/** Seed 000, sections 6 to 11. */
export const STRUCTURE: readonly Row[] = [
  {
    must: '6',
    says: 'the state machine',
    test: law('3-decisions'),
    fault: fault('domain/agent/state/evolve-calls.ts', 'evolveCalls', replace('value', 'allIn', 'false')),
  },
  {
    must: '7.1',
    says: 'the Coder, with phases and gates',
    test: behaviour('7-roles'),
    fault: fault('domain/agent/state/phases.ts', 'gatesOnTheWay', replace('operator', '>=', '===')),
  },
  {
    must: '7.2',
    says: 'the Researcher',
    test: behaviour('7-built-in-roles'),
    name: '7.2',
    fault: fault('domain/agent/definition/roles.ts', 'RESEARCHER_SOP', drop('entry', 'read_url')),
  },
  {
    must: '7.3',
    says: 'the Reviewer',
    test: behaviour('7-built-in-roles'),
    name: '7.3',
    fault: fault('domain/agent/definition/roles.ts', 'REVIEWER_SOP', replace('value', 'profile', "'Coder'")),
  },
  {
    must: '7.4',
    says: 'the Architect',
    test: behaviour('7-built-in-roles'),
    name: '7.4',
    fault: fault('domain/agent/definition/roles.ts', 'ARCHITECT_SOP', replace('word', 'diagram_exists', 'tests_exist')),
  },
  {
    must: '8.1',
    says: 'checkpoints in SQLite',
    test: 'test/projections/audit.test.ts',
    fault: fault('projections/agent/rows/checkpoint-rows.ts', 'checkpointRows', drop('operand', 'tool_call_end')),
  },
  {
    must: '8.2',
    says: 'the event log is append-only',
    test: 'test/adapters/log/sqlite/refuses.test.ts',
    fault: fault('adapters/sqlite/log/schema.ts', 'CREATE', reworded("RAISE(ABORT, 'the log refuses DELETE')", '1')),
  },
  {
    must: '8.3',
    says: 'artifacts with their checkpoint',
    test: 'test/projections/queries.test.ts',
    fault: fault(
      'projections/agent/rows/artifact-rows.ts',
      'artifactRows',
      replace('word', 'artifact_registered', 'completion'),
    ),
  },
  {
    must: '8.4',
    says: 'agent lineage',
    test: 'test/projections/queries.test.ts',
    fault: fault('projections/engine/schema/views.ts', 'lineage', reworded('agent_lineage', 'agent_lineages')),
  },
  {
    must: '10.1',
    says: 'mutations flow through the AI gateway',
    test: GATEWAY,
    name: 'under the peer of the gateway is refused',
    fault: fault('domain/document/runtime/document-desk.ts', 'import', replace('condition', 'refused', 'false')),
  },
  {
    must: '10.2',
    says: 'doc_frontier',
    test: 'test/api/documents/documents.test.ts',
    name: 'refuses the frontier of another document',
    fault: fault('domain/document/envelope/judge.ts', 'judging', replace('condition', 'ACCEPTED', 'false')),
  },
  {
    must: '10.3',
    says: 'preconditions',
    test: GATEWAY,
    name: 'gives a repeated request its first answer',
    fault: fault('domain/document/envelope/judge.ts', 'judging', replace('condition', 'failed', 'false')),
  },
  {
    must: '10.4',
    says: 'canonical structures',
    test: 'test/domain/document/normalize.test.ts',
    name: 'is equal for equal meaning',
    fault: fault('domain/document/model/runs.ts', 'mergedRuns', replace('condition', 'sameMarks', 'false')),
  },
  {
    must: '10.5',
    says: 'fail closed',
    test: GATEWAY,
    name: 'records of a body answered with 400',
    fault: fault('domain/document/envelope/judge.ts', 'judging', replace('condition', 'fault null', 'false')),
  },
  {
    must: '10.6',
    says: 'mutation requests are in the log',
    test: GATEWAY,
    name: 'records a request with its update',
    fault: fault('domain/document/stream/decide.ts', 'decide', drop('statement', 'envelope_received')),
  },
  {
    must: '11.1',
    says: 'all MUSTs of section 5',
    test: 'test/conformance.test.ts',
    name: 'every MUST has a row',
    fault: fault('test/support/conformance/recording.ts', 'RECORDING', replace('word', '5.4.1', '5.4')),
  },
  {
    must: '11.2',
    says: 'the state machine of section 6',
    test: law('runs'),
    fault: fault('domain/agent/state/evolve.ts', 'apply', replace('condition', 'completing', '!$')),
  },
  {
    must: '11.3',
    says: 'checkpoints as in section 8',
    test: law('1-folds'),
    name: 'checkpoint N',
    fault: fault('domain/agent/runtime/history/replay.ts', 'isPoint', replace('operator', '=== step', '>')),
  },
  {
    must: '11.4',
    says: 'LFCC of section 10',
    test: behaviour('5.8-envelopes'),
    name: 'applied once',
    fault: fault(
      'domain/document/runtime/agent-edit.ts',
      'editForAgent',
      replace('value', 'first', '($) + Math.random()'),
    ),
  },
]
