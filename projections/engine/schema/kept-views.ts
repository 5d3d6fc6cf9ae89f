import { FORKED_AWAY, HAPPENED, NOTES } from '../../../domain/agent/state/transcript.ts'
import { UNKNOWN_TOOL } from '../../../domain/calls/tools/tools.ts'
import { checkpointsSelect, eventsSelect } from '../../agent/seed-views.ts'
import { postgres } from './dialect.ts'
import { historySql } from './history-sql.ts'

// The views and functions of PostgreSQL for the seed's `events` and `checkpoints`, over the table `event_rows`. The
// views contain text constants of the domain: a change of a constant changes the meaning of the rows (ROW_MEANING in
// schema/migrations.ts).

// PostgreSQL stores an escaped NUL in JSON text but cannot parse it, so the views replace it with U+FFFD. (An escaped
// backslash before `u0000` is not a NUL.)
const readable = (body: string) => `cast(case when position('\\u0000' in ${body}) = 0 then ${body}
    else regexp_replace(${body}, '(?<!\\\\)((?:\\\\\\\\)*)\\\\u0000', '\\1\\\\ufffd', 'g') end as json)`

const jsonOf = `create function json_of(body text) returns json immutable strict parallel safe language sql as $$
  select ${readable('body')} $$`

const text = (value: string) => `'${value.replaceAll("'", "''")}'`

const ROLES = [
  'user_input',
  'message_received',
  'message_bounced',
  'lost_call_decided',
  'turn_start',
  'recovery',
  'model_call_end',
  'tool_call_end',
  'turn_end',
  'forked',
]

const resultText = (result: string) =>
  `case when json_typeof(${result}) = 'string' then ${result} #>> '{}' else cast(${result} as text) end`

const happened = `${text(HAPPENED[0])} || (body ->> 'toolName') || ${text(HAPPENED[1])}
      || case when body -> 'result' is null then '' else ${text(HAPPENED[2])} || ${resultText("(body -> 'result')")} end`

/**
 * SQL of the messages that the model would see of `agent` at `revision`, equal to domain/agent/state/transcript.ts, from
 * the events of the agent's history and the residues of erased bodies. `at`: the event with which a message becomes
 * visible; `part` and `place`: its order there. Results are whole, even those that the model saw as head and tail.
 */
const messages = (agent: string, revision: string) => `(${historySql(agent, revision)},
  heard as (
    select row_number() over (order by h.d desc, e.revision) as n, e.type, e.agent_id, e.turn, e.tool_call_id,
      coalesce(e.current, e.payload) as payload
    from h join event_rows e on e.stream = 'agent-' || h.id and e.revision <= h.upto
    -- The answer to a request for a summary stands outside of turns, and is no message.
    where e.type <> 'model_call_end' or e.turn > 0),
  told as (
    select n, type, agent_id, turn, tool_call_id, json_of(payload) as body,
      min(n) filter (where type = 'turn_start') over later as next_start,
      min(n) filter (where type = 'forked') over later as next_fork,
      max(n) filter (where type in ('turn_end', 'forked')) over earlier as last_end,
      max(n) filter (where type = 'model_call_end') over earlier as answer
    from heard where type in (${ROLES.map(text)})
    window earlier as (order by n rows between unbounded preceding and 1 preceding),
      later as (order by n desc rows between unbounded preceding and 1 preceding)),
  said(at, part, place, message) as (
    select next_start, 0, n, json_build_object('role', 'user', 'content', body -> 'text')
    from told where type in ('user_input', 'message_bounced') or (type = 'message_received' and tool_call_id is null)
    union all
    select next_start, 1, n, json_build_object('role', 'system', 'content', ${happened})
    from told where type = 'lost_call_decided' and body ->> 'decision' = 'happened'
    union all
    select next_start, 2, n, json_build_object('role', 'system', 'content', body -> 'warning')
    from told where type = 'recovery' and body ->> 'phase' = 'final_warning' and (next_fork is null or next_start < next_fork)
    union all
    select n, 0, 0, json_build_object('role', 'assistant', 'content', content)
    from (select n, case when json_array_length(body -> 'calls') > 0 then body -> 'content' else
        (select json_agg(block order by nth) from json_array_elements(body -> 'content') with ordinality as blocks(block, nth)
          where block ->> 'type' <> 'tool_use') end as content
      from told where type = 'model_call_end') as answers
    where content is not null
    union all
    select s.n, 0, c.place, json_build_object('role', 'tool', 'toolCallId', c.id,
      'providerCallId', case when json_typeof(c.asked -> 'id') = 'string' then c.asked ->> 'id' else '' end,
      'toolName', case when r.n is null then c.tool_name else r.body ->> 'toolName' end,
      'content', case when r.n is null then ${text(FORKED_AWAY)}
        when not cast(r.body ->> 'success' as boolean)
          then (r.body -> 'error' ->> 'code') || ': ' || (r.body -> 'error' ->> 'message')
        when json_typeof(r.body -> 'result') = 'string' then r.body ->> 'result'
        else coalesce(cast(r.body -> 'result' as text), 'null') end,
      'isError', r.n is null or not cast(r.body ->> 'success' as boolean))
    from told s
    join (select a.n as answer, call.place, a.agent_id || '.t' || a.turn || '.c' || (call.place - 1) as id,
        call.said ->> 'toolName' as tool_name,
        a.body -> 'content' -> cast(call.said ->> 'block' as integer) as asked
      from told a cross join json_array_elements(a.body -> 'calls') with ordinality as call(said, place)
      where a.type = 'model_call_end') as c on c.answer = s.answer
    left join told r on r.type = 'tool_call_end' and r.tool_call_id = c.id and r.n > s.answer and r.n < s.n
    where s.type in ('turn_end', 'forked') and s.answer > coalesce(s.last_end, 0)
      and (r.n is not null or s.type = 'forked')
    union all
    select n, 1, 0, json_build_object('role', 'system', 'content', note.content)
    from told join (values ${Object.entries(NOTES).map((note) => `(${note.map(text)})`)}) as note(outcome, content)
      on note.outcome = body ->> 'outcome'
    where type = 'turn_end')
  select case when exists (select 1 from heard where payload is null) then 'null'
    else '[' || coalesce(string_agg(cast(message as text), ',' order by at, part, place), '') || ']' end
  from said where at is not null)`

