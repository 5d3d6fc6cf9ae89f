import type { SqlAuditor } from '../sql/auditor.ts'
import type { AuditQuestion, QuestionInputs } from './schemas.ts'

type Dialect = SqlAuditor['dialect']
type Input = AuditQuestion['inputs'][number]

const RUN: Input = { name: 'run', label: 'Run', example: '06h2arw19q2g', required: false }
const PATH: Input = { name: 'path', label: 'File', example: 'src/index.ts', required: false }
const PERSON: Input = { name: 'person', label: 'Person', example: 'ada', required: false }
const FROM: Input = { name: 'from', label: 'From', example: '2026-01-01', required: false }
const TO: Input = { name: 'to', label: 'Until', example: '2026-02-01', required: false }
const DOLLARS: Input = { name: 'dollars', label: 'Dollars', example: '2.50', required: true }
const TURN: Input = { name: 'turn', label: 'Turn', example: '7', required: true }

/** Compares a column with an input. Without a value the condition is true for every row. */
const is = (column: string, { name }: Input) => `(:${name} is null or ${column} = :${name})`
/** A person without the part that names the role in an event: `user:ada` and `approver:ada` are `ada`. */
const bare = (person: string) => `replace(replace(${person}, 'user:', ''), 'approver:', '')`
const by = (column: string) => `(:person is null or ${bare(column)} = ${bare(':person')})`
const within = (column: string) => `(:from is null or ${column} >= :from) and (:to is null or ${column} < :to)`

/** The stream of an agent: keepup's own agents and other programs have streams of different kinds. */
const streamOf = (agent: string) =>
  `(case when exists (select 1 from agents x where x.id = ${agent} and x.backend is not null) then 'external-' else 'agent-' end || ${agent})`

/** The event of an agent at a revision, as `STREAM@REVISION`. */
const event = (agent: string, revision: string) => `${streamOf(agent)} || '@' || ${revision} as event`
const evidence = `stream || '@' || revision as event`

/** SQL for a member of a JSON text: `result.exitCode`. */
const member = (dialect: Dialect, column: string, path: string) =>
  dialect === 'sqlite' ? `${column} ->> '$.${path}'` : `${column}::json #>> '{${path.replaceAll('.', ',')}}'`

/** The questions of auditors, with SQL in a dialect. Each row of an answer names the event that is its evidence. */
export const questionsIn = (d: Dialect): readonly AuditQuestion[] => [
  ...approvalQuestions(d),
  ...callQuestions(d),
  ...moneyQuestions(),
  ...runQuestions(d),
  ...accessQuestions(),
  ...commandQuestions,
]

const asked = (name: string, title: string, inputs: readonly Input[], sql: string): AuditQuestion => ({
  ...{ name, title, inputs, sql, command: null },
})

/** `started`: each agent with the agent whose first event has its spec. A fork has the spec of its source. */
const STARTS = `with recursive started(run_id, agent_id, origin) as (
  select run_id, id, id from agents
  union all
  select h.run_id, h.agent_id, a.forked_from from started h join agents a on a.id = h.origin where a.forked_from is not null)`

