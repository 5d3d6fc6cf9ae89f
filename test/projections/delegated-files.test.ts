import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { selectRuns } from '../../projections/agent/queries/runs.ts'
import { openSqliteStore } from '../../projections/engine/store/sqlite.ts'
import { tempFolder } from '../support/folders.ts'

test('a run is found by a file that its delegated agent reports with an absolute path', async () => {
  const store = await openSqliteStore(join(tempFolder(), 't.db'))
  onTestFinished(() => store.close())
  const { db } = store
  const agent = (id: string, backend: string) =>
    `insert into agents (id, run_id, status, depth, created_at, turn, step, revision, updated_at, epoch, backend)
      values ('${id}', 'r1', '', 0, '', 1, 1, 1, '', 1, ${backend})`
  for (const text of [
    "insert into runs (id, status, started, created_at, workspace) values ('r1', 'completed', 1, '', '/srv')",
    agent('r1', 'null'),
    agent('e1', "'claude_code'"),
    "insert into touched_files (agent_id, path, tool_call_id, use, run_id) values ('e1', '/srv/a.ts', 't1', 'write', 'r1')",
  ])
    await sql.raw(text).execute(db)
  const found = async (file: string) => (await selectRuns(db, { file })).runs.map(({ id }) => id)
  expect(await Promise.all(['a.ts', '/srv/a.ts', 'srv/a.ts', '/a.ts'].map(found))).toEqual([['r1'], ['r1'], [], []])
})
