import { behaviour, fault, type Row } from './row.ts'

/** Seed 000, 5.1 to 5.3: how runs end, recover and call tools. */
export const ENDING: readonly Row[] = [
  {
    must: '5.1.1',
    says: 'complete_task is the only valid termination path',
    test: behaviour('5.1-completion'),
    name: '5.1.1',
    fault: fault(
      'agent/state/evolve.ts',
      "if (!completing(state)) throw new ImpossibleEvent(event, 'no call that completes the run has succeeded')",
      '',
    ),
  },
  {
    must: '5.1.2',
    says: 'completion output passes schema validation',
    test: behaviour('5.1-completion'),
    name: '5.1.2',
    fault: fault(
      'calls/plan-calls.ts',
      'let schema = control?.schema ?? schemas.get(tool)',
      'let schema = control === undefined ? schemas.get(tool) : z.any()',
    ),
  },
  {
    must: '5.1.3',
    says: 'complete_task is called alone in its turn',
    test: behaviour('5.1-completion'),
    name: '5.1.3',
    fault: fault('agent/control/complete-task.ts', "  alone: 'COMPLETION_NOT_ALONE',\n", ''),
  },
  {
    must: '5.1.4',
    says: 'an agent that stops without complete_task is in ERROR',
    test: behaviour('5.1-completion'),
    name: '5.1.4',
    fault: fault('agent/decide/proceed.ts', "if (outcome === 'text' &&", "if (activity.outcome === 'refused' &&"),
  },
  {
    must: '5.2.1',
    says: 'a final warning at turns >= maxTurns - graceTurns',
    test: behaviour('5.2-recovery'),
    name: '5.2.1',
    fault: fault(
      'agent/rules/recovery.ts',
      'state.turn + 1 >= warningTurn(state)',
      'state.turn + 1 > warningTurn(state)',
    ),
  },
  {
    must: '5.2.2',
    says: 'the warning turn calls complete_task at once',
    test: behaviour('5.2-recovery'),
    name: '5.2.2',
    fault: fault(
      'agent/rules/recovery.ts',
      'Math.min(limits.maxTurns, recovery.warningTurn + config.graceTurns)',
      'limits.maxTurns + 1',
    ),
  },
  {
    must: '5.2.3',
    says: 'no other tool call in recovery',
    test: behaviour('5.2-recovery'),
    name: '5.2.3',
    fault: fault('agent/tasks/plan.ts', "recoveryOf(state.machine) !== null && tool?.control !== 'completes'", 'false'),
  },
  {
    must: '5.2.4',
    says: 'a failed recovery is ERROR with partial output',
    test: behaviour('5.2-recovery'),
    name: '5.2.4',
    fault: fault('agent/decide/endings.ts', 'const partial = d.state.lastText', "const partial = ''"),
  },
  {
    must: '5.3.1',
    says: 'every tool call is schema-validated before execution',
    test: behaviour('5.3-tools'),
    name: '5.3.1',
    fault: fault(
      'calls/plan-calls.ts',
      "if (!parsed.success) return invalid(firstIssue(parsed.error, 'arguments'))",
      '',
    ),
  },
  {
    must: '5.3.2',
    says: 'every tool call passes the PolicyEngine',
    test: behaviour('5.3-tools'),
    name: '5.3.2',
    fault: fault('calls/plan-calls.ts', '      policy.denial(judging, tool as ToolSpec) ??\n', ''),
  },
  {
    must: '5.3.3',
    says: 'parallel execution only in batch mode, up to maxParallel',
    test: behaviour('5.3-tools'),
    name: '5.3.3',
    fault: fault('calls/scheduling.ts', 'let free = places -', 'let free = 99 -'),
  },
  {
    must: '5.3.4',
    says: 'interactive mode enforces single-tool turns',
    test: behaviour('5.3-tools'),
    name: '5.3.4',
    fault: fault('agent/tasks/plan.ts', "if (state.spec.policy.mode === 'interactive') {", 'if (state.turn < 0) {'),
  },
]
