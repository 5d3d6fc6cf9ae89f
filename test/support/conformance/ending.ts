import { drop, replace } from '../mutations/edits.ts'
import { behaviour, fault, type Row } from './row.ts'

/** Seed 000, 5.1 to 5.3: how runs end, recover and call tools. */
export const ENDING: readonly Row[] = [
  {
    must: '5.1.1',
    says: 'complete_task is the only valid termination path',
    test: behaviour('5.1-completion'),
    name: '5.1.1',
    fault: fault('domain/agent/state/evolve.ts', 'apply', drop('statement', 'completing')),
  },
  {
    must: '5.1.2',
    says: 'completion output passes schema validation',
    test: behaviour('5.1-completion'),
    name: '5.1.2',
    fault: fault(
      'domain/calls/plan-calls.ts',
      'breaksSchema',
      replace('operand', 'control schema', '(control && z.any())'),
    ),
  },
  {
    must: '5.1.3',
    says: 'complete_task is called alone in its turn',
    test: behaviour('5.1-completion'),
    name: '5.1.3',
    fault: fault('domain/agent/control/complete-task.ts', 'completeTask', drop('entry', 'alone')),
  },
  {
    must: '5.1.4',
    says: 'an agent that stops without complete_task is in ERROR',
    test: behaviour('5.1-completion'),
    name: '5.1.4',
    fault: fault('domain/agent/decide/proceed.ts', 'endAfterTurn', replace('operand', 'text', 'false')),
  },
  {
    must: '5.2.1',
    says: 'a final warning at turns >= maxTurns - graceTurns',
    test: behaviour('5.2-recovery'),
    name: '5.2.1',
    fault: fault('domain/agent/rules/recovery.ts', 'limitReached', replace('operator', '>=', '>')),
  },
  {
    must: '5.2.2',
    says: 'the warning turn calls complete_task at once',
    test: behaviour('5.2-recovery'),
    name: '5.2.2',
    fault: fault('domain/agent/rules/recovery.ts', 'lastTurn', replace('call', 'min', '$1 + 1')),
  },
  {
    must: '5.2.3',
    says: 'no other tool call in recovery',
    test: behaviour('5.2-recovery'),
    name: '5.2.3',
    fault: fault('domain/agent/tasks/plan.ts', 'failureOfTurn', replace('condition', 'recoveryOf', 'false')),
  },
  {
    must: '5.2.4',
    says: 'a failed recovery is ERROR with partial output',
    test: behaviour('5.2-recovery'),
    name: '5.2.4',
    fault: fault('domain/agent/decide/endings.ts', 'endRun', replace('value', 'partial', "''")),
  },
  {
    must: '5.3.1',
    says: 'every tool call is schema-validated before execution',
    test: behaviour('5.3-tools'),
    name: '5.3.1',
    fault: fault('domain/calls/plan-calls.ts', 'breaksSchema', replace('condition', 'success', 'false')),
  },
  {
    must: '5.3.2',
    says: 'every tool call passes the PolicyEngine',
    test: behaviour('5.3-tools'),
    name: '5.3.2',
    fault: fault('domain/calls/plan-calls.ts', 'planCalls', drop('operand', 'denial')),
  },
  {
    must: '5.3.3',
    says: 'parallel execution only in batch mode, up to maxParallel',
    test: behaviour('5.3-tools'),
    name: '5.3.3',
    fault: fault('domain/calls/scheduling.ts', 'startable', replace('operand', 'places', '99')),
  },
  {
    must: '5.3.4',
    says: 'interactive mode enforces single-tool turns',
    test: behaviour('5.3-tools'),
    name: '5.3.4',
    fault: fault('domain/agent/tasks/plan.ts', 'failureOfTurn', replace('condition', 'mode', 'false')),
  },
]
