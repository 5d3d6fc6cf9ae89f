// @module-tag git
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'

// Each example of the docs runs as a user runs it, with its scripted model.

const EXAMPLES = join(import.meta.dirname, '../../../api/docs/examples')
const names = readdirSync(EXAMPLES, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : []))
/** Those that this file runs. */
const RUN_HERE = [
  'coding-agent',
  'dashboard-duckdb',
  'document-with-person',
  'external-agent',
  'langgraph',
  'projection-postgres',
  'team-with-budget',
]

function folder() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-example-')))
  onTestFinished(() => rmSync(root, { recursive: true }))
  return root
}

async function run(name: string, { cwd = folder(), args = [] as string[], input = '', env = {} } = {}) {
  const child = spawn(process.execPath, [join(EXAMPLES, name, 'main.ts'), ...args], {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: cwd,
      XDG_CONFIG_HOME: cwd,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.end(input)
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  expect([child.exitCode, err]).toEqual([0, ''])
  return out
}

test('each example has a page and a short program, and the list links to the page', () => {
  const list = readFileSync(join(EXAMPLES, 'README.md'), 'utf8')
  expect(names).toEqual(expect.arrayContaining(RUN_HERE))
  for (const name of names) {
    expect(list).toContain(`(${name}/README.md)`)
    expect(readFileSync(join(EXAMPLES, name, 'README.md'), 'utf8').split('\n').length, name).toBeLessThanOrEqual(60)
    const program = readFileSync(join(EXAMPLES, name, 'main.ts'), 'utf8')
    expect(program.split('\n').length, name).toBeLessThanOrEqual(81)
  }
})

test('coding-agent writes after a yes, and leaves the file after a no', async () => {
  for (const answer of ['y', 'n']) {
    const cwd = folder()
    const out = await run('coding-agent', { cwd, input: `${answer}\n` })
    expect(out).toContain('write_file: approve? (y/n)')
    expect(out).toMatch(answer === 'y' ? /completed: greet.js uses its parameter/ : /completed: Nothing was changed/)
    expect(out).toContain('proof: holds')
    expect(readFileSync(join(cwd, 'workspace/greet.js'), 'utf8').includes('nam\n')).toBe(answer === 'n')
  }
})

test('team-with-budget prints the share and the use of each agent', async () => {
  const out = await run('team-with-budget')
  expect(out).toMatch(/^Architect completed: \d+ tokens of 200000$/m)
  expect(out.match(/^ {2}Researcher completed: \d+ tokens of \d+$/gm)).toHaveLength(2)
  expect(out).toMatch(/^done: 6 model calls; 3 logs, proof holds$/m)
})

test('document-with-person names the author of each part', async () => {
  const out = await run('document-with-person')
  expect(out).toContain('ada: 200')
  expect(out).toContain('the agent: "Money goes back the way it came."')
  expect(out).toMatch(/^ada: ".*receipt/m)
  expect(out).toContain('proof: holds')
})

test('external-agent records what another program reports', async () => {
  const out = await run('external-agent')
  expect(out).toContain('TextOutput I was asked: Look around')
  expect(out).toContain('completed, ungoverned: true, proof holds')
})

test('langgraph goes on in another process, and charges once', async () => {
  const cwd = folder()
  expect(await run('langgraph', { cwd })).toMatch(/^charging\nwaits at: ask \(\d+ events, proof holds\)\n$/)
  expect(await run('langgraph', { cwd, args: ['yes'] })).toMatch(/^shipping 42\ndone \(\d+ events, proof holds\)\n$/)
})

test('dashboard-duckdb answers from the exported files', async () => {
  const cwd = folder()
  const out = await run('dashboard-duckdb', { cwd })
  expect(out).toMatch(/^\d+ events, 1 runs$/m)
  expect(out).toMatch(/^runs_per_day \[\{"day":"[\d-]+","status":"completed","runs":"1"\}\]$/m)
  expect(existsSync(join(cwd, 'exported/tables/runs.parquet'))).toBe(true)
})

describeWithSharedPostgres('on PostgreSQL', (server) => {
  test('projection-postgres writes each end once', async () => {
    const cwd = folder()
    const env = { DATABASE_URL: server().url }
    expect((await run('projection-postgres', { cwd, env })).match(/how: 'completion'/g)).toHaveLength(1)
    expect((await run('projection-postgres', { cwd, env })).match(/how: 'completion'/g)).toHaveLength(2)
  })
})
