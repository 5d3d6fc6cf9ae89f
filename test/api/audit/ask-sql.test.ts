// @module-tag git
import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { filled, questionsIn, withoutInputs } from '../../../api/operations/ask/questions.ts'
import type { QuestionAnswer, QuestionInputs } from '../../../api/operations/ask/schemas.ts'
import { csvOf, ndjsonOf } from '../../../api/operations/sql/formats.ts'
import type { SqlAnswer } from '../../../api/operations/sql/schemas.ts'
import { openSql } from '../../../api/process/embedded/open-sql.ts'
import { onlyReading, question } from '../../../api/process/embedded/sql/statement.ts'
import { inProcess } from '../support/cli.ts'
import { bodyOf, cursorOf, eventsIn, openWorld } from '../support/http.ts'

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

describe('questions', () => {
  const QUESTIONS = questionsIn('sqlite')
  const answerTo = async (name: string, inputs: QuestionInputs = {}) =>
    bodyOf<QuestionAnswer>(await ask('GET', `/v1/ask/${name}?${new URLSearchParams(inputs as Record<string, string>)}`))
  const cells = async (name: string, inputs: QuestionInputs = {}) => {
    const { columns, rows } = await answerTo(name, inputs)
    return rows.map((row) => Object.fromEntries(row.map((cell, i) => [columns[i], cell])))
  }

  it('are all answered, with and without their inputs, and name the events that are their evidence', async () => {
    const values = { run, path: "it's.txt", person: 'user:ada', from: '2026-01-01', to: '2099-01-01', dollars: '0.5' }
    for (const { name, sql, inputs } of QUESTIONS) {
      if (sql === null) continue
      const given = Object.fromEntries(inputs.map((input) => [input.name, values[input.name as keyof typeof values]]))
      const required = inputs.flatMap((input) => (input.required ? [[input.name, '0']] : []))
      for (const query of [given, Object.fromEntries(required)])
        expect(await answerTo(name, query), name).toMatchObject({ question: name, columns: expect.any(Array) })
      for (const { event } of await cells(name, Object.fromEntries(required))) {
        if (event === undefined) continue
        const [stream, revision] = String(event).split('@')
        const page = await ask('GET', `/v1/streams/${stream}/events?from=${revision}&limit=1`)
        expect((await bodyOf<{ events: unknown[] }>(page)).events, `${name}: ${event}`).toHaveLength(1)
      }
    }
  })

  it('find what happened, in one run or in all', async () => {
    expect(await cells('files_written')).toMatchObject([{ run_id: run, path: 'hello.txt', after: expect.any(String) }])
    expect(await cells('files_written', { path: "it's.txt" })).toEqual([])
    expect(await cells('files_written', { run: 'other' })).toEqual([])
    expect(await cells('standing_approvals', { run })).toMatchObject([{ tools: expect.stringContaining('write_file') }])
    expect(JSON.stringify(await cells('people'))).toContain('agent_started')
    expect(await cells('people', { to: '2020-01-01' })).toEqual([])
    expect(JSON.stringify(await cells('routing', { run }))).toContain(world.model)
    expect(await cells('left_machine', { run })).toMatchObject([{ kind: 'model' }, { kind: 'model' }])
    expect(await cells('unfinished')).toEqual([])
    expect(await cells('dear_runs', { dollars: '1000' })).toEqual([])
    expect((await cells('cost_by_role')).map(({ runs }) => runs)).toEqual([1])
  })

  it('refuse inputs that they do not have, and say which one they need', async () => {
    const refused = async (path: string) => {
      const answer = await ask('GET', `/v1/ask/${path}`)
      return [answer.status, (await bodyOf<{ detail: string }>(answer)).detail] as const
    }
    expect(await refused('approvals?path=a')).toEqual([400, expect.stringContaining('path')])
    expect(await refused('dear_runs')).toEqual([400, expect.stringContaining('dollars')])
    expect(await refused('dear_runs?dollars=many')).toEqual([400, expect.stringContaining('dollars')])
    expect(await refused('tampering')).toEqual([400, expect.stringContaining('verify')])
    expect(await refused('nothing')).toEqual([404, expect.stringContaining('/v1/ask')])
  })

  it('take a value as a value, whatever it contains', () => {
    const inputs = ['run', 'path'].map((name) => ({ ...{ label: '', example: '', required: false }, name }) as never)
    const sql = "select ':run', :run, :path, x::text where a = 'it''s :path'"
    const text = filled({ sql, inputs }, { run: "' or 1=1 :path --" })
    expect(text).toBe("select ':run', ''' or 1=1 :path --', :path, x::text where a = 'it''s :path'")
    expect(withoutInputs({ sql: text, inputs })).toBe(text.replace(', :path, x', ', null, x'))
  })

  it('are asked on the command line by their names', async () => {
    const cli = (...args: string[]) => inProcess(['--data', world.data, '-o', 'json', 'ask', ...args])
    const listed = await cli()
    expect(JSON.parse(listed.out), listed.err).toHaveLength(QUESTIONS.length)
    const { out } = await cli('files_written', run.slice(0, -2), '--path', 'hello.txt')
    expect(JSON.parse(out)[0].run_id).toBe(run)
    expect((await cli('files_written', '--csv')).out).toMatch(/^at,run_id,path,.*\r\n/)
    expect((await cli('dear_runs')).err).toContain('--dollars')
    expect((await cli('approvals', '--path', 'a')).err).toContain('--path')
    expect((await cli('aprovals')).err).toMatch(/did you mean .{1,2}approvals/)
    expect(await cli('tampering')).toMatchObject({ code: 0, err: expect.stringContaining('verify') })
    expect((await cli('model_input', run, '--turn', '1')).out).toContain('write it')
    expect((await cli('tampering', '--csv')).code).toBe(2)
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
  await once(child, 'message')
  child.send({ data: world.data, text: 'select 1', rows: 1, ms: 60_000 })
  await once(child, 'message')
  child.send({ data: world.data, text, rows: 1, ms: 500 })
  child.disconnect()
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
})

describe('the tables as of a position', () => {
  const ends = 'select id, status from runs order by id'
  const place = async (id: string, revision: number) =>
    cursorOf(world.services, (await eventsIn(world.services, id))[revision]!)

  it('are those of then, also the events and the checkpoints, and the difference names rows by their key', async () => {
    const [at, head] = [await place(run, 3), (await rows('select 1')).position!]
    expect(await rows(ends, { at })).toMatchObject({ position: at, rows: [[run, 'active']] })
    const { rows: then } = await rows('select count(*), max(id) from events', { at })
    expect((await rows('select count(*), max(id) from events')).rows).not.toEqual(then)
    expect(then[0]![1]).toBe(Number(at.split('~')[1]))
    expect((await rows('select count(*) from checkpoints', { at })).rows).toEqual([[0]])
    const found = await rows(ends, { at, to: head })
    expect(found).toMatchObject({ position: head, columns: ['change', 'id', 'status'], more: false })
    expect(found.rows).toEqual([
      ['before', run, 'active'],
      ['after', run, 'completed'],
    ])
    const tool = "select agent_id, id as call from tool_calls where tool_name = 'write_file'"
    const calls = await rows(tool, { at, to: head, key: ['agent_id', 'call'], limit: 1 })
    expect([calls.rows.map(([change]) => change), calls.more]).toEqual([['added'], false])
  })

  it('are refused beyond the end, in another log, for a wrong key, and for writes', async () => {
    const at = await place(run, 3)
    const [id, position, hash] = at.split('~') as [string, string, string]
    expect(await refusal(ends, { at: `${id}~${Number(position) + 9_000}~${hash}` })).toMatchObject({
      status: 409,
      code: 'CURSOR_MISMATCH',
    })
    expect(await refusal(ends, { at: 'yesterday' })).toMatchObject({ status: 400, code: 'CURSOR_INVALID' })
    expect(await refusal('delete from runs', { at })).toMatchObject({ code: 'SQL_REFUSED' })
    expect(await refusal('select name from log.streams', { at })).toMatchObject({ code: 'SQL_REFUSED' })
    expect(await refusal(ends, { at, to: at, key: ['no'] })).toMatchObject({ code: 'SQL_REFUSED' })
    for (const more of [{ to: at }, { at, key: ['id'] }, { erased: true }])
      expect((await refusal(ends, more)).status).toBe(400)
  })

  it('lack what was erased later, which has to be accepted', async () => {
    const id = await driven('a private matter')
    const at = await place(id, 2)
    const inputs = `select preview from inputs where agent_id = '${id}'`
    expect((await rows(inputs, { at })).rows).toEqual([['a private matter']])
    await ask('POST', `/v1/runs/${id}/erase`, { body: { revision: 1, reason: 'private' } })
    const refused = await refusal(inputs, { at })
    expect(refused).toMatchObject({ status: 410, code: 'BODY_ERASED', detail: expect.stringContaining('--erased') })
    const accepted = await rows(inputs, { at, erased: true })
    expect(JSON.stringify(accepted.rows)).not.toContain('private')
  })

  it('answer on the command line', async () => {
    const at = await place(run, 3)
    const sql = ['--data', world.data, '-o', 'json', 'sql', '--at', at]
    const { code, out } = await inProcess([...sql, 'select id, status from runs'])
    expect([code, JSON.parse(out)]).toEqual([0, [{ id: run, status: 'active' }]])
    const differs = await inProcess([...sql, '--to', (await rows('select 1')).position!, '--key', 'id', ends])
    expect(JSON.parse(differs.out)).toContainEqual({ change: 'after', id: run, status: 'completed' })
    const many = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 10001) select i from n'
    expect(await inProcess([...sql, many])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('10000 rows'),
    })
  })
})
