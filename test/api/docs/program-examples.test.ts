// @module-tag git
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { API } from 'typescript/unstable/sync'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Block, blocksIn, blocksOf, pages } from '../../support/examples/blocks.ts'
import { CLAUDE } from '../../support/external/samples.ts'
import { PROGRAM } from '../../support/programs/program.ts'

// Every TypeScript and JavaScript program of the docs is type-checked against the entry points of the package as it stands there, and
// runs. One process runs them all, in one folder with a data folder of a scripted model.

const root = join(import.meta.dirname, '../../..')
// Inside the project, so that `@keepup/runtime` is this package.
const folder = mkdtempSync(join(root, '.doc-programs-'))
const work = join(folder, 'work')
const project = join(folder, 'project')
const bin = join(folder, 'bin')
const data = join(work, 'data')
const served = join(folder, 'served')

/** Programs that ask a provider of models, by a text in them, with the example that runs in their place. */
const NOT_RUN: readonly [string, string][] = [
  ["from 'ai'", 'api/docs/examples/ai-sdk/main.ts'],
  ["from '@anthropic-ai/claude-agent-sdk'", 'api/docs/examples/claude-agent-sdk/main.ts'],
]
const isRun = ({ text }: Block): boolean => !NOT_RUN.some(([part]) => text.includes(part))
const programs = blocksIn('ts', 'js').filter(isRun)
const nameOf = ({ page, line, language }: Block) =>
  `${page.replace(/^.*\//, '').replace('.md', '')}-${line}.${language}`