const approvalQuestions = (d: Dialect): readonly AuditQuestion[] => [
  asked(
    'approvals',
    'Who approved or rejected what, when and why; supported: one of several approvals',
    [RUN, PERSON, FROM, TO],
    `select * from (
  select coalesce(decided_at, requested_at) as at, run_id, tool_call_id, tool_name, status, decided_by, decision_reason as reason, reason as rule, requested_at,
    ${event('agent_id', 'coalesce(decided_revision, requested_revision)')}
  from approvals
  union all
  select s.at, s.run_id, s.tool_call_id, a.tool_name, 'supported', s.by, s.reason, a.reason, a.requested_at, ${event('s.agent_id', 's.revision')}
  from approval_supports s
  left join approvals a on a.agent_id = s.agent_id and a.tool_call_id = s.tool_call_id) as answers
where ${is('run_id', RUN)} and ${by('decided_by')} and ${within('at')}
order by at desc`,
  ),
  asked(
    'decisions',
    'Who or what allowed or denied each call, with the policy in force; the event is the question',
    [RUN, PERSON],
    `select decided_at, run_id, call_id, tool, effect, decision, method, rule, principal, claimed, policy_hash, shown_hash, asked_at,
  ${event('agent_id', 'first_revision')}
from call_decisions
where ${is('run_id', RUN)} and ${by('principal')}
order by coalesce(decided_at, asked_at) desc`,
  ),
  asked(
    'denied',
    'What was denied, and by whom',
    [RUN],
    `select * from (
  select coalesce(t.ended_at, t.requested_at) as at, t.run_id, t.id as tool_call_id, t.tool_name, t.code, t.rule, a.decided_by, t.message,
    ${event('t.agent_id', 'coalesce(t.ended_revision, t.requested_revision)')}
  from tool_calls t
  left join approvals a on a.agent_id = t.agent_id and a.tool_call_id = t.id and a.status = 'rejected'
  where t.code in ('PERMISSION_DENIED', 'APPROVAL_REJECTED', 'APPROVAL_EXPIRED', 'SANDBOX_VIOLATION', 'SINGLE_STEP_VIOLATION',
    'COMPLETION_NOT_ALONE', 'DUPLICATE_FAILED_ACTION', 'DEPTH_LIMIT', 'AGENT_LIMIT', 'BUDGET_EXCEEDED', 'SECRET_UNAVAILABLE')
  union all
  select coalesce(a.decided_at, a.requested_at), a.run_id, a.tool_call_id, a.tool_name, a.status, a.reason, a.decided_by, a.decision_reason,
    ${event('a.agent_id', 'coalesce(a.decided_revision, a.requested_revision)')}
  from approvals a
  where a.status in ('rejected', 'expired')
    and not exists (select 1 from tool_calls t where t.agent_id = a.agent_id and t.id = a.tool_call_id)) as refused
where ${is('run_id', RUN)}
order by at desc`,
  ),
  asked(
    'standing_approvals',
    'What was approved beforehand',
    [RUN],
    `select at, run_id, agent_id, tools, by, reason, ${event('agent_id', 'revision')}
from standing_approvals
where ${is('run_id', RUN)}
order by at desc`,
  ),
  asked(
    'permissions',
    'What people permitted beyond the policy, and how long it held',
    [RUN],
    `select granted_at, run_id, tool, scope, until, reason, ended_at, ended_by, tool_call_id, ${event('agent_id', 'granted_revision')}
from permissions
where ${is('run_id', RUN)}
order by granted_at desc`,
  ),
  asked(
    'unknown',
    'Calls whose outcome was unknown, and who decided',
    [RUN],
    `select timestamp, run_id, tool_call_id, event_type, agent_id as who, payload, ${evidence}
from events
where event_type in ('tool_call_unknown', 'tool_call_resolved', 'loss_accepted', 'lost_call_decided') and ${is('run_id', RUN)}
order by id desc`,
  ),
  asked(
    'policy',
    'The policy of each agent, with its hash; the event is where the agent, or the source of the fork, began',
    [RUN],
    `${STARTS}
select e.timestamp, h.run_id, h.agent_id, coalesce(${member(d, 'e.payload', 'spec.policy')}, ${member(d, 'e.payload', 'tools.spec.policy')}) as policy,
  (select max(c.policy_hash) from call_decisions c where c.agent_id = h.agent_id) as policy_hash, e.stream || '@' || e.revision as event
from started h
join events e on e.stream = ${streamOf('h.origin')} and e.event_type in ('agent_started', 'external_started')
where ${is('h.run_id', RUN)}
order by e.id desc`,
  ),
]