const payloadOf = (call: 'requested' | 'ended') =>
  `(select case when e.payload is not null then coalesce(e.current, e.payload) end from event_rows e
    where e.stream = 'agent-' || ${call}_agent and e.revision = ${call}_revision)`

// The argument object of a `tool_use` block, as JSON text; 'null' when there is none (domain/calls/requested-calls.ts).
// It calls no function of this schema, because its body is resolved in the reader's search path.
const argumentsOf = `create function arguments_of(block json) returns text immutable strict parallel restricted language plpgsql as $$
  declare asked json;
  begin
    asked := case when block -> 'input_text' is null then block -> 'input'
      when btrim(block ->> 'input_text', E' \\t\\r\\n') = '' then cast('{}' as json)
      else ${readable("(block ->> 'input_text')")} end;
    return case when json_typeof(asked) = 'object' then cast(asked as text) else 'null' end;
  exception when data_exception or program_limit_exceeded then return 'null';
  end $$`

/** SQL of a body with another `toolName`, given as JSON; null: the body unchanged. */
const named = (body: string, name: string) => `case when ${name} is null then ${body} else
  (select '{' || string_agg(cast(to_json(key) as text) || ':' ||
      cast(case when key = 'toolName' then ${name} else value end as text), ',') || '}'
    from json_each(json_of(${body}))) end`

const asked = (body: string) => `json_of(${body}) -> 'askedName'`

/** SQL of a body as readers of events see it, equal to `withArguments` in domain/agent/events/arguments-ref.ts. */
const shown = `case
    when payload is null then null
    when json_typeof(${asked('payload')}) = 'string' then ${named('payload', asked('payload'))}
    when type not in ('tool_call_start', 'context_set') or json_of(payload) -> 'argumentsRef' is null then payload
    else (select left(${named('payload', 'given.name')}, -1) || case when type = 'context_set'
        then ',"value":' || coalesce(cast(cast(given.args as json) -> 'value' as text), 'null')
        else ',"arguments":' || given.args || coalesce(',"secrets":' || given.secrets, '') end || '}'
      from (select coalesce(arguments_of(answer.body -> 'content' -> asked.block), 'null') as args,
          cast(planned.call -> 'secrets' as text) as secrets,
          case when json_of(payload) ->> 'toolName' = ${text(UNKNOWN_TOOL)} then planned.call -> 'askedName' end as name
        from (select cast(json_of(payload) -> 'argumentsRef' ->> 'revision' as bigint) as revision,
            cast(json_of(payload) -> 'argumentsRef' ->> 'block' as integer) as block) as asked
          left join lateral (select json_of(a.payload) as body from event_rows a
            where a.stream = event_rows.stream and a.revision = asked.revision) as answer on true
          left join lateral (select call from json_array_elements(answer.body -> 'calls') as call
            where cast(call ->> 'block' as integer) = asked.block limit 1) as planned on true) as given)
    end`

export const keptViews: readonly string[] = [
  jsonOf,
  argumentsOf,
  `create view events as ${eventsSelect('event_rows', shown)}`,
  `create view checkpoints as ${checkpointsSelect(postgres, {
    request: payloadOf('requested'),
    outcome: payloadOf('ended'),
    messages: messages('c.agent_id', 'c.revision'),
  })}`,
]
