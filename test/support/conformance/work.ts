import { behaviour, fault } from './row.ts'
import type { Rule } from './rules.ts'

/** Rules for permissions, tasks, plans, restores and long contexts. */
export const WORK: readonly Rule[] = [
  {
    rule: 'a permission that a person has given',
    says: 'one for a call is used up by the next call',
    test: behaviour('5.12-permissions'),
    name: 'for one call',
    fault: fault('calls/plan-calls.ts', "permission?.scope === 'call'", 'permission === null'),
  },
  {
    rule: 'a permission that a person has given',
    says: 'its time ends it',
    test: behaviour('5.12-permissions'),
    name: 'its time ends it',
    fault: fault('agent/rules/permissions.ts', 'now >= until && ', 'now < 0 && '),
  },
  {
    rule: 'a permission that a person has given',
    says: 'no standing approval answers the request for one',
    test: behaviour('5.12-permissions'),
    name: 'whatever mode and standing approvals say',
    fault: fault('calls/policy-engine.ts', 'if (own !== undefined) return own', ''),
  },
  {
    rule: 'a permission that a person has given',
    says: 'taken back, it lets no call begin that waits',
    test: behaviour('5.12-permissions'),
    name: 'does not run by it',
    fault: fault('agent/decide/permissions.ts', 'call.permission !== permission || ', 'call.permission !== null || '),
  },
  {
    rule: 'a tool that changes while its approval is open',
    says: 'voids the approval',
    test: behaviour('5.3-approvals'),
    name: 'voids the approval',
    fault: fault('agent/decide/decide-tools.ts', 'const asks = asked && ', 'const asks = d.state.turn < 0 && '),
  },
  {
    rule: 'tasks',
    says: 'a task graph has no cycle',
    test: behaviour('9-tasks'),
    fault: fault(
      'agent/tasks/state.ts',
      'if (way.includes(id)) return',
      'if (way.includes(id)) return null as never; if (false) return',
    ),
  },
  {
    rule: 'tasks',
    says: 'each request shows them, also where its context is compressed',
    test: behaviour('9-tasks'),
    name: 'survives compression',
    fault: fault(
      'agent/window/request.ts',
      'messages: [...request.messages, listed]',
      'messages: [...request.messages]',
    ),
  },
  {
    rule: 'plans',
    says: 'a file of a plan is written again where it is missing or was changed',
    test: 'test/api/plan.test.ts',
    name: 'missing or was changed',
    fault: { file: 'adapters/files/plan-files.ts', search: '=== text) return', replace: '!== null) return' },
  },
  {
    rule: 'plans',
    says: 'an erasure empties the files of plans',
    test: 'test/api/plan.test.ts',
    name: 'empties the files',
    fault: { file: 'api/operations/runs/erase-run.ts', search: 'await s.plans.empty(runId)', replace: '' },
  },
  {
    rule: 'plans',
    says: 'no plan is written through a link',
    test: 'test/adapters/plan-files.test.ts',
    name: 'a link in place of the folder',
    fault: {
      file: 'adapters/files/plan-files.ts',
      search: '!(await lstat(folder)).isDirectory()',
      replace: 'false',
    },
  },
  {
    rule: 'restores',
    says: 'the request is recorded before the first file is touched',
    test: 'test/api/restore.test.ts',
    name: 'no file is touched',
    fault: {
      file: 'api/process/host/workspace-files.ts',
      search: 'await begins?.({ tree, replaces: now })',
      replace: 'void begins?.({ tree, replaces: now }).catch(() => {})',
    },
  },
  {
    rule: 'restores',
    says: 'a driver finishes one whose process was lost',
    test: 'test/api/restore.test.ts',
    name: 'finished by the next driver',
    fault: fault('agent/runtime/perform/finish-restore.ts', 'await workspace.versions.restore(restoring.tree)', ''),
  },
  {
    rule: 'context',
    says: 'a model makes the summary where the strategy asks for one',
    test: behaviour('5.11-context'),
    fault: fault('agent/window/compress.ts', 'compression.failed < MOST_FAILED', 'compression.failed < 0'),
  },
  {
    rule: 'context',
    says: 'people see what is hidden and bring it back',
    test: 'test/api/context.test.ts',
    fault: fault(
      'agent/window/compress.ts',
      'const asked = compression.expanding\n',
      'const asked = compression.expanding.slice(9)\n',
    ),
  },
]