const callQuestions = (d: Dialect): readonly AuditQuestion[] => [
  asked(
    'files_read',
    'Files that calls have read',
    [RUN, PATH],
    `select coalesce(t.ended_at, t.started_at) as at, f.run_id, f.path, t.tool_name, t.id as tool_call_id, t.status,
  ${event('t.agent_id', 'coalesce(t.ended_revision, t.started_revision)')}
from touched_files f
join tool_calls t on t.agent_id = f.agent_id and t.id = f.tool_call_id
where f.use = 'read' and t.ran = 1 and ${is('f.run_id', RUN)} and ${is('f.path', PATH)}
order by 1 desc`,
  ),
  asked(
    'files_written',
    'Files that calls have written, with the version before (empty: no earlier one) and after',
    [RUN, PATH],
    `select coalesce(t.ended_at, t.started_at) as at, f.run_id, f.path, t.tool_name, t.id as tool_call_id, t.status,
  (select w.tree from workspace_versions w where w.agent_id = t.agent_id and w.revision < t.started_revision and w.tree is not null
    order by w.revision desc limit 1) as before,
  (select w.tree from workspace_versions w where w.agent_id = t.agent_id and w.revision > t.started_revision and w.tree is not null
    order by w.revision limit 1) as after,
  ${event('t.agent_id', 'coalesce(t.ended_revision, t.started_revision)')}
from touched_files f
join tool_calls t on t.agent_id = f.agent_id and t.id = f.tool_call_id
where f.use = 'write' and t.ran = 1 and ${is('f.run_id', RUN)} and ${is('f.path', PATH)}
order by 1 desc`,
  ),
  asked(
    'commands',
    'Commands that were run, with their exit codes',
    [RUN],
    `select e.timestamp, e.run_id, e.tool_call_id, ${member(d, 'e.payload', 'arguments.command')} as command, t.status, t.code, t.exit_code, t.duration_ms,
  e.stream || '@' || e.revision as event
from tool_calls t
join events e on e.stream = ${streamOf('t.agent_id')} and e.revision = t.started_revision
where t.tool_name = 'run_command' and t.ran = 1 and ${is('t.run_id', RUN)}
order by e.id desc`,
  ),
  asked(
    'failed_commands',
    'Commands that failed, with exit code and output',
    [RUN, FROM, TO],
    `select t.ended_at as at, ${member(d, 's.payload', 'arguments.command')} as command, t.exit_code,
  coalesce(${member(d, 'e.payload', 'result')}, t.message) as output, t.code, t.run_id, t.id as tool_call_id, e.stream || '@' || e.revision as event
from tool_calls t
join events s on s.stream = ${streamOf('t.agent_id')} and s.revision = t.started_revision
left join events e on e.stream = ${streamOf('t.agent_id')} and e.revision = t.ended_revision
where t.tool_name = 'run_command' and t.ran = 1 and (t.exit_code <> 0 or t.code is not null)
  and ${is('t.run_id', RUN)} and ${within('t.ended_at')}
order by 1 desc`,
  ),
  asked(
    'left_machine',
    'What left this machine: model calls, web tools, and tools of MCP servers',
    [RUN, FROM, TO],
    `select * from (
  select m.started_at as at, m.run_id, 'model' as kind, coalesce(r.resolved, m.served_by, m.model) as destination, m.status,
    m.input + m.cache_read + m.cache_write as tokens, null as call, ${event('m.agent_id', 'coalesce(m.started_revision, m.ended_revision)')}
  from model_calls m
  left join model_routes r on r.agent_id = m.agent_id and r.turn = m.turn and r.revision =
    (select max(q.revision) from model_routes q where q.agent_id = m.agent_id and q.revision < m.started_revision)
  union all
  select coalesce(t.started_at, t.requested_at), t.run_id, case when t.tool_name like '%:%' then 'mcp' else 'web' end,
    coalesce(${member(d, 's.payload', 'arguments.url')}, ${member(d, 's.payload', 'arguments.query')}, t.tool_name), t.status,
    null, t.id, s.stream || '@' || s.revision
  from tool_calls t
  join events s on s.stream = ${streamOf('t.agent_id')} and s.revision = t.started_revision
  where t.ran = 1 and (t.tool_name in ('read_url', 'search_web') or t.tool_name like '%:%')) as sent
where ${is('run_id', RUN)} and ${within('at')}
order by at desc`,
  ),
  asked(
    'secrets',
    'Which secrets were granted, by whom, and which calls used them',
    [RUN],
    `${STARTS}
select e.timestamp, h.run_id, 'granted' as what, r.created_by as by, null as tool_call_id,
  coalesce(${member(d, 'e.payload', 'spec.secrets')}, ${member(d, 'e.payload', 'tools.spec.secrets')}) as secrets, e.stream || '@' || e.revision as event
from started h
join events e on e.stream = ${streamOf('h.origin')} and e.event_type in ('agent_started', 'external_started')
left join runs r on r.id = e.run_id
where coalesce(${member(d, 'e.payload', 'spec.secrets')}, ${member(d, 'e.payload', 'tools.spec.secrets')}, '{}') not in ('{}', '[]')
  and ${is('h.run_id', RUN)}
union all
select e.timestamp, e.run_id, 'used', r.created_by, e.tool_call_id, ${member(d, 'e.payload', 'secrets')}, e.stream || '@' || e.revision
from events e
left join runs r on r.id = e.run_id
where e.event_type = 'tool_call_start' and ${member(d, 'e.payload', 'secrets')} is not null and ${is('e.run_id', RUN)}
order by 1 desc`,
  ),
  asked(
    'documents',
    'Requests to change documents, and their answers',
    [RUN],
    `select at, document_id, caller, run_id, tool_call_id, verdict, status, code, reason, ${evidence}
from envelopes
where ${is('run_id', RUN)}
order by at desc`,
  ),
]

