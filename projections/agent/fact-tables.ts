import type { TableSpec } from '../engine/schema/columns.ts'

export const factTables = {
  /**
   * The texts of runs that people search: one row per input, answer, arguments or output of a call, message and end of
   * an event. `text`: its beginning; an erasure removes the row.
   */
  run_texts: {
    columns: {
      agent_id: 'text!',
      revision: 'integer!',
      part: 'integer!',
      run_id: 'text!',
      position: 'integer!',
      /** input, answer, arguments, output, message, end, span. */
      kind: 'text!',
      tool_call_id: 'text',
      text: 'text!',
      at: 'text!',
    },
    key: ['agent_id', 'revision', 'part'],
    kind: ['agent', 'external'],
    owner: 'agent_id',
    large: true,
    indexes: [['position']],
  },
  phases: {
    columns: {
      agent_id: 'text!',
      revision: 'integer!',
      from_phase: 'text',
      phase: 'text',
      summary: 'text',
      at: 'text!',
    },
    key: ['agent_id', 'revision'],
    kind: 'agent',
    owner: 'agent_id',
  },
  gate_checks: {
    columns: {
      agent_id: 'text!',
      revision: 'integer!',
      gate: 'text',
      after_phase: 'text',
      passed: 'integer',
      evidence: 'text',
      at: 'text!',
    },
    key: ['agent_id', 'revision'],
    kind: 'agent',
    owner: 'agent_id',
  },
  /** Every value of a variable; the greatest revision is the current one. `value`: JSON. */
  context_variables: {
    columns: { agent_id: 'text!', name: 'text!', revision: 'integer!', value: 'text!', at: 'text!' },
    key: ['agent_id', 'name', 'revision'],
    kind: 'agent',
    owner: 'agent_id',
  },
  /** One small row per tool outcome and turn end. The view `checkpoints` of the seed is computed from it. */
  checkpoint_rows: {
    columns: {
      agent_id: 'text!',
      revision: 'integer!',
      /** Null if the body with the step was erased; the view `checkpoint_facts` then counts the step. */
      step: 'integer',
      run_id: 'text!',
      turn: 'integer!',
      position: 'integer!',
      timestamp: 'text!',
      tool_call_id: 'text',
      digest: 'text',
      fold: 'integer',
    },
    key: ['agent_id', 'revision'],
    kind: 'agent',
    owner: 'agent_id',
    indexes: [
      ['agent_id', 'step'],
      ['agent_id', 'position'],
    ],
  },
  /**
   * Versions of the files. The version at a step is the tree of the first row with that step or a greater one. `code`:
   * why the version is missing.
   */
  workspace_versions: {
    columns: {
      agent_id: 'text!',
      revision: 'integer!',
      step: 'integer',
      tree: 'text',
      code: 'text',
      message: 'text',
      at: 'text!',
    },
    key: ['agent_id', 'revision'],
    kind: 'agent',
    owner: 'agent_id',
    indexes: [['agent_id', 'step']],
  },
  artifact_rows: {
    columns: {
      agent_id: 'text!',
      artifact_id: 'text!',
      run_id: 'text!',
      tool_call_id: 'text',
      revision: 'integer!',
      position: 'integer!',
      artifact_type: 'text!',
      title: 'text',
      path: 'text',
      content: 'text',
      hash: 'text',
      size: 'integer',
      mime_type: 'text',
      claimed: 'integer!',
      created_at: 'text!',
    },
    key: ['agent_id', 'artifact_id'],
    kind: ['agent', 'external'],
    owner: 'agent_id',
    indexes: [['run_id', 'position'], ['position']],
  },
  approvals: {
    columns: {
      agent_id: 'text!',
      tool_call_id: 'text!',
      run_id: 'text!',
      turn: 'integer!',
      tool_name: 'text',
      arguments_hash: 'text',
      reason: 'text',
      /** pending, approved, rejected, expired; erased: the decision was erased. */
      status: 'text!',
      requested_at: 'text',
      requested_revision: 'integer',
      requested_position: 'integer!',
      expires_at: 'text',
      decided_at: 'text',
      decided_by: 'text',
      /** 1: the request named the decider, and access control has not checked the name. */
      decided_claimed: 'integer',
      decision_reason: 'text',
      decided_revision: 'integer',
      /** The end of the call, for example by cancellation. A pending approval then no longer waits. */
      call_ended_at: 'text',
    },
    key: ['agent_id', 'tool_call_id'],
    kind: ['agent', 'external'],
    owner: 'agent_id',
    indexes: [
      ['tool_call_id'],
      ['run_id', 'status', 'requested_position'],
      ['status', 'requested_position'],
      ['requested_position'],
      ['decided_by'],
    ],
  },
  /** How each call was decided. The view `call_decisions` is computed from it. */
  decision_rows: {
    columns: {
      agent_id: 'text!',
      tool_call_id: 'text!',
      run_id: 'text!',
      tool_name: 'text',
      /** pending, allowed, denied, expired; erased: the decision was erased. */
      decision: 'text!',
      /** person, standing_approval, permission, policy; null: not decided. */
      method: 'text',
      rule: 'text',
      decided_by: 'text',
      claimed: 'integer',
      policy_hash: 'text',
      shown_hash: 'text',
      /** How many people must approve; null: one. */
      needed: 'integer',
      asked_at: 'text',
      decided_at: 'text',
      /** Of the last event. */
      revision: 'integer!',
      /** Of the first event, which gives the order of the rows. */
      first_revision: 'integer!',
      position: 'integer!',
    },
    key: ['agent_id', 'tool_call_id'],
    kind: ['agent', 'external'],
    owner: 'agent_id',
    indexes: [['run_id', 'position']],
  },
  /** Approvals of calls that several people must approve, all but the last. */
  approval_supports: {
    columns: {
      agent_id: 'text!',
      revision: 'integer!',
      run_id: 'text!',
      tool_call_id: 'text!',
      by: 'text!',
      claimed: 'integer!',
      reason: 'text',
      policy_hash: 'text',
      shown_hash: 'text',
      /** Hash of the question with its files. Approvals of other questions than the last one have lapsed. */
      question: 'text',
      at: 'text!',
    },
    key: ['agent_id', 'revision'],
    kind: ['agent', 'external'],
    owner: 'agent_id',
    indexes: [['tool_call_id'], ['by']],
  },
  standing_approvals: {
    columns: {
      agent_id: 'text!',
      revision: 'integer!',
      run_id: 'text!',
      tools: 'text',
      reason: 'text',
      by: 'text!',
      claimed: 'integer!',
      at: 'text!',
    },
    key: ['agent_id', 'revision'],
    kind: 'agent',
    owner: 'agent_id',
    indexes: [['by']],
  },
  restores: {
    columns: {
      agent_id: 'text!',
      /** Revision of the request. */
      revision: 'integer!',
      run_id: 'text!',
      step: 'integer',
      /** `tree`: the restored version. `replaces`: the version of the files before the restore. */
      tree: 'text',
      replaces: 'text',
      by: 'text!',
      claimed: 'integer!',
      reason: 'text',
      requested_at: 'text!',
      /** restored, failed, interrupted; null: not ended. */
      outcome: 'text',
      code: 'text',
      message: 'text',
      ended_at: 'text',
    },
    key: ['agent_id', 'revision'],
    kind: 'agent',
    owner: 'agent_id',
    indexes: [['run_id'], ['by']],
  },
  tasks: {
    columns: {
      agent_id: 'text!',
      task_id: 'text!',
      run_id: 'text!',
      /** Revision of its last change. */
      revision: 'integer!',
      title: 'text',
      /** pending, in_progress, completed, cancelled, removed. */
      status: 'text!',
      /** A JSON list of ids. */
      dependencies: 'text',
      updated_at: 'text!',
    },
    key: ['agent_id', 'task_id'],
    kind: 'agent',
    owner: 'agent_id',
    indexes: [['run_id']],
  },
  permissions: {
    columns: {
      agent_id: 'text!',
      /** The call that asked for the permission; `approvals` has the decision on that call. */
      tool_call_id: 'text!',
      run_id: 'text!',
      turn: 'integer!',
      tool: 'text',
      /** call, phase, run. */
      scope: 'text',
      phase: 'text',
      until: 'text',
      reason: 'text',
      granted_at: 'text',
      granted_revision: 'integer',
      ended_at: 'text',
      /** expired, used, phase, revoked. */
      ended_by: 'text',
    },
    key: ['agent_id', 'tool_call_id'],
    kind: 'agent',
    owner: 'agent_id',
    indexes: [['run_id']],
  },
} as const satisfies Record<string, TableSpec>
