import type { SqlAuditor } from './auditor.ts'
import type { SavedQuestion } from './schemas.ts'

type Dialect = SqlAuditor['dialect']

/** SQL for a text member of `payload`, which is JSON text. */
const member = (dialect: Dialect, name: string) =>
  dialect === 'sqlite' ? `payload ->> '$.${name}'` : `payload::json ->> '${name}'`

const RUN = { name: 'run', label: 'Run', example: 'a run’s id' } as const
const PATH = { name: 'path', label: 'File', example: 'src/index.ts' } as const

/** Saved questions for auditors, with SQL in a dialect. */
export const savedQuestions = (d: Dialect): readonly SavedQuestion[] => [
  {
    name: 'approvals',
    title: 'Who approved or rejected what, and why',
    inputs: [],
    sql: `select requested_at, run_id, tool_call_id, tool_name, status, decided_by, decided_at, decision_reason, reason as rule
from approvals
order by requested_position desc`,
  },
  {
    name: 'decisions',
    title: 'Who or what allowed or denied each call',
    inputs: [],
    sql: `select decided_at, run_id, call_id, tool, effect, decision, method, rule, principal, claimed, policy_hash, shown_hash, asked_at
from call_decisions
order by coalesce(decided_at, asked_at) desc`,
  },
  {
    name: 'standing_approvals',
    title: 'What was approved beforehand',
    inputs: [],
    sql: `select at, run_id, agent_id, tools, by, reason
from standing_approvals
order by at desc`,
  },
  {
    name: 'people',
    title: 'What people did',
    inputs: [],
    sql: `select timestamp, agent_id as person, event_type, run_id, stream, revision
from events
where agent_id like 'user:%'
order by id desc`,
  },
  {
    name: 'network',
    title: 'Effects on the network: web tools, and tools of other servers',
    inputs: [],
    sql: `select coalesce(ended_at, started_at, requested_at) as at, run_id, id as tool_call_id, tool_name, effect, status, code
from tool_calls
where ran = 1 and (tool_name in ('read_url', 'search_web') or tool_name like '%:%')
order by 1 desc`,
  },
  {
    name: 'commands',
    title: 'Commands that were run',
    inputs: [],
    sql: `select e.timestamp, e.run_id, e.tool_call_id, t.status, t.code, t.exit_code, e.payload
from tool_calls t
join events e on e.stream = 'agent-' || t.agent_id and e.revision = t.started_revision
where t.tool_name = 'run_command' and t.ran = 1
order by e.id desc`,
  },
  {
    name: 'files',
    title: 'Files that calls have changed',
    inputs: [],
    sql: `select coalesce(t.ended_at, t.started_at) as at, f.run_id, f.path, t.tool_name, t.id as tool_call_id, t.status
from touched_files f
join tool_calls t on t.agent_id = f.agent_id and t.id = f.tool_call_id
where f.use = 'write' and t.ran = 1
order by 1 desc`,
  },
  {
    name: 'file',
    title: 'Runs that touched a file',
    inputs: [PATH],
    sql: `select f.run_id, f.use, t.tool_name, t.status, t.code, t.id as tool_call_id, coalesce(t.ended_at, t.started_at, t.requested_at) as at
from touched_files f
join tool_calls t on t.agent_id = f.agent_id and t.id = f.tool_call_id
where f.path = :path
order by 7 desc`,
  },
  {
    name: 'secrets',
    title: 'Where references to secrets stand',
    inputs: [],
    sql: `select timestamp, run_id, event_type, tool_call_id, stream, revision
from events
where payload like '%secret:ku\\_%' escape '\\'
order by id desc`,
  },
  {
    name: 'refused',
    title: 'Calls that were refused',
    inputs: [],
    sql: `select coalesce(t.ended_at, t.requested_at) as at, t.run_id, t.id as tool_call_id, t.tool_name, t.code, t.rule, a.decided_by, t.message
from tool_calls t
left join approvals a on a.agent_id = t.agent_id and a.tool_call_id = t.id and a.status = 'rejected'
where t.code in ('PERMISSION_DENIED', 'APPROVAL_REJECTED', 'APPROVAL_EXPIRED', 'SANDBOX_VIOLATION', 'SINGLE_STEP_VIOLATION',
  'COMPLETION_NOT_ALONE', 'DUPLICATE_FAILED_ACTION', 'DEPTH_LIMIT', 'AGENT_LIMIT', 'BUDGET_EXCEEDED', 'SECRET_UNAVAILABLE')
order by 1 desc`,
  },
  {
    name: 'unknown',
    title: 'Calls whose outcome was unknown, and who decided',
    inputs: [],
    sql: `select timestamp, run_id, tool_call_id, event_type, agent_id as who, payload
from events
where event_type in ('tool_call_unknown', 'tool_call_resolved')
order by id desc`,
  },
  {
    name: 'recoveries',
    title: 'Recoveries: why, and what became of them',
    inputs: [],
    sql: `select timestamp, run_id, thread_id as agent_id, turn, ${member(d, 'phase')} as phase, ${member(d, 'reason')} as reason
from events
where event_type = 'recovery'
order by id desc`,
  },
  {
    name: 'routing',
    title: 'Why a run had its models',
    inputs: [RUN],
    sql: `select m.at, m.agent_id, m.turn, m.purpose, m.requested, m.resolved, m.policy, m.reason
from model_routes m
join agents a on a.id = m.agent_id
where a.run_id = :run
order by m.at, m.agent_id, m.revision`,
  },
  {
    name: 'cost',
    title: 'The dearest runs',
    inputs: [],
    sql: `select t.run_id, r.role, r.status, r.created_at, t.agents, t.total_input_tokens, t.total_output_tokens, t.total_nano_dollars
from agent_lineage_totals t
join runs r on r.id = t.id
order by t.total_nano_dollars desc`,
  },
  {
    name: 'ungoverned',
    title: 'Runs of other agents, of which our policy saw nothing',
    inputs: [],
    sql: `select created_at, run_id, id as agent_id, backend, status, code
from agents
where ungoverned = 1
order by created_at desc`,
  },
  {
    name: 'documents',
    title: 'Requests to change documents, and their answers',
    inputs: [],
    sql: `select at, document_id, caller, run_id, tool_call_id, verdict, status, code, reason
from envelopes
order by at desc`,
  },
  {
    name: 'claimed',
    title: 'Artifacts that were claimed and are not there',
    inputs: [],
    sql: `select created_at, run_id, agent_id, path, title, tool_call_id
from artifacts
where claimed = 1
order by created_at desc`,
  },
  {
    name: 'erased',
    title: 'What was erased, by whom and why',
    inputs: [],
    sql: `select at, stream, revision, by, code, reason
from erasures
order by at desc`,
  },
]

/** A text as an SQL literal, valid in both databases. */
const literal = (text: string): string => `'${text.replaceAll('\0', '').replaceAll("'", "''")}'`

/** The SQL of a question with values for its inputs. An input without a value stays a placeholder. */
export const filled = (
  { sql, inputs }: Pick<SavedQuestion, 'sql' | 'inputs'>,
  values: Readonly<Record<string, string>>,
): string =>
  inputs.reduce((text, { name }) => {
    const value = values[name]
    return value === undefined || value === '' ? text : text.replaceAll(`:${name}`, () => literal(value))
  }, sql)
