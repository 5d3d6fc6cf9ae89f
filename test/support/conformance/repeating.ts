import { behaviour, CONTEXT, DELEGATION, fault, type Row } from './row.ts'

/** Seed 000, 5.9 to 5.12: replay, errors, context, security. */
export const REPEATING: readonly Row[] = [
  {
    must: '5.9.1',
    says: 'tool calls have stable ids',
    test: behaviour('5.9-replay'),
    name: '5.9.1',
    fault: fault(
      'agent/state/evolve-calls.ts',
      'id: toolCallId(event.agentId, event.turn, index),',
      'id: toolCallId(event.agentId, event.revision, index),',
    ),
  },
  {
    must: '5.9.2',
    says: 'inputs and outputs of tools are recorded',
    test: behaviour('5.9-replay'),
    name: '5.9.2',
    fault: fault('agent/decisions/endings.ts', '      result: result.content,\n', ''),
  },
  {
    must: '5.9.3',
    says: 'what has side effects is not executed again without approval',
    test: behaviour('5.9-replay'),
    name: '5.9.3',
    fault: fault('agent/decisions/proceed-calls.ts', "(call.effect === 'irreversible' ||", '('),
  },
  {
    must: '5.10.1',
    says: 'failed calls are retried up to maxRetries with exponential backoff',
    test: behaviour('5.10-errors'),
    name: '5.10.1',
    fault: fault('agent/rules/retry.ts', 'policy.backoffMultiplier ** (retry - 1)', '1'),
  },
  {
    must: '5.10.2',
    says: 'identical signatures are not retried',
    test: behaviour('5.10-errors'),
    name: '5.10.2',
    fault: fault('agent/rules/retry.ts', ' || call.signatures.includes(signature)', ''),
  },
  {
    must: '5.10.3',
    says: 'permanent errors are not retried',
    test: behaviour('5.10-errors'),
    name: '5.10.3',
    fault: fault('agent/rules/retry.ts', 'if (!transient || !safe ||', 'if (!safe ||'),
  },
  {
    must: '5.10.4',
    says: 'the error reaches the model in the next turn',
    test: behaviour('5.10-errors'),
    name: '5.10.4',
    fault: fault(
      'agent/state/messages.ts',
      'shown(success ? resultText(result ?? null) :',
      "shown(success || toolName !== '' ? resultText(result ?? null) :",
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
      'agent/rules/policy.ts',
      'return state.spec.tools.filter((tool) => denial(state, tool) === null)',
      'return state.spec.tools',
    ),
  },
  {
    must: '5.12.2',
    says: 'sensitive tools need approval in interactive mode',
    test: behaviour('5.12-security'),
    name: '5.12.2',
    fault: fault('agent/rules/policy.ts', "['write_file', 'run_command', ", "['run_command', "),
  },
  { must: '5.12.3', says: 'children do not inherit elevated permissions', later: DELEGATION },
  {
    must: '5.12.4',
    says: 'tool inputs are sanitized before execution',
    test: behaviour('5.12-security'),
    name: '5.12.4',
    fault: fault('agent/rules/plan.ts', 'if (flaw !== null) return invalid(flaw)', ''),
  },
  {
    must: '5.12.5',
    says: 'no secret in the log',
    test: behaviour('5.12-security'),
    name: '5.12.5',
    fault: fault(
      'runtime/agent/redact.ts',
      'content: await redactLarge(secrets, content, yieldToEventLoop),',
      'content,',
    ),
  },
]
