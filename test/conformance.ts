import type { Mutation } from './support/mutation.ts'

/** One MUST of seed 000: who holds it, and a fault that its tests must catch; or why it comes later. */
export type Row =
  | {
      readonly must: string
      readonly says: string
      readonly test: string
      /** Part of the names of the tests meant; all of the file where absent. */
      readonly name?: string
      readonly fault: Mutation
    }
  | { readonly must: string; readonly says: string; readonly later: string }

const behaviour = (name: string) => `test/behaviour/${name}.test.ts`
const law = (name: string) => `test/laws/${name}.test.ts`
const fault = (file: string, search: string, replace: string): Mutation => ({ file: `domain/${file}`, search, replace })
const DELEGATION = 'delegation comes with the agents of agents'
const ENVELOPE = 'the AI gateway for documents comes with them'
const CONTEXT = 'context compression comes with long runs'

export const ROWS: readonly Row[] = [
  {
    must: '5.1.1',
    says: 'complete_task is the only valid termination path',
    test: behaviour('5.1-completion'),
    name: '5.1.1',
    fault: fault('agent/admission.ts', 'if (denied.length > 0) refuse', 'if (denied.length > 9) refuse'),
  },
  {
    must: '5.1.2',
    says: 'completion output passes schema validation',
    test: behaviour('5.1-completion'),
    name: '5.1.2',
    fault: fault('agent/control-tools.ts', '  complete_task: CompleteTask,\n', '  complete_task: z.any(),\n'),
  },
  {
    must: '5.1.3',
    says: 'complete_task is called alone in its turn',
    test: behaviour('5.1-completion'),
    name: '5.1.3',
    fault: fault('agent/plan.ts', 'if (completions > 0 && calls.length > 1) {', 'if (completions > 9) {'),
  },
  {
    must: '5.1.4',
    says: 'an agent that stops without complete_task is in ERROR',
    test: behaviour('5.1-completion'),
    name: '5.1.4',
    fault: fault('agent/proceed.ts', "if (activity.outcome === 'text' &&", "if (activity.outcome === 'refused' &&"),
  },
  {
    must: '5.2.1',
    says: 'a final warning at turns >= maxTurns - graceTurns',
    test: behaviour('5.2-recovery'),
    name: '5.2.1',
    fault: fault('agent/recovery.ts', 'state.turn + 1 >= warningTurn(state)', 'state.turn + 1 > warningTurn(state)'),
  },
  {
    must: '5.2.2',
    says: 'the warning turn calls complete_task at once',
    test: behaviour('5.2-recovery'),
    name: '5.2.2',
    fault: fault(
      'agent/recovery.ts',
      'Math.min(limits.maxTurns, recovery.warningTurn + config.graceTurns)',
      'limits.maxTurns + 1',
    ),
  },
  {
    must: '5.2.3',
    says: 'no other tool call in recovery',
    test: behaviour('5.2-recovery'),
    name: '5.2.3',
    fault: fault('agent/plan.ts', "recoveryOf(state.machine) !== null && tool?.name !== 'complete_task'", 'false'),
  },
  {
    must: '5.2.4',
    says: 'a failed recovery is ERROR with partial output',
    test: behaviour('5.2-recovery'),
    name: '5.2.4',
    fault: fault('agent/endings.ts', "...(partial === '' ? {} : { partialOutput: partial })", ''),
  },
  {
    must: '5.3.1',
    says: 'every tool call is schema-validated before execution',
    test: behaviour('5.3-tools'),
    name: '5.3.1',
    fault: fault('agent/plan.ts', 'if (parsed.success) return null', 'return null'),
  },
  {
    must: '5.3.2',
    says: 'every tool call passes the PolicyEngine',
    test: behaviour('5.3-tools'),
    name: '5.3.2',
    fault: fault('agent/plan.ts', '      denial(state, tool as ToolSpec) ??\n', ''),
  },
  {
    must: '5.3.3',
    says: 'parallel execution only in batch mode, up to maxParallel',
    test: behaviour('5.3-tools'),
    name: '5.3.3',
    fault: fault('agent/scheduling.ts', 'let free = places -', 'let free = 99 -'),
  },
  {
    must: '5.3.4',
    says: 'interactive mode enforces single-tool turns',
    test: behaviour('5.3-tools'),
    name: '5.3.4',
    fault: fault('agent/plan.ts', "calls.length > 1 && state.spec.policy.mode === 'interactive'", 'false'),
  },
  { must: '5.4.1', says: 'children have an isolated context and a constrained registry', later: DELEGATION },
  { must: '5.4.2', says: 'child usage rolls up', later: DELEGATION },
  { must: '5.4.3', says: 'child artifacts are registered with the parent', later: DELEGATION },
  { must: '5.4.4', says: 'depth does not exceed maxDepth', later: DELEGATION },
  {
    must: '5.5.1',
    says: 'a checkpoint after every tool result',
    test: behaviour('5.5-checkpoints'),
    name: '5.5.1',
    fault: fault('agent/deciding.ts', "new Set(['tool_call_end', 'turn_end'])", "new Set(['turn_end'])"),
  },
  {
    must: '5.5.2',
    says: 'a checkpoint at turn boundaries',
    test: behaviour('5.5-checkpoints'),
    name: '5.5.2',
    fault: fault('agent/deciding.ts', "new Set(['tool_call_end', 'turn_end'])", "new Set(['tool_call_end'])"),
  },
  {
    must: '5.5.3',
    says: 'a checkpoint holds pending and completed calls',
    test: behaviour('5.5-checkpoints'),
    name: '5.5.3',
    fault: fault(
      'agent/evolve-calls.ts',
      "    : { status: 'TOOL_WAIT', calls }",
      "    : { status: 'TOOL_WAIT', calls: calls.filter(({ stage }) => stage.at !== 'ended') }",
    ),
  },
  {
    must: '5.5.4',
    says: 'recovery from a checkpoint is deterministic',
    test: law('1-folds'),
    fault: fault('agent/evolve.ts', '    at: event.at,\n    clock,', '    at: Date.now(),\n    clock,'),
  },
  {
    must: '5.6.1',
    says: 'events for turns, tool calls, recovery, completion and error',
    test: behaviour('5.6-events'),
    name: '5.6.1',
    fault: fault('agent/endings.ts', 'if (!call.started) startRefused(d, call)', ''),
  },
  {
    must: '5.6.2',
    says: 'each event bears runId, agentId, turn, timestamp, toolCallId',
    test: behaviour('5.6-events'),
    name: '5.6.2',
    fault: fault('agent/deciding.ts', 'PEOPLE.has(asked.kind) && !DEEDS.has(type) ? RUNTIME : asked', 'asked'),
  },
  {
    must: '5.6.3',
    says: 'the log is append-only and ordered',
    test: behaviour('5.6-events'),
    name: '5.6.3',
    fault: fault('runtime/journal.ts', 'Math.max(clock.now(), head?.timestamp ?? 0, log.floor())', 'clock.now()'),
  },
  {
    must: '5.7.1',
    says: 'a concrete model before each call',
    test: behaviour('5.7-routing'),
    name: '5.7.1',
    fault: fault(
      'agent/routing.ts',
      "return decided(requested, 'the requested model')",
      "return decided(safeDefault, 'the requested model')",
    ),
  },
  {
    must: '5.7.2',
    says: 'the decision is in the log',
    test: behaviour('5.7-routing'),
    name: '5.7.2',
    fault: fault('agent/routing.ts', "    purpose: 'turn',", "    purpose: 'summary',"),
  },
  {
    must: '5.7.3',
    says: 'where routing fails, the safe default',
    test: behaviour('5.7-routing'),
    name: '5.7.3',
    fault: fault('agent/routing.ts', 'if (!known.some((model) => model.id === requested)) {', 'if (false) {'),
  },
  {
    must: '5.7.4',
    says: 'no model changes mid-turn',
    test: behaviour('5.7-routing'),
    name: '5.7.4',
    fault: fault(
      'agent/proceed.ts',
      'callModel(d, model.model, model.attempt)',
      'callModel(d, d.state.spec.models.safeDefault, model.attempt)',
    ),
  },
  { must: '5.8.1', says: 'agents do not change documents directly', later: ENVELOPE },
  { must: '5.8.2', says: 'requests name frontier and context hashes', later: ENVELOPE },
  { must: '5.8.3', says: 'payloads are sanitized, normalized and run dry', later: ENVELOPE },
  { must: '5.8.4', says: 'a 409 leads to rebase and retry', later: ENVELOPE },
  {
    must: '5.9.1',
    says: 'tool calls have stable ids',
    test: behaviour('5.9-replay'),
    name: '5.9.1',
    fault: fault(
      'agent/evolve-calls.ts',
      'id: toolCallId(event.agentId, event.turn, index),',
      'id: toolCallId(event.agentId, event.revision, index),',
    ),
  },
  {
    must: '5.9.2',
    says: 'inputs and outputs of tools are recorded',
    test: behaviour('5.9-replay'),
    name: '5.9.2',
    fault: fault('agent/decide-tools.ts', '      result: result.content,\n', ''),
  },
  {
    must: '5.9.3',
    says: 'what has side effects is not executed again without approval',
    test: behaviour('5.9-replay'),
    name: '5.9.3',
    fault: fault('agent/proceed-calls.ts', "if (call.effect === 'irreversible') {", 'if (false) {'),
  },
  {
    must: '5.10.1',
    says: 'failed calls are retried up to maxRetries with exponential backoff',
    test: behaviour('5.10-errors'),
    name: '5.10.1',
    fault: fault('agent/retry.ts', 'policy.backoffMultiplier ** (retry - 1)', '1'),
  },
  {
    must: '5.10.2',
    says: 'identical signatures are not retried',
    test: behaviour('5.10-errors'),
    name: '5.10.2',
    fault: fault('agent/retry.ts', ' || call.signatures.includes(signature)', ''),
  },
  {
    must: '5.10.3',
    says: 'permanent errors are not retried',
    test: behaviour('5.10-errors'),
    name: '5.10.3',
    fault: fault('agent/retry.ts', 'if (!transient || !safe ||', 'if (!safe ||'),
  },
  {
    must: '5.10.4',
    says: 'the error reaches the model in the next turn',
    test: behaviour('5.10-errors'),
    name: '5.10.4',
    fault: fault(
      'agent/messages.ts',
      'content: success ? resultText(result ?? null) :',
      "content: success || toolName !== '' ? resultText(result ?? null) :",
    ),
  },
  { must: '5.11.1', says: 'compression at the threshold', later: CONTEXT },
  { must: '5.11.2', says: 'compression keeps what it must', later: CONTEXT },
  { must: '5.11.3', says: 'the compressed history can be expanded', later: CONTEXT },
  { must: '5.11.4', says: 'knowledge comes after compression', later: CONTEXT },
  {
    must: '5.12.1',
    says: 'the tool registry is filtered by role and policy',
    test: behaviour('5.12-security'),
    name: '5.12.1',
    fault: fault(
      'agent/policy.ts',
      'return state.spec.tools.filter((tool) => denial(state, tool) === null)',
      'return state.spec.tools',
    ),
  },
  {
    must: '5.12.2',
    says: 'sensitive tools need approval in interactive mode',
    test: behaviour('5.12-security'),
    name: '5.12.2',
    fault: fault('agent/policy.ts', "['write_file', 'run_command']", "['run_command']"),
  },
  { must: '5.12.3', says: 'children do not inherit elevated permissions', later: DELEGATION },
  {
    must: '5.12.4',
    says: 'tool inputs are sanitized before execution',
    test: behaviour('5.12-security'),
    name: '5.12.4',
    fault: fault('agent/plan.ts', 'if (flaw !== null) return invalid(flaw)', ''),
  },
  {
    must: '5.12.5',
    says: 'no secret in the log',
    test: behaviour('5.12-security'),
    name: '5.12.5',
    fault: fault('runtime/redact.ts', 'content: secrets.result(content),', 'content,'),
  },
  {
    must: '6',
    says: 'the state machine',
    test: law('3-decisions'),
    fault: fault('agent/evolve-calls.ts', '  const allIn = calls.every(', '  const allIn = false && calls.every('),
  },
  {
    must: '7.1',
    says: 'the Coder, with phases and gates',
    test: behaviour('7-roles'),
    fault: fault('agent/phases.ts', 'return at >= from && at < target', 'return at === from && at < target'),
  },
  { must: '7.2', says: 'the Researcher', later: 'read_url and search_web come first' },
  { must: '7.3', says: 'the Reviewer', later: 'comes with the other roles, as data' },
  { must: '7.4', says: 'the Architect', later: 'read_url and search_web come first' },
  {
    must: '8.1',
    says: 'checkpoints in SQLite',
    test: 'test/projections/audit.test.ts',
    fault: { file: 'projections/changes/checkpoint-rows.ts', search: "e.type !== 'tool_call_end' && ", replace: '' },
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
    test: 'test/projections/projections.test.ts',
    fault: {
      file: 'projections/changes/artifact-rows.ts',
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
      'agent/evolve.ts',
      "    case 'completion':\n      if (!completing(state))",
      "    case 'completion':\n      if (completing(state))",
    ),
  },
  {
    must: '11.3',
    says: 'checkpoints as in section 8',
    test: law('1-folds'),
    name: 'checkpoint N',
    fault: fault('runtime/replay.ts', 'state.step === at.step', 'state.step > at.step'),
  },
  { must: '11.4', says: 'LFCC of section 10', later: ENVELOPE },
]

