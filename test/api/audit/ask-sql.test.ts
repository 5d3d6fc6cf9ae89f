// @module-tag git
import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { csvOf, ndjsonOf } from '../../../api/operations/sql/formats.ts'
import { filled, savedQuestions } from '../../../api/operations/sql/saved-questions.ts'
import type { SavedQuestions, SqlAnswer } from '../../../api/operations/sql/schemas.ts'
import { openSql } from '../../../api/process/embedded/open-sql.ts'
import { onlyReading, question } from '../../../api/process/embedded/sql/statement.ts'
import { inProcess } from '../support/cli.ts'
import { bodyOf, openWorld } from '../support/http.ts'

const world = await openWorld()
const { ask, driven } = world
afterAll(() => world.close())

let run = ''
beforeAll(async () => {
  run = await driven('write it', { workspace: world.workspace(), approve: ['write_file'] })
})

const post = (sql: string, more: object = {}) => ask('POST', '/v1/sql', { body: { sql, ...more } })
const rows = async (sql: string, more: object = {}) => bodyOf<SqlAnswer>(await post(sql, more))
const refusal = async (sql: string, more: object = {}) => {
  const answer = await post(sql, more)
  return { status: answer.status, ...(await bodyOf<{ code: string; detail: string }>(answer)) }
}

describe('POST /v1/sql', () => {
  it('answers one SELECT over tables and log, with the position that it shows', async () => {
    const found = await rows(
      `select id, status, cast(9007199254740993 as integer) as big, x'00ff' as bytes, null as n from runs`,
    )
    expect(found).toMatchObject({ columns: ['id', 'status', 'big', 'bytes', 'n'], more: false })
    expect(found.rows).toEqual([[run, 'completed', '9007199254740993', '00ff', null]])
    expect(found.position).toContain('~')
    const events = await rows("select count(*) as n from events where payload like '%write it%'")
    expect(events.rows[0]![0]).toBeGreaterThan(0)
  })

  it('gives no more rows than are asked for, and says that there are others', async () => {
    const found = await rows(
      'with recursive n(i) as (select 1 union all select i + 1 from n where i < 50) select i from n',
      {
        limit: 7,
      },
    )
    expect([found.rows.length, found.more]).toEqual([7, true])
    const bytes = await rows('select hex(zeroblob(3000000)) as x from (select 1 union all select 2 union all select 3)')
    expect([bytes.rows.length, bytes.more]).toEqual([1, true])
  })

  const WRITES = [
    'delete from runs',
    "attach database '/tmp/x.db' as x",
    'pragma writable_schema = 1',
    'create temp table t(a)',
    'select 1; delete from runs',
    'vacuum into "/tmp/y.db"',
    'begin',
    'explain select 1',
    'with x as (select 1) delete from runs',
  ]
  it.each(WRITES)('refuses %s', async (sql) => {
    expect(await refusal(sql)).toMatchObject({
      status: 422,
      code: 'SQL_REFUSED',
      detail: expect.stringContaining('SELECT'),
    })
  })

  const REACHES = [
    "select * from pragma_table_info('runs')",
    "select load_extension('/tmp/x.so')",
    'select * from log.events',
    'select name from log.streams',
    "select fts3_tokenizer('simple')",
  ]
  it.each(REACHES)('does not let a question reach out of the tables: %s', async (sql) => {
    expect(await refusal(sql)).toMatchObject({ status: 422, code: 'SQL_REFUSED' })
  })

  it('ends a question at its limit, and answers the next one', async () => {
    const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n'
    expect(await refusal(endless, { timeoutMs: 300 })).toMatchObject({ status: 422, code: 'SQL_LIMIT' })
    expect((await rows('select 1 as a')).rows).toEqual([[1]])
  })

  it('bounds what a question takes', async () => {
    expect((await refusal('select hex(zeroblob(60000000))')).code).toMatch(/^SQL_(?:LIMIT|FAILED)$/)
    expect((await refusal('select 1', { limit: 10_001 })).status).toBe(400)
    expect((await refusal('select 1', { timeoutMs: 30_001 })).status).toBe(400)
    expect((await refusal('select no_such(1)')).detail).toContain('no_such')
  })

  it('writes CSV and NDJSON where they are asked for', async () => {
    const as = async (accept: string) => {
      const answer = await ask('POST', '/v1/sql', { body: { sql: 'select id, role from runs' }, headers: { accept } })
      return [answer.headers.get('content-type')?.split(';')[0], answer.headers.get('keepup-more'), await answer.text()]
    }
    expect(await as('text/csv')).toEqual(['text/csv', 'false', `id,role\r\n${run},\r\n`])
    expect(await as('application/x-ndjson')).toEqual(['application/x-ndjson', 'false', `{"id":"${run}","role":null}\n`])
  })
})

it('CSV quotes what has to be quoted, and makes no formula of a text', () => {
  const table = {
    columns: ['a', 'b,c'],
    rows: [
      ['x"y', '=1+1'],
      ['line\nbreak', -2],
      [null, '-rm'],
    ],
  }
  expect(csvOf(table)).toBe('a,"b,c"\r\n"x""y","\'=1+1"\r\n"line\nbreak",-2\r\n,"\'-rm"\r\n')
  expect(ndjsonOf(table)).toBe('{"a":"x\\"y","b,c":"=1+1"}\n{"a":"line\\nbreak","b,c":-2}\n{"a":null,"b,c":"-rm"}\n')
})