/** What a program prints. Programs that are not here print nothing, or what other tests hold. */
const PRINTS: readonly [string, (out: string) => void][] = [
  ['keepup.documents.send', (out) => expect(out).toBe('200\n')],
  [
    'testProjection(',
    (out) => expect(out).toMatch(/^\[{"run":"r1","how":"completion"},{"run":"r2","how":"error"}\]\n[1-9]\n$/),
  ],
  ['HttpAgent(', (out) => expect(out).toBe('done\n')],
  ['openTables(', (out) => expect(out).toBe('true\n')],
  ['keepup.runAgent', (out) => expect(out).toContain('All done.')],
  ['dice:roll', (out) => expect(out).toMatch(/^\[\]\n[\s\S]*completion/)],
  ['end?.state.machine', (out) => expect(out).toMatch(/true\n[\s\S]*DONE/)],
  ['fc.assert', (out) => expect(out).toBe('true\n')],
  ["home: 'memory'", (out) => expect(out).toBe('done\n')],
  ['keepup.checkPack', (out) => expect(out).toMatch(/^\d+ events hold\n$/)],
  ['keepup.exportEvents', (out) => expect(out).toMatch(/^\d+ \[ 'events\//)],
  ['@duckdb/node-api', (out) => expect(out).toContain("status: 'completed'")],
]

const CALLS = [{ tool: 'complete_task', arguments: { summary: 'done' } }]
const MODEL = {
  script: 1,
  turns: [{ calls: CALLS }],
  parts: [
    {
      name: 'dice',
      when: { firstInputContains: 'Roll a die' },
      turns: [{ calls: [{ tool: 'dice__roll', arguments: { sides: 6 } }] }, { calls: CALLS }],
    },
  ],
}

const env = {
  ...process.env,
  HOME: folder,
  PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`,
  KEEPUP_MODEL: `scripted:${join(folder, 'model.json')}`,
}
let serving: ChildProcess | null = null
let results: readonly { path: string; out: string; error: string | null }[] = []

const cli = (...args: string[]) => promisify(execFile)(process.execPath, [PROGRAM, ...args], { cwd: work, env })

beforeAll(async () => {
  for (const one of [work, project, bin]) mkdirSync(one)
  writeFileSync(join(folder, 'model.json'), JSON.stringify(MODEL))
  const claude = `#!/bin/sh\n[ "$1" = --version ] && echo '2.1.330 (Claude Code)' && exit\ncat <<'END'\n${CLAUDE.lines.join('\n')}\nEND\n`
  writeFileSync(join(bin, 'claude'), claude)
  chmodSync(join(bin, 'claude'), 0o755)
  serving = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', '--data', served], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let port = ''
  for await (const line of createInterface({ input: serving.stderr! })) {
    port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1] ?? ''
    if (port !== '') break
  }
  const url = `http://127.0.0.1:${port}`
  const token = readFileSync(join(served, 'token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const plan = JSON.stringify({ title: 'Plan', format: 'markdown', content: 'First draft.', by: 'ann' })
  const made = await fetch(`${url}/v1/documents`, { method: 'POST', headers, body: plan })
  const { documentId } = (await made.json()) as { documentId: string }
  await cli('run', 'go', '--no-workspace', '--data', data)
  const { stdout: runs } = await cli('runs', 'list', '--data', data, '-o', 'json')
  const [{ runId }] = JSON.parse(runs) as [{ runId: string }]
  writeFileSync(join(work, 'run.ndjson'), (await cli('export', runId, '--data', data)).stdout)

  // The export comes before the questions about it.
  const order = (block: Block) => (block.text.includes('exportTables') ? 0 : 1)
  const files = programs
    .toSorted((a, b) => order(a) - order(b))
    .map((block) => {
      const path = join(folder, `run-${nameOf(block)}`)
      const text = block.text
        .replaceAll('/home/ann/project', project)
        .replaceAll(/http:\/\/127\.0\.0\.1:7433|\$\{process\.env\.KEEPUP_URL\}/g, url)
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program
        .replaceAll('${process.env.KEEPUP_KEY}', token)
      writeFileSync(path, text)
      return path
    })
  writeFileSync(join(folder, 'programs.json'), JSON.stringify(files))
  writeFileSync(join(folder, 'globals.ts'), `Object.assign(globalThis, ${JSON.stringify({ id: documentId, token })})\n`)
  const runner = join(import.meta.dirname, '../../support/examples/run-programs.ts')
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', join(folder, 'globals.ts'), runner, join(folder, 'programs.json')],
    { cwd: work, env },
  )
  results = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}, 120_000)
afterAll(async () => {
  if (serving !== null && serving.exitCode === null) {
    serving.kill('SIGTERM')
    await once(serving, 'close')
  }
  rmSync(folder, { recursive: true, force: true })
})

test('every program type-checks against the entry points', async () => {
  // `export {}` makes each program a module: their names stay apart.
  const files = blocksIn('ts').map((block) => {
    const file = `check-${nameOf(block)}`
    writeFileSync(join(folder, file), `${block.text}\nexport {}\n`)
    return file
  })
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
    compilerOptions: object
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  // Only the programs are checked, because checking the whole project takes ten times as long.
  const api = new API()
  onTestFinished(() => api.close())
  const [project] = api.updateSnapshot({ openProjects: [join(folder, 'tsconfig.json')] }).getProjects()
  const { program, rootFiles } = project!
  expect(rootFiles.length).toBe(files.length)
  const faults = rootFiles.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ])
  expect(faults.map(({ fileName, text }) => `${fileName}: ${text}`)).toEqual([])
})

test.each(programs.map((block) => [nameOf(block), block] as const))('%s runs', (name, { text }) => {
  const result = results.find(({ path }) => path.endsWith(`run-${name}`))
  expect(result?.error).toBe(null)
  for (const [part, holds] of PRINTS) if (text.includes(part)) holds(result!.out)
})

test.each(NOT_RUN)('a program with %s asks a provider; %s runs in its place', (part, example) => {
  expect(blocksIn('ts', 'js').filter(({ text }) => text.includes(part))).toHaveLength(1)
  expect(existsSync(join(root, example))).toBe(true)
})

test('every SQL block runs in DuckDB over the export', async () => {
  const db = await (await DuckDBInstance.create(':memory:')).connect()
  await db.run(`set file_search_path = '${work}'`)
  const blocks = blocksIn('sql')
  expect(blocks.length).toBeGreaterThan(0)
  for (const { text } of blocks) await db.run(text)
})

test('every block has a language whose examples a test runs', () => {
  // `text`: an output or a layout, not a program.
  const known = ['ts', 'js', 'sql', 'sh', 'json', 'text']
  const others = pages()
    .flatMap(blocksOf)
    .filter(({ language }) => !known.includes(language))
  expect(others.map(({ page, line, language }) => `${page}:${line} ${language}`)).toEqual([])
})
