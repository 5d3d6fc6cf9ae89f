import { drop, replace } from '../mutations/edits.ts'
import { behaviour, fault } from './row.ts'
import type { Rule } from './rules.ts'

/** Rules for permissions, tasks, plans, restores and long contexts. */
export const WORK: readonly Rule[] = [
  {
    rule: 'a permission that a person has given',
    says: 'one for a call is used up by the next call',
    test: behaviour('5.12-permissions'),
    name: 'for one call',
    fault: fault('domain/calls/plan-calls.ts', 'planCalls', replace('condition', 'scope', 'false')),
  },
  {
    rule: 'a permission that a person has given',
    says: 'its time ends it',
    test: behaviour('5.12-permissions'),
    name: 'its time ends it',
    fault: fault('domain/agent/rules/permission-end.ts', 'endedPermissions', replace('operand', 'until', 'false')),
  },
  {
    rule: 'a permission that a person has given',
    says: 'no standing approval answers the request for one',
    test: behaviour('5.12-permissions'),
    name: 'whatever mode and standing approvals say',
    fault: fault('domain/calls/policy-engine.ts', 'needsApproval', replace('condition', 'own', 'false')),
  },
  {
    rule: 'a permission that a person has given',
    says: 'taken back, it lets no call begin that waits',
    test: behaviour('5.12-permissions'),
    name: 'does not run by it',
    fault: fault(
      'domain/agent/decide/decide-permissions.ts',
      'refuseWaiting',
      replace('operand', 'permission', 'true'),
    ),
  },
  {
    rule: 'calls that several people must approve',
    says: 'one person counts once',
    test: 'test/domain/approvers.test.ts',
    name: 'that many different people',
    fault: fault('domain/calls/decide/approvals.ts', 'recordSupport', replace('condition', 'own undefined', 'false')),
  },
  {
    rule: 'calls that several people must approve',
    says: 'two linked ids of one person count once',
    test: 'test/domain/approvers.test.ts',
    name: 'counts two ids of one person once',
    fault: fault('domain/calls/decide/approvals.ts', 'recordSupport', replace('operand', 'otherIds', 'false')),
  },
  {
    rule: 'calls that several people must approve',
    says: 'no permission of one person covers them',
    test: 'test/domain/approvers.test.ts',
    name: 'is covered by no standing approval of its tool and no permission',
    fault: fault('domain/calls/policy-engine.ts', 'mayLift', replace('operand', 'approversOf', 'true')),
  },
  {
    rule: 'a tool that changes while its approval is open',
    says: 'voids the approval',
    test: behaviour('5.3-approvals'),
    name: 'voids the approval',
    fault: fault('domain/agent/decide/decide-tools.ts', 'voided', replace('operand', 'asked', 'false')),
  },
  {
    rule: 'tasks',
    says: 'a task graph has no cycle',
    test: behaviour('9-tasks'),
    fault: fault('domain/agent/tasks/state.ts', 'visit', replace('statement', 'indexOf', 'return null')),
  },
  {
    rule: 'tasks',
    says: 'each request shows them, also where its context is compressed',
    test: behaviour('9-tasks'),
    name: 'survives compression',
    fault: fault('domain/agent/window/request.ts', 'assembleWithTasks', drop('entry', 'listed')),
  },
  {
    rule: 'plans',
    says: 'a file of a plan is written again where it is missing or was changed',
    test: 'test/api/operations/plan.test.ts',
    name: 'missing or was changed',
    fault: fault('adapters/files/plan-files.ts', 'write', replace('operand', 'readFile', 'true')),
  },
  {
    rule: 'plans',
    says: 'an erasure empties the files of plans',
    test: 'test/api/operations/plan.test.ts',
    name: 'empties the files',
    fault: fault('api/operations/runs/erase-run.ts', 'eraseRun', drop('statement', 'plans')),
  },
  {
    rule: 'plans',
    says: 'no plan is written through a link',
    test: 'test/adapters/plan-files.test.ts',
    name: 'a link in place of the folder',
    fault: fault('adapters/files/plan-files.ts', 'write', replace('condition', 'isDirectory', 'false')),
  },
  {
    rule: 'restores',
    says: 'the request is recorded before the first file is touched',
    test: 'test/api/operations/restore.test.ts',
    name: 'no file is touched',
    fault: fault('api/process/files/workspace-files.ts', 'restore', replace('call', 'begins', '$.catch(() => {})')),
  },
  {
    rule: 'restores',
    says: 'a driver finishes one whose process was lost',
    test: 'test/api/operations/restore.test.ts',
    name: 'finished by the next driver',
    fault: fault('domain/agent/runtime/perform/finish-restore.ts', 'finishRestore', drop('statement', 'versions')),
  },
  {
    rule: 'context',
    says: 'a model makes the summary where the strategy asks for one',
    test: behaviour('5.11-context'),
    fault: fault('domain/agent/window/make-room.ts', 'makeRoom', replace('word', 'MOST_FAILED', '0')),
  },
  {
    rule: 'context',
    says: 'people see what is hidden and bring it back',
    test: 'test/api/operations/context.test.ts',
    fault: fault('domain/agent/window/make-room.ts', 'makeRoom', replace('value', 'asked', '$.slice(9)')),
  },
]