/** A law of DESIGN with a fault that it has caught. Law 2 is the projections', law 8 the secrets'. */
export interface Caught {
  readonly law: string
  readonly says: string
  readonly test: string
  readonly name?: string
  readonly fault: Mutation
}

export const LAWS: readonly Caught[] = [
  {
    law: '1',
    says: 'a member of the state that JSON drops',
    test: law('1-folds'),
    name: 'cut anywhere',
    fault: fault('agent/evolve-turns.ts', '    failedModel: null,\n', '    failedModel: undefined as never,\n'),
  },
  {
    law: '3',
    says: 'an outcome that is taken for a call that has ended',
    test: law('3-decisions'),
    fault: fault('agent/decide-tools.ts', "if (call.stage.at !== 'running' && call.stage.at !== 'doubt') return", ''),
  },
  {
    law: '4',
    says: 'results shown as they arrive',
    test: law('4-arrival'),
    name: 'any order',
    fault: fault('agent/messages.ts', 'this.results.set(call.id, {', 'this.items.push({'),
  },
  {
    law: '4',
    says: 'two changes of the working memory side by side',
    test: law('4-arrival'),
    name: 'working memory',
    fault: fault(
      'agent/scheduling.ts',
      'if (specs(a.toolName)?.control && specs(b.toolName)?.control) return true',
      '',
    ),
  },
  {
    law: '5',
    says: 'an irreversible call run again after a crash',
    test: law('5-crashes'),
    name: 'every single boundary',
    fault: fault('agent/proceed-calls.ts', "if (call.effect === 'irreversible') {", 'if (false) {'),
  },
  {
    law: '5',
    says: 'a driver that does not look whether it still owns the agent',
    test: law('5-crashes'),
    name: 'every single boundary',
    fault: fault('runtime/driver.ts', '    await this.mailbox.refresh()\n    return (', '    return ('),
  },
  {
    law: '5',
    says: 'a request that is recorded again when it is repeated',
    test: law('5-crashes'),
    name: 'killed anywhere',
    fault: fault('agent/decide.ts', 'if (state?.commands.includes(facts.commandId) &&', 'if (state === undefined &&'),
  },
  {
    law: '6',
    says: 'an unknown outcome taken for a success',
    test: law('6-appends'),
    name: 'before or after',
    fault: fault(
      'runtime/journal.ts',
      'tries >= MAX_RESENDS) throw error',
      'tries >= MAX_RESENDS) throw error\n        return { position: 0 }',
    ),
  },
  {
    law: '6',
    says: 'a driver that goes on after another has claimed',
    test: law('6-appends'),
    name: 'frozen clocks',
    fault: fault(
      'runtime/driver.ts',
      'if (state.driver?.epoch !== this.epoch || state.driver.id !== this.id) {',
      'if (signal.aborted) {',
    ),
  },
  {
    law: '7',
    says: 'a shape that changes under its old version',
    test: law('7-old-shapes'),
    fault: fault(
      'agent/events.ts',
      'turn_start: z.strictObject({ unread: count })',
      'turn_start: z.strictObject({ unread: count, more: text.optional() })',
    ),
  },
  {
    law: '7',
    says: 'a fold that changes without a new version of the fold',
    test: law('7-old-shapes'),
    fault: fault(
      'agent/evolve-turns.ts',
      "textOnly: outcome === 'text' ? state.textOnly + 1 : 0",
      "textOnly: outcome === 'text' ? state.textOnly + 2 : 0",
    ),
  },
  {
    law: '9',
    says: 'a replay that asks the clock',
    test: law('9-replay'),
    name: 'touch no model',
    fault: fault(
      'runtime/runtime.ts',
      'return agentAt(this.ports, agentId, at)',
      'return this.ports.clock.now() > 0 ? agentAt(this.ports, agentId, at) : agentAt(this.ports, agentId, at)',
    ),
  },
  {
    law: '9',
    says: 'a model that is shown what is not stored',
    test: law('9-replay'),
    name: 'what the model was sent',
    fault: fault('agent/deciding.ts', 'const body = JSON.parse(text) as BodyOf<T>', 'const body = given'),
  },
  {
    law: '10',
    says: 'a driver that reads its whole history before each effect',
    test: law('10-growth'),
    fault: fault(
      'runtime/mailbox.ts',
      'return this.enqueue(() => this.catchUp())',
      'return this.enqueue(async () => { for await (const _ of history(this.ports, this.agentId)); await this.catchUp() })',
    ),
  },
]