/** Calls of which no price is known: those of unpriced models, and runs of other agents that reported no cost. */
const UNPRICED =
  'sum(case when m.nano_dollars is null and (m.input is not null or m.turn = 0) then 1 else 0 end) as unpriced_calls'

/** Money by a column of runs, agents and model calls. A lost attempt may cost up to `lost_at_most`. */
const costBy = (column: string) => `select ${column}, count(distinct m.run_id) as runs, count(*) as calls,
  sum(m.input + m.cache_read + m.cache_write) as input_tokens, sum(m.output) as output_tokens, sum(m.nano_dollars) / 1e9 as dollars,
  ${UNPRICED}, sum(case when m.status = 'lost' then m.most_nano_dollars else 0 end) / 1e9 as lost_at_most
from model_calls m
left join runs r on r.id = m.run_id
left join agent_lineage l on l.id = m.agent_id
where ${is('m.run_id', RUN)} and ${within('m.started_at')}
group by 1
order by 6 desc`

const moneyQuestions = (): readonly AuditQuestion[] => [
  asked('cost_by_model', 'Cost by model', [RUN, FROM, TO], costBy('m.model as model')),
  asked('cost_by_day', 'Cost by day', [RUN, FROM, TO], costBy('substr(m.started_at, 1, 10) as day')),
  asked('cost_by_role', 'Cost by role', [RUN, FROM, TO], costBy("coalesce(l.role, '') as role")),
  asked(
    'cost_by_person',
    'Cost by the person who asked for the run',
    [RUN, FROM, TO],
    costBy('r.created_by as person'),
  ),
  asked(
    'cost_by_cause',
    'What the money went for: results that were sent again by tool, retries, lost attempts, abandoned branches, compression; from and until: the start of the run',
    [RUN, FROM, TO],
    `select c.cause, coalesce(c.tool_name, '') as tool, count(distinct c.run_id) as runs, sum(c.calls) as calls, sum(c.tokens) as tokens,
  sum(c.nano_dollars) / 1e9 as dollars, sum(c.unpriced_calls) as unpriced_calls
from cost_by_cause c
left join runs r on r.id = c.run_id
where ${is('c.run_id', RUN)} and ${within('r.created_at')}
group by 1, 2
order by 6 desc`,
  ),
  asked(
    'dear_runs',
    'Runs that cost more than an amount, as far as prices are known',
    [DOLLARS],
    `select m.run_id, r.status, r.created_at, r.created_by, count(distinct m.agent_id) as agents, sum(m.input + m.cache_read + m.cache_write) as input_tokens,
  sum(m.output) as output_tokens, sum(m.nano_dollars) / 1e9 as dollars, ${UNPRICED}, ${event('m.run_id', '0')}
from model_calls m
join runs r on r.id = m.run_id
group by m.run_id, r.status, r.created_at, r.created_by
having sum(m.nano_dollars) > cast(:dollars as double precision) * 1e9
order by 8 desc`,
  ),
  asked(
    'models',
    'Model calls by the model that was asked for and the one that answered',
    [RUN],
    `select m.model as asked_for, m.served_by, count(*) as calls, count(distinct m.run_id) as runs, min(m.started_at) as first, max(m.started_at) as last
from model_calls m
where ${is('m.run_id', RUN)}
group by 1, 2
order by 3 desc`,
  ),
  asked(
    'routing',
    'Why a run had its models',
    [RUN],
    `select m.at, a.run_id, m.agent_id, m.turn, m.purpose, m.requested, m.resolved, m.policy, m.reason, ${event('m.agent_id', 'm.revision')}
from model_routes m
join agents a on a.id = m.agent_id
where ${is('a.run_id', RUN)}
order by m.at, m.agent_id, m.revision`,
  ),
]

