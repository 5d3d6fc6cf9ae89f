import type { TableSpec } from '../engine/schema/columns.ts'

/** The records of agents about the agents that they have started. */
export const treeTables = {
  /** A parent's record of an agent that it delegated to. The agent's own row is in `agents`. */
  children: {
    columns: {
      /** The parent. */
      agent_id: 'text!',
      child_id: 'text!',
      run_id: 'text!',
      tool_call_id: 'text',
      role: 'text',
      /** Of the delegation. */
      revision: 'integer!',
      delegated_at: 'text!',
      /** completed, failed; null: the parent knows of no end. */
      status: 'text',
      code: 'text',
      ended_revision: 'integer',
      ended_at: 'text',
      /** The end of the child's stream as the parent was told it. */
      head_revision: 'integer',
      head_hash: 'text',
      /** The parent has asked for its end. */
      cancelled: 'integer!',
      /** The parent goes on without it. */
      unreached: 'integer!',
    },
    key: ['agent_id', 'child_id'],
    kind: 'agent',
    owner: 'agent_id',
    indexes: [['child_id'], ['run_id']],
    partial: { columns: ['child_id'], where: 'unreached = 1' },
  },
  /**
   * The changes of an agent's budget beside its own model calls. `granted`: reserved for a child; null: without a limit.
   * `received`: added by the parent. `settled`: what a child and all below it have taken, or what became known of that later.
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
  /** Artifacts of a child that the parent has recorded; `agent_id` is the parent. */
  artifact_registrations: {
    columns: { agent_id: 'text!', child_id: 'text!', artifact_id: 'text!', revision: 'integer!', at: 'text!' },
    key: ['agent_id', 'child_id', 'artifact_id'],
    kind: 'agent',
    owner: 'agent_id',
    indexes: [['child_id', 'artifact_id']],
  },
  /** Messages between agents, in the row of the stream that they were first recorded in. */
  messages: {
    columns: {
      /** The sender; of a person's message its recipient. */
      agent_id: 'text!',
      revision: 'integer!',
      run_id: 'text!',
      position: 'integer!',
      id: 'text!',
      /** An agent, or a person: user:<id>. */
      sender: 'text!',
      /** Null: published to a topic. */
      recipient: 'text',
      /** request, response, event. */
      type: 'text!',
      topic: 'text',
      /** Of a response: the request. */
      correlation_id: 'text',
      /** The first 500 characters of the payload, as JSON. */
      preview: 'text',
      /** Of a response: why the request will not be answered. */
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
  /** Messages that an agent has received from others. */
  message_receipts: {
    columns: { agent_id: 'text!', revision: 'integer!', run_id: 'text!', id: 'text!', at: 'text!' },
    key: ['agent_id', 'revision'],
    kind: 'agent',
    owner: 'agent_id',
    indexes: [['run_id', 'id']],
  },
  /**
   * An obligation that another stream has refused for good: `revision` is that of the event that should have been
   * delivered.
   */
  bounces: {
    columns: { agent_id: 'text!', revision: 'integer!', target: 'text!', reason: 'text', at: 'text!' },
    key: ['agent_id', 'revision', 'target'],
    kind: 'agent',
    owner: 'agent_id',
  },
} as const satisfies Record<string, TableSpec>
