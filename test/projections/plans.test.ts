import { join } from 'node:path'
import { CompiledQuery, createQueryId, type Kysely, type RootOperationNode, sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listApprovals } from '../../projections/agent/queries/approvals.ts'
import { listDoubts, listQuestions } from '../../projections/agent/queries/asks.ts'
import { selectRuns } from '../../projections/agent/queries/runs.ts'
import { eventStarts } from '../../projections/engine/queries/events.ts'
import type { Database } from '../../projections/engine/schema/database.ts'
import { openSqliteStore } from '../../projections/engine/store/sqlite.ts'
import { tempFolder } from '../support/folders.ts'
import { describeWithSharedPostgres } from '../support/postgres/postgres.ts'
import { postgresKit } from '../support/projections/postgres-kit.ts'

// Questions that the API asks find their rows by an index, however many others there are.

const MANY = 4000
const rows = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${MANY})`
const FILL = [
  `insert into runs (id, status, started, created_at, code) ${rows}
    select 'r' || i, case when i % 2 = 0 then 'failed' else 'completed' end, i, '', case i when 30 then 'CANCELLED' when 2 then 'X' else 'MODEL_FAILED' end from n`,
  `insert into agents (id, run_id, status, depth, created_at, completed_at, turn, step, revision, updated_at, epoch)
    ${rows} select 'r' || i, 'r' || i, '', 0, '', case when i % 1000 > 0 then '' end, 1, 1, 1, '', 1 from n`,
  `insert into tool_calls (agent_id, id, run_id, turn, status, ran, erased)
    ${rows} select 'r' || i, 'r' || i || '.t1.c0', 'r' || i, 1, case when i % 1000 > 0 then 'succeeded' else 'unknown' end, 1, 0 from n`,
  `insert into approvals (agent_id, tool_call_id, run_id, turn, status, requested_position)
    ${rows} select 'r' || i, 'r' || i || '.t1.c0', 'r' || i, 1, 'approved', i from n`,
  `insert into decision_rows (agent_id, tool_call_id, run_id, decision, revision, first_revision, position)
    ${rows} select 'r' || i, 'r' || i || '.t1.c0', 'r' || i, 'allowed', 1, 1, i from n`,
  `insert into approval_supports (agent_id, revision, run_id, tool_call_id, "by", claimed, at)
    ${rows} select 'r' || i, 1, 'r' || i, 'r' || i || '.t1.c0', 'approver:r' || i, 1, '' from n`,
  `insert into checkpoint_rows (agent_id, revision, step, run_id, turn, position, timestamp)
    ${rows} select 'r1', i * 5, i, 'r1', 1, i * 50, '' from n`,
  `insert into inputs (agent_id, revision, run_id, "by", at, erased) ${rows} select 'r' || i, 1, 'r' || i, 'user:u' || i, '', 0 from n`,
  `insert into touched_files (agent_id, path, tool_call_id, use, run_id)
    ${rows} select 'r' || i, 'src/' || i || '.ts', 'r' || i || '.t1.c0', 'read', 'r' || i from n`,
  `insert into model_calls (agent_id, turn, attempt, run_id, status, nano_dollars, erased)
    ${rows} select 'r' || i, 1, 1, 'r' || i, 'answered', i, 0 from n`,
  "update runs set role = 'Coder', model = 'm', created_by = 'user:u' || id",
  `insert into standing_approvals (agent_id, revision, run_id, "by", claimed, at)
    ${rows} select 'r' || i, 1, 'r' || i, 'approver:r' || i, 1, '' from n`,
  "update approvals set decided_by = 'approver:' || run_id",
  `insert into children (agent_id, child_id, run_id, revision, delegated_at, cancelled, unreached)
    ${rows} select 'p' || i, 'r' || i, 'p' || i, 1, '', 0, case when i % 1000 > 0 then 0 else 1 end from n`,
  'analyze',
]

/** The database's own plans for the queries of a question. */
async function plansOf(db: Kysely<Database>, explain: string, question: (db: Kysely<Database>) => Promise<unknown>) {
  const asked: RootOperationNode[] = []
  const watched = db.withPlugin({
    transformQuery({ node }) {
      asked.push(node)
      return node
    },
    transformResult: async ({ result }) => result,
  })
  await question(watched)
  const plans: string[] = []
  for (const node of asked) {
    const { sql: text, parameters } = db.getExecutor().compileQuery(node, createQueryId())
    const { rows } = await db.executeQuery<Record<string, unknown>>(
      CompiledQuery.raw(`${explain} ${text}`, [...parameters]),
    )
    plans.push(rows.map((row) => String(row['QUERY PLAN'] ?? row.detail)).join('\n'))
  }
  return plans
}

const QUESTIONS: readonly (readonly [string, string, (db: Kysely<Database>) => Promise<unknown>])[] = [
  ['an approval by its call', 'idx_approvals_tool_call_id', (db) => listApprovals(db, { toolCallId: 'r99.t1.c0' })],
  ['all open questions', 'idx_agents_partial', (db) => listQuestions(db)],
  ['all doubts', 'idx_tool_calls_partial', (db) => listDoubts(db)],
  ['runs that were cancelled', 'idx_runs_partial', (db) => selectRuns(db, { status: 'failed', error: 'CANCELLED' })],
  ['runs of a role', 'idx_runs_role_started', (db) => selectRuns(db, { role: 'Rare' })],
  ['runs of a model', 'idx_runs_model_started', (db) => selectRuns(db, { model: 'rare' })],
  ['runs that touched a file', 'idx_touched_files_path', (db) => selectRuns(db, { file: 'src/rare.ts' })],
  ['runs of a person, whom they were started by', 'idx_runs_created_by', (db) => selectRuns(db, { person: 'bob' })],
  ['and who has said something', 'idx_inputs_by', (db) => selectRuns(db, { person: 'bob' })],
  ['and who has decided', 'idx_approvals_decided_by', (db) => selectRuns(db, { person: 'bob' })],
  ['what runs have cost', 'idx_model_calls_run_id_nano_dollars', (db) => selectRuns(db, { person: 'bob', over: 1 })],
  [
    'where the first page of a long run begins',
    'idx_checkpoint_rows_agent_id_position',
    (db) => eventStarts(db, 'r1', 49),
  ],
]

function plans(name: string, explain: string, open: () => Promise<Kysely<Database>>): void {
  describe(`the plan in ${name}`, () => {
    it('finds each by its index, and reads no table from end to end', async () => {
      const db = await open()
      for (const text of FILL) await sql.raw(text).execute(db)
      for (const [what, index, question] of QUESTIONS) {
        const [plan] = await plansOf(db, explain, question)
        expect(plan, what).toContain(index)
        // `up` holds the rows that a recursive query has found, `w` those of the view `waiting`.
        expect(plan, what).not.toMatch(/Seq Scan|^SCAN (?!(?:up|w)$)(?!.*USING (?:COVERING )?INDEX)/m)
      }
    })
  })
}

plans('SQLite', 'explain query plan', async () => {
  const store = await openSqliteStore(join(tempFolder(), 't.db'))
  onTestFinished(() => store.close())
  return store.db
})

describeWithSharedPostgres('plans', (server) => {
  const kit = postgresKit(server)
  plans('PostgreSQL', 'explain', async () => (await kit.fresh()).db)
})
