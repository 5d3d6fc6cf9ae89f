import { ERASED } from '../../domain/calls/events/residue.ts'
import { type Dialect, jsonArray, jsonObject, memberSql } from '../engine/schema/dialect.ts'
import { historySql } from '../engine/schema/history-sql.ts'
import { callsAt, dollarsSql } from '../engine/schema/views.ts'

// The seed's `events` (8.2) and `checkpoints` (8.1) with exactly its columns. Both show event content: SQLite reads it
// from the log, PostgreSQL from a table.

/**
 * `events`: the seed's columns and the columns that it lacks. An event of a person's action has the agent `user:<id>`
 * and turn 0; `thread_id` stays the agent's id. `payload`: SQL for the body's JSON text, null when the body was erased.
 */
export const eventsSelect = (source: string, payload: string) => `
  select position as id, agent_id as thread_id, type as event_type, timestamp, ${payload} as payload,
    event_id, stream, run_id,
    case when actor_kind in ('user', 'approver') then 'user:' || actor_id else agent_id end as agent_id,
    case when actor_kind in ('user', 'approver') then 0 else turn end as turn,
    revision, tool_call_id
  from ${source}`

/**
 * SQL for the content of events. Bodies: by the columns of a call (see {@link callsAt}), NULL when erased. Messages:
 * those of `c.agent_id` at `c.revision`.
 */
interface Said {
  readonly request: string
  readonly outcome: string
  /** JSON text of an array; `null` when an earlier body was erased without a residue. */
  readonly messages: string
}

/** `checkpoints`: computed from `checkpoint_rows`. A fork has cancelled the open calls that it inherited. */
export function checkpointsSelect(d: Dialect, said: Said): string {
  const request = (path: string) => memberSql(d.json(said.request), `'content'`, 'cast(block as integer)', `'${path}'`)
  const outcome = (path: string) => memberSql(d.json(said.outcome), `'${path}'`)
  const calls = callsAt('c.agent_id', 'c.revision', 'c.turn')
  const [id, name] = [d.quote('id'), d.quote('tool_name')]
  const pending = {
    id,
    name,
    arguments: `coalesce(${request('input')}, ${request('input_text')})`,
  }
  const completed = {
    toolCallId: id,
    name,
    success: outcome('success'),
    result: `coalesce(${outcome('result')}, case when ${said.outcome} is null then ${GONE} end)`,
    error: outcome('error'),
  }
  const state = {
    messages: said.messages,
    sopPhase: d.quote(`coalesce(${PHASE}, '')`),
    contextVariables: variables(d),
  }
  return `with base as materialized (
    select a.id, ${inherited('coalesce(m.input + m.cache_read + m.cache_write + m.output, 0)')} as tokens,
      ${inherited('coalesce(m.nano_dollars, 0)')} as nano_dollars
    from agents a where a.forked_from is not null)
  select c.agent_id || '.s' || f.step as id, c.agent_id as thread_id, f.step, c.timestamp,
    ${jsonObject(state)} as state_blob,
    ${jsonArray(`select ${jsonObject(pending)} as item
      from (${calls}) as called
      where ended_position is null and requested_agent = c.agent_id order by block`)} as pending_tools,
    ${jsonArray(`select ${jsonObject(completed)} as item
      from (${calls}) as called where ended_position is not null order by ended_position`)} as completed_tools,
    f.input + f.output + coalesce(b.tokens, 0) as usage_tokens,
    ${dollarsSql('(f.nano_dollars + coalesce(b.nano_dollars, 0))')} as usage_cost
  from checkpoint_rows c
  join checkpoint_facts f on f.agent_id = c.agent_id and f.revision = c.revision
  left join base b on b.id = c.agent_id`
}

/** The value of an erased body, the same as in the runtime's states. */
const GONE = `'${JSON.stringify(ERASED)}'`

const PHASE = `(${historySql('c.agent_id', 'c.revision')}
  select p.phase from h join phases p on p.agent_id = h.id and p.revision <= h.upto
  order by h.d, p.revision desc limit 1)`

const variables = (d: Dialect) => `'{' || coalesce((${historySql('c.agent_id', 'c.revision')}
  select string_agg(${d.quote('name')} || ':' || value, ',') from (
    select v.name, v.value, row_number() over (partition by v.name order by h.d, v.revision desc) as age
    from h join context_variables v on v.agent_id = h.id and v.revision <= h.upto) as aged
  where age = 1), '') || '}'`

const inherited = (sum: string) => `(${historySql('a.id', '0')}
  select coalesce(sum(${sum}), 0) from h join model_calls m on m.agent_id = h.id and m.ended_revision <= h.upto
  where h.d > 0)`
