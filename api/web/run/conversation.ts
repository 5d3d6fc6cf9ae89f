/** A turn: the model's request and its answer. Calls have separate rows. */
export interface TurnRow {
  readonly kind: 'turn'
  readonly revision: number
  readonly turn: number
  /** Revisions of the last model call of the turn. Null: it has not happened yet. */
  asked: number | null
  answered: number | null
}

/** A tool call, from its first event to its end. */
export interface CallRow {
  readonly kind: 'call'
  readonly revision: number
  /** Revisions. Null: the event has not happened yet. */
  start: number | null
  end: number | null
  /** The last question about the call, and what became of it. */
  question: number | null
  decision: number | null
  /** The birth of the child that the call delegates to. */
  child: number | null
}

/** Any other event of the conversation, or consecutive batches of an external agent's events. */
export interface PlainRow {
  readonly kind: 'event'
  readonly revision: number
  /** The revisions of the further batches. */
  readonly more: number[]
}

/** The most batches in one row. An agent that streams its text fills a batch every 50 ms. */
const MOST_BATCHES = 40

export type ConversationRow = TurnRow | CallRow | PlainRow

const QUESTIONS: ReadonlySet<string> = new Set(['approval_requested', 'tool_call_unknown'])
const DECISIONS: ReadonlySet<string> = new Set([
  'approval_decided',
  'approval_expired',
  'approval_voided',
  'tool_call_resolved',
])
const CALL: ReadonlySet<string> = new Set([
  ...QUESTIONS,
  ...DECISIONS,
  'approval_supported',
  'tool_call_start',
  'tool_call_intent',
  'tool_call_retry',
  'child_delegated',
  'tool_call_end',
])

/** The event types that get a separate row. */
const OTHERS: ReadonlySet<string> = new Set([
  'agent_started',
  'forked',
  'user_input',
  'phase_advanced',
  'gate_checked',
  'context_set',
  'recovery',
  'completion',
  'error',
  'paused',
  'resumed',
  'cancel_requested',
  'context_compressed',
  'workspace_drifted',
  'external_started',
  'agent_events',
  'permission_requested',
  'permission_decided',
  'external_ended',
  'outcome_learned',
  'spans_reported',
  'model_outcome',
  'mirror_gap',
])

/** An agent's events as the rows of a conversation: one row per turn, call, and other event. New events extend it. */
export class Conversation {
  readonly rows: ConversationRow[] = []
  /** By revision: the row that shows the event, or the row before it. -1: none precedes it. */
  readonly #rowAt: number[] = []
  readonly #calls = new Map<string, number>()
  #turn: TurnRow | null = null
  #turnAt = -1
  /** True: the last row of plain events contains batches of an external agent. */
  #endsWithBatch = false

  /** `call`: the call's index within its turn. Negative: the event belongs to no call. */
  add(type: string, revision: number, turn: number, call: number): void {
    const row = this.#rowOf(type, revision, turn, call)
    this.#rowAt.push(row ?? this.#rowAt.at(-1) ?? -1)
  }

  /** The index of the row that shows the event at `revision`. -1: no row precedes it. */
  rowAt(revision: number): number {
    return this.#rowAt[Math.min(revision, this.#rowAt.length - 1)] ?? -1
  }

  #rowOf(type: string, revision: number, turn: number, call: number): number | null {
    if (type === 'turn_start') return this.#begin(revision, turn)
    if (type === 'model_call_start' || type === 'model_call_end') {
      // A fork can begin inside a turn.
      const index = this.#turn?.turn === turn ? this.#turnAt : this.#begin(revision, turn)
      const row = this.#turn!
      // A second attempt has no answer yet.
      if (type === 'model_call_start') Object.assign(row, { asked: revision, answered: null })
      else row.answered = revision
      return index
    }
    if (call >= 0 && CALL.has(type)) return this.#addToCall(type, revision, `${turn}.${call}`)
    if (!OTHERS.has(type)) return null
    const isBatch = type === 'agent_events'
    const last = this.rows.at(-1)
    if (isBatch && this.#endsWithBatch && last?.kind === 'event' && last.more.length < MOST_BATCHES - 1) {
      last.more.push(revision)
      return this.rows.length - 1
    }
    this.#endsWithBatch = isBatch
    return this.rows.push({ kind: 'event', revision, more: [] }) - 1
  }

  #begin(revision: number, turn: number): number {
    this.#turn = { kind: 'turn', revision, turn, asked: null, answered: null }
    this.#turnAt = this.rows.push(this.#turn) - 1
    return this.#turnAt
  }

  #addToCall(type: string, revision: number, key: string): number {
    const known = this.#calls.get(key)
    const none = { start: null, end: null, question: null, decision: null, child: null }
    const index = known ?? this.rows.push({ kind: 'call', revision, ...none }) - 1
    this.#calls.set(key, index)
    const row = this.rows[index] as CallRow
    if (type === 'tool_call_start') row.start = revision
    if (type === 'tool_call_end') row.end = revision
    if (type === 'child_delegated') row.child = revision
    if (DECISIONS.has(type)) row.decision = revision
    if (QUESTIONS.has(type)) {
      row.question = revision
      row.decision = null
    }
    return index
  }
}

/** The revisions of the events that a row shows. */
export function revisionsOf(row: ConversationRow): number[] {
  const all =
    row.kind === 'event'
      ? [row.revision, ...row.more]
      : row.kind === 'turn'
        ? [row.asked, row.answered]
        : [row.start, row.end, row.question, row.decision, row.child]
  return all.filter((revision) => revision !== null)
}