it('a connection for questions reads the tables and the views over the log, and does nothing else', () => {
  const { db, close } = openSql(world.data)
  try {
    onlyReading(db)
    expect(question(db, "select count(*) as n from events where payload like '%write it%'").all()).toHaveLength(1)
    for (const text of [
      'select proof from log.events',
      'select * from log.streams',
      "select * from pragma_table_info('runs')",
    ])
      expect(() => question(db, text).all(), text).toThrow(/prohibited|not authorized/)
    for (const text of [
      'pragma writable_schema = 1',
      "attach ':memory:' as x",
      'create temp table t(a)',
      'drop view events',
    ])
      expect(() => db.exec(text), text).toThrow('not authorized')
  } finally {
    close()
  }
})

describe('saved questions', () => {
  it('are all asked without a fault, and find what happened', async () => {
    const { dialect, questions } = await bodyOf<SavedQuestions>(await ask('GET', '/v1/sql/questions'))
    expect(dialect).toBe('sqlite')
    const found = new Map<string, SqlAnswer>()
    for (const question of questions) {
      const values = { run, path: "it's.txt" }
      found.set(question.name, await rows(filled(question, values)))
    }
    for (const [name, answer] of found) expect([name, answer.columns?.length]).toEqual([name, expect.any(Number)])
    const cells = (name: string) => JSON.stringify(found.get(name)!.rows)
    expect(cells('standing_approvals')).toContain('write_file')
    expect(cells('files')).toContain('hello.txt')
    expect(cells('people')).toContain('user:')
    expect(cells('routing')).toContain(world.model)
    expect(found.get('file')!.rows).toEqual([])
    const file = savedQuestions('sqlite').find(({ name }) => name === 'file')!
    expect((await rows(filled(file, { path: 'hello.txt' }))).rows[0]![0]).toBe(run)
  })

  it('are asked on the command line by their names', async () => {
    const cli = (...args: string[]) => inProcess(['--data', world.data, '-o', 'json', 'sql', ...args])
    expect(JSON.parse((await cli('--list')).out)).toHaveLength(savedQuestions('sqlite').length)
    const { out } = await cli('--saved', 'file', '--set', 'path=hello.txt')
    expect(JSON.parse(out)[0].run_id).toBe(run)
    expect((await cli('--saved', 'file')).err).toContain('--set path=VALUE')
    expect((await cli('--saved', 'nothing')).err).toContain('sql --list')
    expect((await cli('select 1', '--saved', 'file')).code).toBe(2)
  })
})

describe('numbers and streams', () => {
  it('are told over HTTP and on the command line', async () => {
    const found = await bodyOf<{ tools: { name: string; calls: number }[] }>(await ask('GET', `/v1/numbers?run=${run}`))
    expect(found.tools.map(({ name, calls }) => [name, calls])).toContainEqual(['write_file', 1])
    expect((await ask('GET', '/v1/numbers?run=no-run')).status).toBe(404)
    expect((await ask('GET', '/v1/numbers?since=whenever')).status).toBe(400)
    const { out } = await inProcess(['--data', world.data, 'numbers'])
    expect(out).toMatch(/tool +write_file +1 +0/)
  })

  it('any stream is read by its name', async () => {
    type Page = { streams: { stream: string }[]; next: string | null }
    const { streams } = await bodyOf<Page>(await ask('GET', '/v1/streams?prefix=agent-'))
    expect(streams.map(({ stream }) => stream)).toContain(`agent-${run}`)
    const page = await bodyOf<{ events: { revision: number }[]; next: number | null }>(
      await ask('GET', `/v1/streams/agent-${run}/events?from=2&limit=3&brief=true`),
    )
    expect(page.events.map(({ revision }) => revision)).toEqual([2, 3, 4])
    expect(page.next).toBe(5)
    const meta = await bodyOf<{ events: { type: string }[] }>(await ask('GET', '/v1/streams/log-meta/events'))
    expect(meta.events.length).toBeGreaterThan(0)
    expect((await ask('GET', '/v1/streams/agent-none/events')).status).toBe(404)
    expect(await bodyOf(await ask('GET', '/v1/projections'))).toMatchObject({ behind: expect.any(Number) })
  })
})

it('is closed by a program that has nothing else to do, which then goes on', async () => {
  const auditor = new URL('../../../api/process/embedded/sql/process-auditor.ts', import.meta.url)
  const text = `const { ProcessAuditor } = await import(${JSON.stringify(auditor.href)})
    const auditor = new ProcessAuditor('/nowhere')
    await auditor.ask('select 1', { rows: 1, ms: 60_000 }).catch(() => undefined)
    await auditor.close()
    console.log('went on')`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', text])
  expect(stdout).toBe('went on\n')
})

it('ends its process where the parent is gone, although SQLite blocks it', async () => {
  const child = fork(new URL('../../../api/process/embedded/sql/child.ts', import.meta.url), [], {
    serialization: 'advanced',
    execArgv: [],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const text = 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n'
  child.send({ data: world.data, text: 'select 1', rows: 1, ms: 60_000 })
  await once(child, 'message')
  child.send({ data: world.data, text, rows: 1, ms: 500 })
  child.disconnect()
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
})
