import type { DatabaseSync } from 'node:sqlite'
import { checkpointsSelect, eventsSelect } from '../../agent/seed-views.ts'
import { sqlite } from '../schema/dialect.ts'
import { type Connection, connectSqlite } from './database.ts'

/**
 * Reads an embedded log for the seed's tables, so that bodies and messages are not copied. The owner of the log
 * provides it. All methods are synchronous, because SQL calls them.
 */
export interface LogSource {
  /** The log's SQLite file, attached read-only. */
  readonly path: string
  /**
   * A SELECT over the attached log (`schema` is its name in SQL) with the columns position, event_id, stream, run_id,
   * agent_id, turn, revision, type, timestamp, tool_call_id, actor_kind, actor_id.
   */
  eventsSql(schema: string): string
  /** The body at a position as JSON text; null: erased. */
  payload(position: number): string | null
  /** Like `payload`, but with the arguments that the body refers to, as readers of events see it. */
  shown(position: number): string | null
  /**
   * The messages that the model would see at a revision, as JSON text of an array; `null` when an earlier body was
   * erased without a residue.
   */
  messages(agentId: string, revision: number): string
}

/**
 * Opens a connection for auditors: every table, and the seed's `events` (8.2) and `checkpoints` (8.1) as TEMP views
 * with exactly its columns; `events` has further columns. `upTo`: the last position that `events` shows; absent: the
 * log's head. The caller closes it.
 */
export function openAudit(tables: string, log: LogSource, upTo?: number): Connection {
  const connection = connectSqlite(tables, 'read')
  try {
    const { raw } = connection
    raw.prepare('attach database ? as log').run(log.path)
    register(raw, log)
    raw.exec(eventsView(log, upTo))
    raw.exec(CHECKPOINTS)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

function register(raw: DatabaseSync, log: LogSource): void {
  raw.function('keepup_payload', { directOnly: false }, (position) =>
    position === null ? null : log.payload(Number(position)),
  )
  raw.function('keepup_shown', { directOnly: false }, (position) => log.shown(Number(position)))
  raw.function('keepup_messages', { directOnly: false }, (agent, revision) =>
    log.messages(String(agent), Number(revision)),
  )
}

const eventsView = (log: LogSource, upTo: number | undefined) =>
  `create temp view events as ${eventsSelect(`(${log.eventsSql('log')})`, 'keepup_shown(position)')}${
    upTo === undefined ? '' : ` where position <= ${Number(upTo)}`
  }`

const CHECKPOINTS = `create temp view checkpoints as ${checkpointsSelect(sqlite, {
  request: 'keepup_payload(requested_position)',
  outcome: 'keepup_payload(ended_position)',
  messages: 'keepup_messages(c.agent_id, c.revision)',
})}`
