import type { DatabaseSync } from 'node:sqlite'
import { jsonArray } from '../schema/dialect.ts'
import { callsAt, history } from '../schema/views.ts'
import { type Connection, connect } from './database.ts'

/**
 * What the seed's tables need of an embedded log, so that bodies and messages are read and not copied. The log's owner
 * gives it; all methods answer at once, because SQL calls them.
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
  /** The messages that the model would see at a revision, as JSON text of an array. */
  messages(agentId: string, revision: number): string
}

/**
 * A connection for auditors: every table, and as TEMP views the seed's `events` (8.2) and `checkpoints` (8.1) with its
 * exact columns, `events` with what it lacks beside them. Close it when done.
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
  raw.function('keepup_messages', { directOnly: false }, (agent, revision) =>
    log.messages(String(agent), Number(revision)),
  )
}

// What people do is theirs in the view: agent `user:<id>`, turn 0 (CONTRACTS 6). `thread_id` stays the agent's.
const eventsView = (log: LogSource) => `create temp view events as
  select position as id, agent_id as thread_id, type as event_type, timestamp, keepup_payload(position) as payload,
    event_id, stream, run_id,
    case when actor_kind in ('user', 'approver') then 'user:' || actor_id else agent_id end as agent_id,
    case when actor_kind in ('user', 'approver') then 0 else turn end as turn,
    revision, tool_call_id
  from (${log.eventsSql('log')})`

const phase = `(${history('c.agent_id', 'c.revision')}
  select p.phase from h join phases p on p.agent_id = h.id and p.revision <= h.upto
  order by h.d, p.revision desc limit 1)`

const variables = `(${history('c.agent_id', 'c.revision')}
  select json_group_object(name, json(value)) from (
    select v.name, v.value, row_number() over (partition by v.name order by h.d, v.revision desc) as age
    from h join context_variables v on v.agent_id = h.id and v.revision <= h.upto)
  where age = 1)`

const request = (path: string) => `keepup_payload(requested_position) -> ('$.content[' || block || '].${path}')`
const outcome = (path: string) => `keepup_payload(ended_position) -> '$.${path}'`

const calls = callsAt('c.agent_id', 'c.revision', 'c.turn')
const pending = jsonArray(`select json_object('id', id, 'name', tool_name,
    'arguments', coalesce(${request('input')}, ${request('input_text')})) as item
  from (${calls}) where ended_position is null order by block`)
const completed = jsonArray(`select json_object('toolCallId', id, 'name', tool_name,
    'success', ${outcome('success')}, 'result', ${outcome('result')}, 'error', ${outcome('error')}) as item
  from (${calls}) where ended_position is not null order by ended_position`)

const inherited = (sum: string) => `(${history('a.id', '0')}
  select coalesce(sum(${sum}), 0) from h join model_calls m on m.agent_id = h.id and m.ended_revision <= h.upto
  where h.d > 0)`

const CHECKPOINTS = `create temp view checkpoints as
  with base as materialized (
    select a.id, ${inherited('coalesce(m.input + m.cache_read + m.cache_write + m.output, 0)')} as tokens,
      ${inherited('coalesce(m.nano_dollars, 0)')} as nano_dollars
    from agents a where a.forked_from is not null)
  select c.agent_id || '.s' || f.step as id, c.agent_id as thread_id, f.step, c.timestamp,
    json_object('messages', json(keepup_messages(c.agent_id, c.revision)), 'sopPhase', coalesce(${phase}, ''),
      'contextVariables', json(coalesce(${variables}, '{}'))) as state_blob,
    ${pending} as pending_tools,
    ${completed} as completed_tools,
    f.input + f.output + coalesce(b.tokens, 0) as usage_tokens,
    (f.nano_dollars + coalesce(b.nano_dollars, 0)) / 1000000000.0 as usage_cost
  from checkpoint_rows c
  join checkpoint_facts f on f.agent_id = c.agent_id and f.revision = c.revision
  left join base b on b.id = c.agent_id`
