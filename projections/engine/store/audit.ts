import type { DatabaseSync } from 'node:sqlite'
import { checkpointsSelect, eventsSelect } from '../../agent/seed-views.ts'
import { sqlite } from '../schema/dialect.ts'
import { type Connection, connect } from './database.ts'

/**
 * The part of an embedded log that the seed's tables read, so that bodies and messages are not copied. The owner of the log
 * provides it; all methods are synchronous, because SQL calls them.
 */
export interface LogSource {
  /** The log's SQLite file. It is attached read-only. */
  readonly path: string
  /**
   * A SELECT over the attached log (`schema` is its name there) with the columns position, event_id, stream, run_id,
   * agent_id, turn, revision, type, timestamp, tool_call_id, actor_kind, actor_id.
   */
  eventsSql(schema: string): string
  /** The body at a position as JSON text; null: erased. */
  payload(position: number): string | null
  /** The same as readers of events see it: with the arguments that it points to. */
  shown(position: number): string | null
  /**
   * The messages that the model would see at a revision, as JSON text of an array; `null` where nothing is left of a body
   * before it.
   */
  messages(agentId: string, revision: number): string
}

/**
 * A connection for auditors: every table, and as TEMP views the seed's `events` (8.2) and `checkpoints` (8.1) with its
 * exact columns, and `events` with more columns. Close it when done.
 */
export function openAudit(tables: string, log: LogSource): Connection {
  const connection = connect(tables, 'read')
  try {
    const { raw } = connection
    raw.prepare('attach database ? as log').run(log.path)
    register(raw, log)
    raw.exec(eventsView(log))
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

const eventsView = (log: LogSource) =>
  `create temp view events as ${eventsSelect(`(${log.eventsSql('log')})`, 'keepup_shown(position)')}`

const CHECKPOINTS = `create temp view checkpoints as ${checkpointsSelect(sqlite, {
  request: 'keepup_payload(requested_position)',
  outcome: 'keepup_payload(ended_position)',
  messages: 'keepup_messages(c.agent_id, c.revision)',
})}`
