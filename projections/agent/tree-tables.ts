import type { TableSpec } from '../engine/schema/columns.ts'

export const treeTables = {
  /** A parent's record of a child. The child's own row is in `agents`. */
  children: {
    columns: {
      /** The parent. */
      agent_id: 'text!',
      child_id: 'text!',
      run_id: 'text!',
      tool_call_id: 'text',
      role: 'text',
      /** Revision of the delegation. */
      revision: 'integer!',
      delegated_at: 'text!',
      /** completed, failed; null: the parent knows no end. */
      status: 'text',
      code: 'text',
      ended_revision: 'integer',
      ended_at: 'text',
      /** The end of the child's stream that the parent recorded. */
      head_revision: 'integer',
      head_hash: 'text',
      /** 1: the parent has requested the child's end. */
      cancelled: 'integer!',
      /** 1: the parent continues without the child. */
      unreached: 'integer!',
    },
    key: ['agent_id', 'child_id'],
    kind: 'agent',
    owner: 'agent_id',
    indexes: [['child_id'], ['run_id']],
    partial: { columns: ['child_id'], where: 'unreached = 1' },
  },
  /**
   * Changes of an agent's budget, except its own model calls. `granted`: reserved for a child; null: without a limit.
   * `received`: added by the parent. `settled`: the usage of a child and its descendants, or a later correction of it.
   */
  budget_changes: {
    columns: {
      agent_id: 'text!',
      revision: 'integer!',
      run_id: 'text!',
      kind: 'text!',
      child_id: 'text',
      tokens: 'integer',
      nano_dollars: 'integer',
      agents: 'integer',
      uncertain_tokens: 'integer!',
      uncertain_nano_dollars: 'integer!',
      uncertain_agents: 'integer!',
      at: 'text!',
    },
    key: ['agent_id', 'revision'],
    kind: 'agent',
    owner: 'agent_id',
    indexes: [['run_id']],
  },
  /** Artifacts of a child that the parent has recorded. `agent_id`: the parent. */
  artifact_registrations: {
    columns: { agent_id: 'text!', child_id: 'text!', artifact_id: 'text!', revision: 'integer!', at: 'text!' },
    key: ['agent_id', 'child_id', 'artifact_id'],
    kind: 'agent',
    owner: 'agent_id',
    indexes: [['child_id', 'artifact_id']],
  },
  /** Messages between agents. Each has one row, in the stream that recorded it first. */
  messages: {
    columns: {
      /** The sender; for a person's message, the recipient. */
      agent_id: 'text!',
      revision: 'integer!',
      run_id: 'text!',
      position: 'integer!',
      id: 'text!',
      /** An agent, or a person as user:<id>. */
      sender: 'text!',
      /** Null: published to a topic. */
      recipient: 'text',
      /** request, response, event. */
      type: 'text!',
      topic: 'text',
      /** The request that a response answers. */
      correlation_id: 'text',
      /** The first 500 characters of the payload, as JSON. */
      preview: 'text',
      /** In a response: why the request will not be answered. */
      refused: 'text',
      at: 'text!',
    },
    key: ['agent_id', 'revision'],
    kind: 'agent',
    owner: 'agent_id',
    indexes: [
      ['run_id', 'position'],
      ['run_id', 'id'],
      ['run_id', 'correlation_id'],
    ],
  },
  message_receipts: {
    columns: { agent_id: 'text!', revision: 'integer!', run_id: 'text!', id: 'text!', at: 'text!' },
    key: ['agent_id', 'revision'],
    kind: 'agent',
    owner: 'agent_id',
    indexes: [['run_id', 'id']],
  },
  /** An obligation that another stream has refused permanently. `revision`: the event that was to be delivered. */
  bounces: {
    columns: { agent_id: 'text!', revision: 'integer!', target: 'text!', reason: 'text', at: 'text!' },
    key: ['agent_id', 'revision', 'target'],
    kind: 'agent',
    owner: 'agent_id',
  },
} as const satisfies Record<string, TableSpec>
