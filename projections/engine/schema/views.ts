import { budgetView } from '../../agent/budget-view.ts'
import { costByCause } from '../../agent/cause-view.ts'
import { callDecisions } from '../../agent/decisions-view.ts'
import { waiting } from '../../agent/waiting-view.ts'
import { type Dialect, jsonObject } from './dialect.ts'
import { historySql } from './history-sql.ts'

// Views of every database, in standard SQL and the dialect's own. The views that need event content are in
// agent/seed-views.ts.

/**
 * Calls of a turn at a revision, one row per id. `ended_position` null: pending. The end may be in a fork while the
 * request is in its source.
 */
export const callsAt = (agent: string, revision: string, turn: string) => `${historySql(agent, revision)}
  select t.id,
    max(t.tool_name) as tool_name,
    max(case when t.requested_revision <= h.upto then t.block end) as block,
    max(case when t.requested_revision <= h.upto then t.requested_position end) as requested_position,
    max(case when t.requested_revision <= h.upto then t.requested_revision end) as requested_revision,
    max(case when t.requested_revision <= h.upto then h.id end) as requested_agent,
    max(case when t.ended_revision <= h.upto then t.ended_position end) as ended_position,
    max(case when t.ended_revision <= h.upto then t.ended_revision end) as ended_revision,
    max(case when t.ended_revision <= h.upto then h.id end) as ended_agent
  from h join tool_calls t on t.agent_id = h.id and t.turn = ${turn}
  where t.requested_revision <= h.upto or t.ended_revision <= h.upto
  group by t.id`

const sum = (column: string, where = '') =>
  `coalesce((select sum(${column}) from model_calls m where m.agent_id = a.id${where}), 0)`

/** An external agent's run is one model call in turn 0. The agent may not have reported this column. */
const untold = (column: string) => `m.turn = 0 and m.${column} is null`

/** A sum; null when an external agent has not reported its part. */
const known = (expression: string, column: string) =>
  `case when a.ungoverned = 1 and exists (select 1 from model_calls m where m.agent_id = a.id and ${untold(column)})
    then null else ${sum(expression)} end`

const knownTotal = (expression: string, column: string) =>
  `case when count(case when ${untold(column)} then 1 end) > 0 then null else coalesce(sum(${expression}), 0) end`

/** SQL of the source's role for a fork's row `a` of `agents`. */
export const inheritedRole = `(with recursive up(role, source) as (
    select s.role, s.forked_from from agents s where s.id = a.forked_from
    union all
    select s.role, s.forked_from from up join agents s on s.id = up.source where up.role is null)
  select role from up where role is not null limit 1)`

/** SQL that converts nano-dollars to dollars. */
export const dollarsSql = (nano: string) => `cast(${nano} as double precision) / 1e9`

const INPUT = 'm.input + m.cache_read + m.cache_write'

/** Estimated: the outcome of the attempt is unknown. */
const LOST = " and m.status = 'lost'"

// No foreign key on the parent: its stream may be parked while the child's is not.
const lineage = `create view agent_lineage as select a.id, a.run_id, a.parent_agent_id,
  coalesce(a.role, ${inheritedRole}, '') as role, a.status, a.depth, a.created_at, a.completed_at,
  ${known(INPUT, 'input')} as usage_input_tokens,
  ${known('m.output', 'output')} as usage_output_tokens,
  ${dollarsSql(known('m.nano_dollars', 'nano_dollars'))} as usage_cost,
  a.code, a.turn, a.step, a.revision,
  ${known('m.nano_dollars', 'nano_dollars')} as nano_dollars,
  ${sum(`${INPUT} + m.output`, LOST)} as in_doubt_tokens,
  ${sum('m.nano_dollars', LOST)} as in_doubt_nano_dollars,
  (select count(*) from model_calls m where m.agent_id = a.id and m.nano_dollars is null
    and (m.input is not null or m.turn = 0))
    as unpriced_calls,
  a.incomplete_from, a.backend, a.ungoverned
  from agents a`

const SUMS = `count(distinct tree.id) as agents,
    ${knownTotal(INPUT, 'input')} as total_input_tokens,
    ${knownTotal('m.output', 'output')} as total_output_tokens,
    ${knownTotal('m.nano_dollars', 'nano_dollars')} as total_nano_dollars,
    ${dollarsSql(knownTotal('m.nano_dollars', 'nano_dollars'))} as total_cost,
    coalesce(sum(case when m.status = 'lost' then ${INPUT} + m.output end), 0) as in_doubt_tokens,
    coalesce(sum(case when m.status = 'lost' then m.nano_dollars end), 0) as in_doubt_nano_dollars`

// One tree per requested agent where the database supports it; otherwise all trees at once.
const totals = ({ lateral }: Dialect) =>
  lateral
    ? `create view agent_lineage_totals as select l.id, l.run_id, t.* from agents l cross join lateral (
  with recursive tree(id) as (
    select l.id union all select a.id from tree join agents a on a.parent_agent_id = tree.id)
  select ${SUMS} from tree left join model_calls m on m.agent_id = tree.id) as t`
    : `create view agent_lineage_totals as
  with recursive tree(top, id) as (
    select id, id from agents
    union all
    select tree.top, a.id from tree join agents a on a.parent_agent_id = tree.id)
  select l.id, l.run_id, ${SUMS}
  from agents l join tree on tree.top = l.id left join model_calls m on m.agent_id = tree.id
  group by l.id, l.run_id`

const artifacts = (
  d: Dialect,
) => `create view artifacts as select r.agent_id || '/' || r.artifact_id as id, r.run_id, r.agent_id,
  (select c.agent_id || '.s' || c.step from checkpoint_rows c
    where c.agent_id = r.agent_id and c.tool_call_id = r.tool_call_id and c.revision > r.revision
    order by c.revision limit 1) as checkpoint_id,
  r.artifact_type, r.path, r.content,
  ${jsonObject({ size: d.quote('r.size'), hash: d.quote('r.hash'), mimeType: d.quote('r.mime_type') })} as metadata,
  r.created_at, r.artifact_id, r.title, r.claimed, r.tool_call_id, r.revision, r.position,
  (select g.agent_id from artifact_registrations g
    where g.child_id = r.agent_id and g.artifact_id = r.artifact_id limit 1) as registered_with
  from artifact_rows r`

// One pass per agent: a running sum over its calls and checkpoints in order of revision. Steps are dense, so the place
// of a checkpoint gives its step when the body was erased.
const facts = `create view checkpoint_facts as select agent_id, revision,
  coalesce(step, place + coalesce((select a.forked_step from agents a where a.id = agent_id), 0)) as step,
  input, output, nano_dollars
  from (
  select agent_id, revision, step, checkpoint, sum(checkpoint) over w as place,
    sum(i) over w as input, sum(o) over w as output, sum(n) over w as nano_dollars
  from (
    select m.agent_id, m.ended_revision as revision, null as step, 0 as checkpoint, coalesce(${INPUT}, 0) as i,
      coalesce(m.output, 0) as o, coalesce(m.nano_dollars, 0) as n
    from model_calls m where m.ended_revision is not null
    union all
    select c.agent_id, c.revision, c.step, 1, 0, 0, 0 from checkpoint_rows c) as both_kinds
  window w as (partition by agent_id order by revision)) as running
  where checkpoint = 1`

export const views = (d: Dialect): readonly string[] => [
  lineage,
  totals(d),
  budgetView,
  artifacts(d),
  facts,
  waiting,
  callDecisions,
  costByCause,
]