const runQuestions = (d: Dialect): readonly AuditQuestion[] => [
  asked(
    'unfinished',
    'Runs that have not ended, and what they wait for',
    [],
    `select r.created_at, r.id as run_id, r.status, r.created_by, w.agent_id, w.reason as waits_for, w.tool_call_id, ${event('r.id', '0')}
from runs r
left join waiting w on w.run_id = r.id
where r.ended_at is null
order by r.created_at desc`,
  ),
  asked(
    'failed_runs',
    'Runs that failed, and why',
    [FROM, TO],
    `select ended_at, id as run_id, status, code, error, role, model, created_by, ${event('id', '0')}
from runs
where code is not null and ${within('ended_at')}
order by ended_at desc`,
  ),
  asked(
    'forks',
    'Where each fork departs from its source',
    [RUN],
    `select r.created_at, r.id as run_id, r.forked_from, a.forked_step, a.turn, r.status, r.created_by,
  ${event('a.forked_from', 'a.forked_revision')}
from runs r
join agents a on a.id = r.id
where a.forked_from is not null and (:run is null or r.id = :run or r.forked_from = :run)
order by r.created_at desc`,
  ),
  asked(
    'recoveries',
    'Recoveries: why, and what became of them',
    [RUN],
    `select timestamp, run_id, thread_id as agent_id, turn, ${member(d, 'payload', 'phase')} as phase, ${member(d, 'payload', 'reason')} as reason, ${evidence}
from events
where event_type = 'recovery' and ${is('run_id', RUN)}
order by id desc`,
  ),
  asked(
    'artifacts',
    'From each artifact to its checkpoint and its run',
    [RUN],
    `select created_at, run_id, agent_id, artifact_type, title, path, checkpoint_id, tool_call_id, claimed, ${event('agent_id', 'revision')}
from artifacts
where ${is('run_id', RUN)}
order by created_at desc`,
  ),
  asked(
    'people',
    'What each person did in a span of time',
    [PERSON, FROM, TO],
    `select timestamp, agent_id as person, event_type, run_id, ${evidence}
from events
where agent_id like 'user:%' and ${by('agent_id')} and ${within('timestamp')}
order by id desc`,
  ),
  asked(
    'ungoverned',
    'Runs of other agents, whose actions the policy could not see',
    [],
    `select created_at, run_id, id as agent_id, backend, status, code, ${event('id', '0')}
from agents
where ungoverned = 1
order by created_at desc`,
  ),
  asked(
    'erased',
    'What was erased, by whom and why; the event is the erased one',
    [FROM, TO],
    `select at, stream, revision, by, code, reason, ${evidence}
from erasures
where ${within('at')}
order by at desc`,
  ),
]

