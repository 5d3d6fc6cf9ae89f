import type { SpecRow } from './columns.ts'
import type { eventRows } from './event-rows.ts'
import type { ownTables } from './own-tables.ts'
import type { Row, TableName } from './tables.ts'

export type PositionRow = SpecRow<typeof ownTables.position>
export type StreamRow = SpecRow<typeof ownTables.streams>

/**
 * Seed 000, 8.4, under its name and with its columns. Usage is the agent's own, `usage_cost` in dollars. Null: an
 * external agent has not reported it.
 */
export interface LineageRow {
  id: string
  run_id: string
  parent_agent_id: string | null
  role: string
  status: string
  depth: number
  created_at: string
  completed_at: string | null
  usage_input_tokens: number | null
  usage_output_tokens: number | null
  usage_cost: number | null
  code: string | null
  turn: number
  step: number
  revision: number
  nano_dollars: number | null
  /** The estimated part of the usage: calls with unknown outcome. */
  in_doubt_tokens: number
  in_doubt_nano_dollars: number
  unpriced_calls: number
  incomplete_from: number | null
  /** The kind of an external agent; null: an agent of keepup. */
  backend: string | null
  /** 1: keepup's policy sees none of the agent's actions. */
  ungoverned: number
}

/** Usage of an agent and all its descendants; null when an external agent among them has not reported its own. */
export interface TotalsRow {
  id: string
  run_id: string
  agents: number
  total_input_tokens: number | null
  total_output_tokens: number | null
  total_nano_dollars: number | null
  total_cost: number | null
  /** The estimated part of the usage. */
  in_doubt_tokens: number
  in_doubt_nano_dollars: number
}

/** The budget account of an agent in its tree; see agent/budget-view.ts. Null: no limit. */
export interface BudgetRow {
  id: string
  run_id: string
  budget_tokens: number | null
  budget_nano_dollars: number | null
  budget_agents: number | null
  spent_tokens: number
  spent_nano_dollars: number
  spent_agents: number
  reserved_tokens: number
  reserved_nano_dollars: number
  reserved_agents: number
  uncertain_tokens: number
  uncertain_nano_dollars: number
  uncertain_agents: number
}

/** Seed 000, 8.3, and further columns. `id`: `<agent>/<artifact's own id>`; `metadata`: JSON {size, hash, mimeType}. */
export interface ArtifactColumns {
  id: string
  run_id: string
  agent_id: string
  checkpoint_id: string | null
  artifact_type: string
  path: string | null
  content: string | null
  metadata: string
  created_at: string
  artifact_id: string
  title: string | null
  claimed: number
  tool_call_id: string | null
  revision: number
  position: number
  /** The agent's parent, if it has recorded the artifact. */
  registered_with: string | null
}

/** Step and usage up to each checkpoint, for the agent's own stream. */
export interface CheckpointFactsRow {
  agent_id: string
  revision: number
  step: number
  input: number
  output: number
  nano_dollars: number
}

/** One reason why an agent waits; see agent/waiting-view.ts. */
export interface WaitingRow {
  run_id: string
  agent_id: string
  reason: 'input' | 'approval' | 'doubt' | 'pause' | 'model'
  tool_call_id: string | null
}

/** How a call was decided; see agent/decisions-view.ts. */
export interface CallDecisionRow {
  call_id: string
  run_id: string
  agent_id: string
  tool: string | null
  effect: string | null
  decision: 'pending' | 'allowed' | 'denied' | 'expired' | 'undecided' | 'erased'
  method: 'person' | 'standing_approval' | 'permission' | 'policy' | null
  rule: string | null
  principal: string | null
  claimed: number
  policy_hash: string | null
  shown_hash: string | null
  /** How many people must approve. */
  needed: number
  asked_at: string | null
  decided_at: string | null
  /** Of the first event about the decision. */
  first_revision: number
  position: number
}

/** Seed 000, 8.2, under its name and with its columns, and further ones. `payload`: JSON; null: erased. */
export interface EventsViewRow {
  /** The position in the log. */
  id: number
  /** The agent of the stream. */
  thread_id: string
  event_type: string
  timestamp: string
  payload: string | null
  event_id: string
  stream: string
  run_id: string
  /** `user:<id>` for an event of a person. */
  agent_id: string
  turn: number
  revision: number
  tool_call_id: string | null
}

/** Seed 000, 8.1, under its name and with its columns. Blobs and tools: JSON. `usage_cost`: dollars. */
export interface CheckpointsViewRow {
  id: string
  thread_id: string
  step: number
  timestamp: string
  state_blob: string
  pending_tools: string
  completed_tools: string
  usage_tokens: number
  usage_cost: number
}

/** Tokens and money of an agent by cause; see agent/cause-view.ts. */
export interface CauseRow {
  run_id: string
  agent_id: string
  cause: 'resent' | 'lost' | 'retry' | 'compression' | 'abandoned' | 'answer'
  /** Of `resent`; otherwise null. */
  tool_name: string | null
  calls: number
  tokens: number
  nano_dollars: number
  /** Null: of `resent`. */
  unpriced_calls: number | null
}

export type EventRow = SpecRow<typeof eventRows>

/** The rows of all tables and views by name, for Kysely: `Kysely<Database>`. Times are ISO 8601 in UTC, money is nano-dollars. */
export type Database = { [T in TableName]: Row<T> } & {
  position: PositionRow
  streams: StreamRow
  /** Exists only in databases with kept events. */
  event_rows: EventRow
  agent_lineage: LineageRow
  agent_lineage_totals: TotalsRow
  agent_budgets: BudgetRow
  artifacts: ArtifactColumns
  checkpoint_facts: CheckpointFactsRow
  waiting: WaitingRow
  call_decisions: CallDecisionRow
  cost_by_cause: CauseRow
  /** In SQLite only on connections of auditors, because the log is another file. */
  events: EventsViewRow
  checkpoints: CheckpointsViewRow
}
