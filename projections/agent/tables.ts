import type { TableSpec } from '../engine/schema/columns.ts'

export const agentTables = {
  /** One row per run, from the events of its root agent. */
  runs: {
    columns: {
      id: 'text!',
      status: 'text!',
      /** Position of the run's first event. Run ids made from a key contain no time. */
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
      /** The kind of an external agent; null: an agent of keepup. */
      backend: 'text',
      /** The ended run whose session this run of an external agent continues. */
      continues: 'text',
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
      ['continues'],
    ],
    partial: { columns: ['status', 'started'], where: "code = 'CANCELLED'" },
  },
  /** One row per agent: the columns of `agent_lineage`, and the agent's state. */
  agents: {
    columns: {
      id: 'text!',
      run_id: 'text!',
      parent_agent_id: 'text',
      parent_tool_call_id: 'text',
      /** Null in a fork: the source's role applies. */
      role: 'text',
      status: 'text!',
      /** -1: unknown, because the body of the birth was erased. */
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
      /** Paused, or pausing while `stepping` is 1. */
      paused: 'integer!',
      /** The agent runs to the end of the next turn and pauses there. */
      stepping: 'integer!',
      /** 1 between a `turn_start` and its `turn_end`. */
      in_turn: 'integer!',
      /** Revision of the last `ask_user` (or of a birth without a task) without a later input or turn. */
      question_revision: 'integer',
      last_input: 'integer',
      /** Revision of the last turn start. The turn reads every input before it. */
      last_read: 'integer',
      cancel_requested_at: 'text',
      /** 1 after all of the agent's models failed, until an answer or the next turn. */
      model_outage: 'integer!',
      /** 1 until a driver claims the agent or a request asks for one. */
      undriven: 'integer!',
      /** The start asked for any available driver. A child is driven like its parent. */
      drive_requested: 'integer!',
      /** The revision at which the stream is parked. The rows lack all events from this one on. */
      incomplete_from: 'integer',
      /** The budget at birth; null: no limit, -1: as in the fork's source. `budget_agents` includes the agent. */
      budget_tokens: 'integer',
      budget_nano_dollars: 'integer',
      budget_agents: 'integer',
      /** The kind of an external agent; null: an agent of keepup. */
      backend: 'text',
      /** The external agent's id of its session; null: not known. */
      session_id: 'text',
      /** keepup's policy sees none of the agent's actions. */
      ungoverned: 'integer!',
    },
    key: ['id'],
    kind: ['agent', 'external'],
    owner: 'id',
    indexes: [['run_id'], ['parent_agent_id'], ['backend', 'run_id']],
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
   * (content block `block`) and `ended_position`. When a call of a fork's prefix ends in the fork, the fork's row has
   * no request.
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
       * planned, started, waiting (for an approval), running, retrying, unknown, succeeded, failed; ended: erased without a
       * residue. A command that ended has succeeded, whatever its exit code.
       */
      status: 'text!',
      attempt: 'integer',
      /** 1: the intent is in the log, so the call may have changed files. */
      ran: 'integer!',
      code: 'text',
      message: 'text',
      rule: 'text',
      /** The exit code of an ended command; -1: a signal ended it. */
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
   * The files that a call names, or has changed. `path`: as the call uses it, relative to the workspace. `use`: read or
   * write. `tool_calls.ran` says whether the call ran. A call that an external agent reports has no row in `tool_calls`.
   */
  touched_files: {
    columns: { agent_id: 'text!', path: 'text!', tool_call_id: 'text!', use: 'text!', run_id: 'text!' },
    key: ['agent_id', 'path', 'tool_call_id', 'use'],
    kind: ['agent', 'external'],
    owner: 'agent_id',
    indexes: [['path']],
  },
  /**
   * One row per attempt of a model call. `lost`: abandoned; the figures are estimates, and in doubt on the bill.
   * `late`: the answer came after the loss, and the figures are the answer's.
   */
  model_calls: {
    columns: {
      agent_id: 'text!',
      turn: 'integer!',
      /** Minus the revision when the attempt's number was erased with the body. */
      attempt: 'integer!',
      run_id: 'text!',
      model: 'text',
      served_by: 'text',
      /** running, answered, held, failed, lost, late; ended: the outcome was erased without a residue. */
      status: 'text!',
      stop_reason: 'text',
      code: 'text',
      input: 'integer',
      output: 'integer',
      cache_read: 'integer',
      cache_write: 'integer',
      /** Null: unknown price, or not ended. */
      nano_dollars: 'integer',
      /** The maximum usage of the attempt, estimated at its start. */
      most_tokens: 'integer',
      most_nano_dollars: 'integer',
      duration_ms: 'integer',
      request_id: 'text',
      /** The first 200 characters of the answer's text; null: no text. */
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
