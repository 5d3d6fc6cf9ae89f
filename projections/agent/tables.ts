import type { TableSpec } from '../engine/schema/columns.ts'

/** Runs, agents and their actions. */
export const agentTables = {
  /** One row per run, from the events of its root agent. */
  runs: {
    columns: {
      id: 'text!',
      status: 'text!',
      /** Position of its first event: a run's id may come from a key, which holds no time. */
      started: 'integer!',
      created_at: 'text!',
      created_by: 'text',
      ended_at: 'text',
      mode: 'text',
      model: 'text',
      role: 'text',
      workspace: 'text',
      forked_from: 'text',
      forked_step: 'integer',
      code: 'text',
      error: 'text',
      partial_output: 'text',
      summary: 'text',
      next_steps: 'text',
      unmet_gates: 'text',
      unread_input: 'integer',
      /** The kind of an external agent; null: keepup's own. */
      backend: 'text',
    },
    key: ['id'],
    kind: ['agent', 'external'],
    owner: 'id',
    indexes: [
      ['started'],
      ['status', 'started'],
      ['role', 'started'],
      ['model', 'started'],
      ['created_by'],
      ['created_at'],
      ['forked_from'],
    ],
    partial: { columns: ['status', 'started'], where: "code = 'CANCELLED'" },
  },
  /** One row per agent: the columns of `agent_lineage`, and the state of the agent. */
  agents: {
    columns: {
      id: 'text!',
      run_id: 'text!',
      parent_agent_id: 'text',
      parent_tool_call_id: 'text',
      /** Null in a fork: it is the source's. */
      role: 'text',
      status: 'text!',
      /** -1: not known, nothing is left of the birth's body. */
      depth: 'integer!',
      created_at: 'text!',
      completed_at: 'text',
      code: 'text',
      forked_from: 'text',
      forked_revision: 'integer',
      forked_step: 'integer',
      turn: 'integer!',
      step: 'integer!',
      revision: 'integer!',
      updated_at: 'text!',
      epoch: 'integer!',
      /** Paused; while `stepping`, it will be. */
      paused: 'integer!',
      /** It runs to the end of the next turn and pauses there. */
      stepping: 'integer!',
      /** A `turn_start` without its `turn_end`. */
      in_turn: 'integer!',
      /** Revision of the last `ask_user` (or of a birth without a task) that no input and no turn has followed. */
      question_revision: 'integer',
      last_input: 'integer',
      /** Revision of the last turn start, which reads every input before it. */
      last_read: 'integer',
      cancel_requested_at: 'text',
      /** Since its models have all failed, none has answered. */
      model_outage: 'integer!',
      /** Nothing has asked for it to be driven yet. */
      undriven: 'integer!',
      /** Its start asked for any driver there is; a child is driven as its parent is. */
      drive_requested: 'integer!',
      /** The revision at which its stream is parked: the rows miss the events from there on. */
      incomplete_from: 'integer',
      /** The budget at birth; null: no limit, -1: that of the fork's source. `budget_agents` includes the agent itself. */
      budget_tokens: 'integer',
      budget_nano_dollars: 'integer',
      budget_agents: 'integer',
      /** The kind of an external agent; null: keepup's own. */
      backend: 'text',
      /** Our policy sees nothing of what it does. */
      ungoverned: 'integer!',
    },
    key: ['id'],
    kind: ['agent', 'external'],
    owner: 'id',
    indexes: [['run_id'], ['parent_agent_id']],
    partial: { columns: ['id'], where: 'completed_at is null' },
  },
  /** People's inputs to an agent. `preview`: the first 500 characters. */
  inputs: {
    columns: {
      agent_id: 'text!',
      revision: 'integer!',
      run_id: 'text!',
      preview: 'text',
      by: 'text!',
      at: 'text!',
      erased: 'integer!',
    },
    key: ['agent_id', 'revision'],
    kind: ['agent', 'external'],
    owner: 'agent_id',
    indexes: [['run_id'], ['by']],
  },
  /**
   * One row per requested call. Arguments and result are not copied: they are in the events at `requested_position`
   * (content block `block`) and `ended_position`. A fork's row for a call of its prefix has no request of its own.
   */
  tool_calls: {
    columns: {
      agent_id: 'text!',
      id: 'text!',
      run_id: 'text!',
      turn: 'integer!',
      tool_name: 'text',
      effect: 'text',
      arguments_hash: 'text',
      /**
       * planned, started, waiting (for an approval), running, retrying, unknown, succeeded, failed; ended: its outcome was
       * erased without a residue. A command that ended has succeeded, whatever its exit code.
       */
      status: 'text!',
      attempt: 'integer',
      /** Its intent is in the log: it may have changed files. */
      ran: 'integer!',
      code: 'text',
      message: 'text',
      rule: 'text',
      /** Of a command that ended; -1: a signal ended it. */
      exit_code: 'integer',
      duration_ms: 'integer',
      step: 'integer',
      block: 'integer',
      requested_revision: 'integer',
      requested_position: 'integer',
      started_revision: 'integer',
      ended_revision: 'integer',
      ended_position: 'integer',
      requested_at: 'text',
      started_at: 'text',
      ended_at: 'text',
      created: 'text',
      changed: 'text',
      erased: 'integer!',
    },
    key: ['agent_id', 'id'],
    kind: ['agent', 'external'],
    owner: 'agent_id',
    indexes: [['agent_id', 'turn']],
    partial: { columns: ['agent_id'], where: "status = 'unknown'" },
  },
  /**
   * Which files a call names, or has changed. `path` as the call touches it, relative to the workspace; `use`: read or
   * write. Whether the call ran is in `tool_calls`.
   */
  touched_files: {
    columns: { agent_id: 'text!', path: 'text!', tool_call_id: 'text!', use: 'text!', run_id: 'text!' },
    key: ['agent_id', 'path', 'tool_call_id', 'use'],
    kind: ['agent', 'external'],
    owner: 'agent_id',
    indexes: [['path']],
  },
  /** One row per attempt of a model call. `lost`: it was given up; the figures are estimates, in doubt on
   * the bill. `late`: its answer came after that, and the figures are its own. */
  model_calls: {
    columns: {
      agent_id: 'text!',
      turn: 'integer!',
      /** Minus the revision where the attempt's number was erased with the body. */
      attempt: 'integer!',
      run_id: 'text!',
      model: 'text',
      served_by: 'text',
      /** running, answered, failed, lost, late; ended: its outcome was erased without a residue. */
      status: 'text!',
      stop_reason: 'text',
      code: 'text',
      input: 'integer',
      output: 'integer',
      cache_read: 'integer',
      cache_write: 'integer',
      /** Null: no price known, or not ended. */
      nano_dollars: 'integer',
      /** The most that the attempt may take, as it was estimated when it began. */
      most_tokens: 'integer',
      most_nano_dollars: 'integer',
      duration_ms: 'integer',
      request_id: 'text',
      /** The first 200 characters of the answer's text; null: it has none. */
      preview: 'text',
      started_revision: 'integer',
      ended_revision: 'integer',
      started_at: 'text',
      ended_at: 'text',
      erased: 'integer!',
    },
    key: ['agent_id', 'turn', 'attempt'],
    kind: ['agent', 'external'],
    owner: 'agent_id',
    indexes: [
      ['run_id', 'nano_dollars'],
      ['agent_id', 'ended_revision'],
    ],
  },
  /** Every decision of the router (seed 000, 5.7). */
  model_routes: {
    columns: {
      agent_id: 'text!',
      revision: 'integer!',
      turn: 'integer!',
      requested: 'text',
      resolved: 'text',
      reason: 'text',
      policy: 'text',
      purpose: 'text',
      at: 'text!',
    },
    key: ['agent_id', 'revision'],
    kind: 'agent',
    owner: 'agent_id',
  },
} as const satisfies Record<string, TableSpec>
