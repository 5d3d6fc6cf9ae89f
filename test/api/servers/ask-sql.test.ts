import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { filled, questionsIn, withoutInputs } from '../../../api/operations/ask/questions.ts'
import { pastOnServers } from '../../../api/process/servers/past-on-servers.ts'
import { PostgresAuditor } from '../../../api/process/servers/sql-auditor.ts'
import { runFigures } from '../../../projections/index.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { numbers, rebuilding } from '../../support/projections/rebuilding.ts'
import { tell } from '../../support/projections/tell.ts'

const EVIDENT = [
  ...['approvals', 'artifacts', 'dear_runs', 'decisions', 'denied', 'erased', 'failed_runs', 'files_written', 'forks'],
  ...['left_machine', 'people', 'policy', 'recoveries', 'routing', 'standing_approvals', 'unfinished', 'unknown'],
]

const LIMITS = { rows: 100, ms: 5_000 }
const NO_PAST = { ask: () => Promise.reject(new Error('no past')), close: async () => undefined }

describeWithSharedPostgres('questions in SQL on PostgreSQL', (server) => {
  const { open, schemas } = rebuilding(server)

  /** Tables of a story, and a login that may only read their views. */
  async function asked() {
    const { log } = tell(numbers)
    const namespace = schemas.fresh()
    const { home, close } = await open(log, namespace)
    const { role } = await home.grantAuditors()
    const login = `${namespace}_asker`
    const password = await home.makeLogin(role, login)
    const auditPostgres = server().url.replace('//keepup@', `//${login}:${password}@`)
    const past = pastOnServers({ log, blobs: log.blobs, holder: namespace })
    const auditor = new PostgresAuditor({ auditPostgres, namespace }, past)
    onTestFinished(async () => {
      await auditor.close()
      await close()
    })
    return { auditor, namespace, login, home, log }
  }

  it('answers every question with and without its inputs, and counts rows exactly', async () => {
    const { auditor, home, log } = await asked()
    const { data } = await home.read((db) => runFigures(db, [60]))
    expect(data.runs.every(({ count }) => typeof count === 'number')).toBe(true)
    expect(data.modelCalls.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(0)
    const values = { run: 'r', path: "it's", person: 'user:ada', from: '2026-01-01', to: '2027-01-01', dollars: '0.5' }
    const evidence = new Set<string>()
    for (const { name, sql, inputs } of questionsIn('postgres')) {
      if (sql === null) continue
      for (const given of [values, { dollars: '0' }]) {
        const found = await auditor.ask(withoutInputs({ sql: filled({ sql, inputs }, given), inputs }), LIMITS)
        expect([name, found.columns.length > 3]).toEqual([name, true])
        const at = found.columns.indexOf('event')
        if (at === -1) continue
        for (const row of found.rows) {
          const [stream, revision] = String(row[at]).split('@')
          const read = log.read(stream!, { from: Number(revision), limit: 1 })
          expect((await Array.fromAsync(read)).flat(), `${name}: ${row[at]}`).toHaveLength(1)
          evidence.add(name)
        }
      }
    }
    // Questions whose answers have rows about this story.
    expect([...evidence].toSorted()).toEqual(expect.arrayContaining(EVIDENT))
    const events = await auditor.ask('select event_type, count(*) as n from events group by 1 order by 2 desc', LIMITS)
    expect(events.rows[0]![1]).toBeGreaterThan(1)
    const cells = await auditor.ask(
      "select 9007199254740993 as big, true as t, null as n, 1.5 as x, '{}'::json as j",
      LIMITS,
    )
    expect(cells.rows).toEqual([['9007199254740993', 1, null, 1.5, '{}']])
    const cut = await auditor.ask('select generate_series(1, 1000) as n;', { rows: 5, ms: 1_000 })
    expect([cut.rows.length, cut.more]).toEqual([5, true])
  })

  it('refuses what writes, what reaches beyond the views, and what takes too long', async () => {
    const { auditor, namespace } = await asked()
    const code = (text: string, limits = LIMITS) =>
      auditor.ask(text, limits).then(
        () => 'answered',
        (error) => error.code,
      )
    const texts = [
      'delete from runs',
      'select 1; delete from runs',
      'with x as (delete from runs returning 1) select * from x',
      'select 1) as a; drop schema public; --',
      `select * from ${namespace}_control.live`,
      `select * from ${namespace}_1.runs`,
      'select * from pg_authid',
      "select pg_read_file('/etc/passwd')",
      'select 1 into temp x',
    ]
    for (const text of texts) expect([text, await code(text)]).toEqual([text, 'SQL_REFUSED'])
    expect(await code("select set_config('role', 'postgres', false)")).toMatch(/^SQL_/)
    const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n'
    expect(await code(endless, { rows: 1, ms: 200 })).toBe('SQL_LIMIT')
    expect(await code("select set_config('statement_timeout', '0', true), pg_sleep(60)", { rows: 1, ms: 200 })).toBe(
      'SQL_LIMIT',
    )
    expect(await code("select repeat('x', 200000000)")).toBe('SQL_LIMIT')
    expect(await code('select 1')).toBe('answered')
  })

  it('answers about a past position in the SQL of SQLite, and keeps no file after its end', async () => {
    const { auditor, log, namespace } = await asked()
    const folder = join(tmpdir(), `keepup-past-${namespace}`)
    for (const place of [3, Math.floor(log.events.length / 2)]) {
      const last = log.events[place]!
      // The log of the story erases bodies later.
      const state = { cursor: log.cursor(last), erased: true }
      const events = await auditor.ask('select count(*), max(id) from events', LIMITS, state)
      expect(events.rows).toEqual([[place + 1, last.position]])
      const begun = log.events.slice(0, place + 1).filter(({ header }) => header.type === 'agent_started').length
      expect((await auditor.ask('select count(*) from agents', LIMITS, state)).rows).toEqual([[begun]])
    }
    expect(existsSync(folder)).toBe(true)
    await auditor.close()
    expect(existsSync(folder)).toBe(false)
  })

  it('refuses a login that may do more, and says how to make one', async () => {
    const { namespace } = await asked()
    const auditor = new PostgresAuditor({ auditPostgres: server().url, namespace }, NO_PAST)
    onTestFinished(() => auditor.close())
    await expect(auditor.ask('select 1', LIMITS)).rejects.toMatchObject({
      code: 'SQL_UNAVAILABLE',
      message: expect.stringMatching(/may do more.*keepup auditors/s),
    })
    const none = new PostgresAuditor({ auditPostgres: null, namespace }, NO_PAST)
    await expect(none.ask('select 1', LIMITS)).rejects.toThrow('KEEPUP_AUDIT_POSTGRES')
  })
})
