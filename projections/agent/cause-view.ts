// Money of model calls by cause. Each call has one cause. A model gets the whole context again in every turn, so calls that
// answered are split: results of earlier turns have a cause of their own.

const count = (column: string) => `coalesce(${column}, 0)`
const SENT = `${count('m.input')} + ${count('m.cache_read')} + ${count('m.cache_write')}`

/** The agent's branch ended without completing, and the call came after the place where a fork departs. */
const ABANDONED = `a.completed_at is not null and a.status <> 'completed' and (a.forked_from is not null or
    m.started_revision > (select min(f.forked_revision) from agents f where f.forked_from = a.id))`

const RETRIED = `exists (select 1 from model_calls n
    where n.agent_id = m.agent_id and n.turn = m.turn and n.attempt > m.attempt and n.status <> 'held')`

const UNPRICED = 'case when m.nano_dollars is null and (m.input is not null or m.turn = 0) then 1 else 0 end'

const CAUSE = `case
    when m.status in ('lost', 'late') then 'lost'
    when m.turn = 0 and a.backend is null then 'compression'
    when ${RETRIED} then 'retry'
    when ${ABANDONED} then 'abandoned'
    else 'answer' end`

/**
 * `cost_by_cause`: tokens and money by agent and cause.
 *
 * - `lost`: attempts whose outcome was lost, or came late. Estimated.
 * - `retry`: attempts that another attempt of the same turn followed. A failed attempt reports no usage, so most have neither
 *   tokens nor money.
 * - `compression`: summaries that shorten the context.
 * - `abandoned`: calls of a branch (a fork, or its source after the fork) that ended without completing.
 * - `resent`: results of the tool `tool_name` in every request after their first. Estimated: the results of a turn are as
 *   large as the growth of the next request, in equal parts for the calls of the turn. Their money is their share of the
 *   tokens of each call. Results count until the context shrinks.
 * - `answer`: all else.
 *
 * The rows of an agent add up to its model calls. The money does not count calls of unknown cost:
 * `unpriced_calls` is their number; null for `resent`. Calls that were held and not sent have no row. `calls`: model calls; for
 * `resent` tool calls.
 */
export const costByCause = `create view cost_by_cause as
  with caused as (
    select m.run_id, m.agent_id, m.turn, ${CAUSE} as cause, ${SENT} as sent, ${count('m.output')} as received,
      ${count('m.nano_dollars')} as nano_dollars, ${UNPRICED} as unpriced
    from model_calls m join agents a on a.id = m.agent_id
    where m.status <> 'held'),
  answers as (
    select agent_id, run_id, turn, sent, received,
      cast(nano_dollars as double precision) / (sent + received) as rate,
      case when sent < lag(sent) over (partition by agent_id order by turn) then 1 else 0 end as shrank
    from caused where cause = 'answer' and sent + received > 0),
  parts as (
    select agent_id, run_id, turn, sent, received,
      sum(shrank) over w as part, sum(rate) over w as rates, count(*) over w as place
    from answers window w as (partition by agent_id order by turn)),
  grown as (
    select agent_id, run_id, turn, lead(sent) over w - sent - received as size,
      last_value(rates) over whole - lead(rates) over w as rates, last_value(place) over whole - lead(place) over w as times
    from parts window w as (partition by agent_id, part order by turn),
      whole as (partition by agent_id, part order by turn rows between unbounded preceding and unbounded following)),
  resent as (
    select g.run_id, g.agent_id, coalesce(t.tool_name, '') as tool_name, count(*) as calls,
      cast(round(sum(cast(g.size * g.times as double precision) / c.calls)) as bigint) as tokens,
      cast(round(sum(g.size * g.rates / c.calls)) as bigint) as nano_dollars
    from grown g
    join (select agent_id, turn, count(*) as calls from tool_calls group by agent_id, turn) c
      on c.agent_id = g.agent_id and c.turn = g.turn
    join tool_calls t on t.agent_id = g.agent_id and t.turn = g.turn
    where g.size > 0 and g.times > 0
    group by g.run_id, g.agent_id, coalesce(t.tool_name, '')),
  moved as (
    select agent_id, sum(tokens) as tokens, sum(nano_dollars) as nano_dollars from resent group by agent_id)
  select run_id, agent_id, 'resent' as cause, tool_name, calls, tokens, nano_dollars, cast(null as bigint) as unpriced_calls from resent
  union all
  select c.run_id, c.agent_id, c.cause, null, count(*),
    cast(sum(c.sent + c.received) - max(case when c.cause = 'answer' then coalesce(m.tokens, 0) else 0 end) as bigint),
    cast(sum(c.nano_dollars) - max(case when c.cause = 'answer' then coalesce(m.nano_dollars, 0) else 0 end) as bigint),
    cast(sum(c.unpriced) as bigint)
  from caused c left join moved m on m.agent_id = c.agent_id
  group by c.run_id, c.agent_id, c.cause`
