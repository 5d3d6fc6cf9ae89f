import { behaviour, fault, law, type Row } from './row.ts'

/** Seed 000, 5.4 to 5.8: delegation, recording, routing and edits. */
export const RECORDING: readonly Row[] = [
  {
    must: '5.4.1',
    says: 'children have an isolated context and a constrained registry',
    test: law('tree-rights'),
    fault: fault(
      'agent/rules/child-spec.ts',
      'const own = toolsWithin(parent, constraints)',
      'const own = parent.tools',
    ),
  },
  {
    must: '5.4.2',
    says: 'child usage rolls up',
    test: law('tree'),
    name: 'the totals of every agent are the sum over its subtree',
    fault: fault('tree/family.ts', 'a.spent.input + sign * b.spent.input', 'a.spent.input'),
  },
  {
    must: '5.4.3',
    says: 'child artifacts are registered with the parent',
    test: 'test/runtime/tree-artifacts.test.ts',
    fault: fault(
      'agent/decide/decide-deliveries.ts',
      "return d.emit('child_artifact', { origin, childId, artifact: delivery.artifact })",
      'return',
    ),
  },
  {
    must: '5.4.4',
    says: 'depth does not exceed maxDepth',
    test: 'test/domain/tree-delegation.test.ts',
    fault: fault('agent/control/delegate-to-agent.ts', "code: 'DEPTH_LIMIT'", "code: 'AGENT_LIMIT'"),
  },
  {
    must: '5.5.1',
    says: 'a checkpoint after every tool result',
    test: behaviour('5.5-checkpoints'),
    name: '5.5.1',
    fault: fault('agent/decide/decision-builder.ts', "new Set(['tool_call_end', 'turn_end'])", "new Set(['turn_end'])"),
  },
  {
    must: '5.5.2',
    says: 'a checkpoint at turn boundaries',
    test: behaviour('5.5-checkpoints'),
    name: '5.5.2',
    fault: fault(
      'agent/decide/decision-builder.ts',
      "new Set(['tool_call_end', 'turn_end'])",
      "new Set(['tool_call_end'])",
    ),
  },
  {
    must: '5.5.3',
    says: 'a checkpoint holds pending and completed calls',
    test: behaviour('5.5-checkpoints'),
    name: '5.5.3',
    fault: fault(
      'agent/state/evolve-calls.ts',
      "    : { status: 'TOOL_WAIT', calls }",
      "    : { status: 'TOOL_WAIT', calls: calls.filter(({ stage }) => stage.at !== 'ended') }",
    ),
  },
  {
    must: '5.5.4',
    says: 'recovery from a checkpoint is deterministic',
    test: law('1-folds'),
    fault: fault('agent/state/evolve.ts', '    at: event.at,\n    clock,', '    at: Date.now(),\n    clock,'),
  },
  {
    must: '5.6.1',
    says: 'events for turns, tool calls, recovery, completion and error',
    test: behaviour('5.6-events'),
    name: '5.6.1',
    fault: fault('calls/decide/endings.ts', 'if (!call.started) startRefused(d, call)', ''),
  },
  {
    must: '5.6.2',
    says: 'each event bears runId, agentId, turn, timestamp, toolCallId',
    test: behaviour('5.6-events'),
    name: '5.6.2',
    fault: fault(
      'stream/sealing.ts',
      '        ...(event.toolCallId === undefined ? {} : { toolCallId: event.toolCallId }),\n',
      '',
    ),
  },
  {
    must: '5.6.3',
    says: 'the log is append-only and ordered',
    test: behaviour('5.6-events'),
    name: '5.6.3',
    fault: fault(
      'stream/runtime/journal.ts',
      'Math.max(ports.clock.now(), head?.timestamp ?? 0, ports.log.floor())',
      'ports.clock.now()',
    ),
  },
  {
    must: '5.7.1',
    says: 'a concrete model before each call',
    test: behaviour('5.7-routing'),
    name: '5.7.1',
    fault: fault(
      'agent/routing/routing.ts',
      'return decided(requested, `the run names',
      'return decided(safeDefault, `the run names',
    ),
  },
  {
    must: '5.7.2',
    says: 'the decision is in the log',
    test: behaviour('5.7-routing'),
    name: '5.7.2',
    fault: fault('agent/routing/routing.ts', '    reason,\n', '    reason: resolved,\n'),
  },
  {
    must: '5.7.3',
    says: 'where routing fails, the safe default',
    test: behaviour('5.7-routing'),
    name: '5.7.3',
    fault: fault('agent/routing/routing.ts', 'if (!known.includes(requested))', 'if (false)'),
  },
  {
    must: '5.7.4',
    says: 'no model changes mid-turn',
    test: behaviour('5.7-routing'),
    name: '5.7.4',
    fault: fault(
      'agent/decide/proceed.ts',
      'callModel(d, model.model, model.attempt)',
      'callModel(d, d.state.spec.models.safeDefault, model.attempt)',
    ),
  },
  {
    must: '5.8.1',
    says: 'agents do not change documents directly',
    test: behaviour('5.8-envelopes'),
    name: '5.8.1',
    fault: fault(
      'document/runtime/agent-edit.ts',
      'return gateway.envelope(documentId, request, caller)',
      "return { status: 200, body: { status: 'applied', client_request_id: '', applied_frontier: '', diagnostics: [] } }",
    ),
  },
  {
    must: '5.8.2',
    says: 'requests name frontier and context hashes',
    test: 'test/api/documents.test.ts',
    name: 'a span without a precondition',
    fault: fault('document/envelope/structure.ts', 'return without === undefined', 'return true'),
  },
  {
    must: '5.8.3',
    says: 'payloads are sanitized, normalized and run dry',
    test: 'test/runtime/document/gateway.test.ts',
    name: 'records of a body answered with 400',
    fault: fault('document/envelope/dry-run.ts', 'if (content.misplaced !== null)', 'if (false)'),
  },
  {
    must: '5.8.4',
    says: 'a 409 leads to rebase and retry',
    test: behaviour('5.8-envelopes'),
    name: '5.8.4',
    fault: fault(
      'document/runtime/agent-edit.ts',
      'if (retry > 0) await clock.sleep',
      'if (retry < 0) await clock.sleep',
    ),
  },
]