const accessQuestions = (): readonly AuditQuestion[] => [
  asked(
    'readers',
    'Who read a run',
    [RUN, PERSON],
    `select recorded_at, principal, operation, run_id, count, 'access-' || access || '@' || revision as event
from access_uses
where type = 'read_audited' and ${is('run_id', RUN)} and ${by('principal')}
order by recorded_at desc`,
  ),
  asked(
    'refused_requests',
    'Requests and logins that were refused',
    [PERSON, FROM, TO],
    `select recorded_at, type, principal, key, operation, run_id, reason, address, count, 'access-' || access || '@' || revision as event
from access_uses
where type in ('request_refused', 'login_failed') and ${by('principal')} and ${within('recorded_at')}
order by recorded_at desc`,
  ),
  asked(
    'rights',
    'Which roles were granted, taken, or claimed by an issuer, which ids were linked as one person, and who was removed',
    [PERSON, FROM, TO],
    `select * from (
  select changed_at as at, principal, role, null as other, change, changed_by, null as reason,
    'access-' || access || '@' || revision as event from role_changes
  union all
  select claimed_at, principal, roles, null, 'claimed', issuer, null, 'access-' || access || '@' || revision from role_claims
  union all
  select changed_at, principal, null, other, change, changed_by, reason, 'access-' || access || '@' || revision
  from principal_links
  union all
  select removed_at, principal, null, null, 'removed', removed_by, reason, 'access-' || access || '@' || revision from principals
  where removed_at is not null) as changes
where (${by('principal')} or ${by('other')}) and ${within('at')}
order by at desc`,
  ),
  asked(
    'held',
    'What may not be erased, and why',
    [],
    `select set_at, stream, reason, set_by, lifted_at, lifted_by, lift_reason, 'access-' || access || '@' || revision as event
from holds
order by set_at desc`,
  ),
]

const answeredBy = (name: string, title: string, inputs: readonly Input[], command: string): AuditQuestion => ({
  ...{ name, title, inputs, sql: null, command },
})
const THIS_RUN: Input = { ...RUN, required: true }

/** Questions that no table can answer. Capitals in a command are inputs. */
const commandQuestions: readonly AuditQuestion[] = [
  answeredBy('model_input', 'What a model saw at a turn, exactly', [THIS_RUN, TURN], 'request RUN --turn TURN'),
  answeredBy('tampering', 'Whether the log or the tables were changed', [], 'verify'),
  answeredBy('could_approve', 'Who could have approved, who did, and who read a run', [THIS_RUN], 'access report RUN'),
  answeredBy('story', 'One file about a run for a reader without keepup', [THIS_RUN], 'pack RUN --to RUN.tar'),
]

/** A text as an SQL literal, valid in both databases. */
const literal = (text: string): string => `'${text.replaceAll('\0', '').replaceAll("'", "''")}'`

type Asked = { readonly sql: string; readonly inputs: AuditQuestion['inputs'] }

/** Replaces the placeholders of a question's inputs, but nothing inside literals. `of` null: the placeholder stays. */
const replaced = ({ sql, inputs }: Asked, of: (input: Input) => string | null): string =>
  sql.replace(/'(?:[^']|'')*'|(?<![:\w]):([a-z]+)\b/g, (found, name: string | undefined) => {
    const input = inputs.find((one) => one.name === name)
    return (input && of(input)) ?? found
  })

/** The SQL of a question with values for its inputs. An input without a value stays a placeholder. */
export const filled = (question: Asked, values: QuestionInputs): string =>
  replaced(question, ({ name }) => (values[name] ? literal(values[name]) : null))

/** The SQL of a question without placeholders of optional inputs: they become null, which means every row. */
export const withoutInputs = (question: Asked): string =>
  replaced(question, ({ required }) => (required ? null : 'null'))
