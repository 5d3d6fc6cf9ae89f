// @module-tag git
// @module-tag python3

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Block, blocksIn, pages } from '../../support/examples/blocks.ts'
import { type Command, openShell } from '../../support/examples/shell.ts'
import { CLAUDE } from '../../support/external/samples.ts'
import { cliFolder, idIn, inProcess, type Running } from '../support/cli.ts'

// Every shell block of the docs runs in bash, page by page. `keepup` is the real command line; RUN, CALL and the like are ids of
// runs of a scripted model. A block, or a command in it, that cannot run here is in a table below with the reason.

const root = join(import.meta.dirname, '../../..')
const folder = cliFolder()
const home = folder.root
/** The page whose commands change rights: it has a data folder of its own. */
const ACCESS = 'api/docs/access.md'
const project = join(home, 'my-project')
/** The folder of a person who has a pack and no keepup: the page about proofs. */
const stranger = join(home, 'stranger')
const data = join(home, '.local/share/keepup')
let serving: Running | null = null
let shell: Awaited<ReturnType<typeof openShell>>
let port = ''
/** Takes every request of an exporter. */
const collector = {
  url: '',
  server: createServer((request, response) => void request.resume().on('end', () => response.end('{}'))),
}
let finished = ''
let other = ''
/** The run of the folder with keys. */
let accessed = ''
let call = ''
let memory = ''
/** Two positions of the log. */
let cursors: string[] = []

/** The blocks that do not run, by a text in them, with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'npm install -g @keepup/runtime': 'needs the published package; test/package plays the demo from the tarball',
  'docker compose up --wait': 'needs EventStoreDB and PostgreSQL; test/api/servers has the same commands',
  'keepup auditors --login': 'needs PostgreSQL; test/api/servers/login-of-auditors.test.ts',
  'export OTEL_EXPORTER_OTLP_ENDPOINT': 'variables of another program; the exporter runs in program-examples.test.ts',
}

/** The commands that end otherwise than with 0 here, by their beginning. */
const ENDS: Readonly<Record<string, number>> = {
  'keepup run --role coder': 8, // it asks before the first write
  'keepup run --model scripted:script.json': 8, // the script of its page writes a file
  'keepup doctor': 1, // the model has no key
  'keepup agents check codex': 1, // nobody has logged in
  'keepup fork': 8, // approvals of the source do not count
  'keepup resume': 8,
}
/** Commands that last until they are interrupted, or open a window: with these arguments they end. */
const LASTING: readonly [RegExp, (args: readonly string[]) => readonly string[]][] = [
  [/^(serve|worker|mcp|acp)\b/, (args) => [...args, '--help']],
  [/^open$/, (args) => [...args, '--no-browser']],
  [/^consume (?!.*--once)/, (args) => [...args, '--once']],
]

const played = (code: number, err = '') => ({ code, out: '', err })
const scripts = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> })
  .scripts

/** `npm`, `npx` and `docker` do not run: their scripts and files must exist. */
async function play(command: Command) {
  const { name, args } = command
  const line = args.join(' ')
  if (name === 'keepup') {
    const [, change] = LASTING.find(([pattern]) => pattern.test(line)) ?? []
    if (args[0] === 'docs' && args[1] === 'edit') await writeEnvelope(command)
    return change === undefined ? command : { ...command, args: change(args) }
  }
  if (name === 'npm' && args[0] === 'run')
    return scripts[args[1]!] === undefined ? played(1, `no script ${args[1]}`) : played(0)
  if (name === 'npm') return played(['ci', 'test'].includes(line) ? 0 : 1, `npm ${line}`)
  if (name === 'npx') return played(/^vitest run test\/laws$/.test(line) ? 0 : 1, `npx ${line}`)
  return played(1, `${name} ${line}`)
}

/** The envelope of the page, for the present revision of the document. */
async function writeEnvelope({ args, cwd, env }: Command): Promise<void> {
  const [block] = blocksIn('json').filter(({ text }) => text.includes('doc_frontier'))
  const { out } = await inProcess(['docs', 'show', args[2]!, '-o', 'json'], env, { cwd })
  const { frontier, blocks } = JSON.parse(out) as { frontier: string; blocks: { id: string; hash: string }[] }
  const [, { id, hash } = { id: '', hash: '' }] = blocks
  writeFileSync(
    join(cwd, args[3]!),
    block!.text.replace('4711:12', frontier).replaceAll('b1', id).replace('a269…', hash),
  )
}

const write = (path: string, content: string) => ({ tool: 'write_file', arguments: { path, content } })
const MODEL = {
  script: 1,
  turns: [{ calls: [{ tool: 'complete_task', arguments: { summary: 'done' } }] }],
  parts: [
    {
      name: 'long',
      when: { firstInputContains: 'long story' },
      turns: [
        ...Array.from({ length: 10 }, (_, n) => ({
          calls: [write('src/a.ts', `${Array.from({ length: n + 3 }, (_, line) => `// ${n} ${line}`).join('\n')}\n`)],
        })),
        { calls: [{ tool: 'remember', arguments: { text: 'the server port is 8080' } }] },
        { calls: [{ tool: 'complete_task', arguments: { summary: 'done' } }] },
      ],
    },
    {
      name: 'test',
      when: { firstInputContains: 'failing test' },
      turns: [
        {
          when: { offered: 'advance_phase', notOffered: 'write_file' },
          calls: [{ tool: 'advance_phase', arguments: { summary: 'understood' } }],
        },
        {
          when: { offered: 'advance_phase', notOffered: 'write_file' },
          calls: [{ tool: 'advance_phase', arguments: { summary: 'planned' } }],
        },
        { calls: [write('src/b.ts', 'export const b = 1\n')] },
        { calls: [{ tool: 'complete_task', arguments: { summary: 'done' } }] },
      ],
    },
  ],
}

/** Runs a command that prepares the folder. Throws with its message if it fails. */
async function prepared(...args: string[]): Promise<string> {
  return preparedIn(data, ...args)
}

async function preparedIn(data: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await folder.start(args, { data, env: environment() }).ended
  if (code !== 0 && code !== 8) throw new Error(`${args.join(' ')}: ${code} ${err}`)
  return out + err
}

const environment = (page = ''): Record<string, string> => ({
  ...folder.env,
  HOME: home,
  USER: 'ada',
  PATH: `${join(home, 'bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
  KEEPUP_DATA: page === ACCESS ? join(home, 'access') : data,
  token: existsSync(join(data, 'token')) ? readFileSync(join(data, 'token'), 'utf8').trim() : '',
  KEEPUP_MODEL: `scripted:${join(home, 'model.json')}`,
})

beforeAll(async () => {
  for (const path of ['my-project/src', 'stranger', 'clone', 'bin', '.local/share'])
    mkdirSync(join(home, path), { recursive: true })
  writeFileSync(join(home, 'model.json'), JSON.stringify(MODEL))
  writeFileSync(join(project, 'plan.md'), '# Plan\n\nFirst draft.\n')
  const [script] = blocksIn('json').filter(({ page }) => page === 'api/docs/scripted-models.md')
  writeFileSync(join(project, 'script.json'), script!.text)
  writeFileSync(join(project, 'greet.js'), "export const greet = (name) => 'Hello ' + nam\n")
  const claude = join(home, 'bin/claude')
  writeFileSync(
    claude,
    `#!/bin/sh\n[ "$1" = --version ] && echo '2.1.330 (Claude Code)' && exit\ncat <<'END'\n${CLAUDE.lines.join('\n')}\nEND\n`,
  )
  chmodSync(claude, 0o755)
  copyFileSync(claude, join(home, 'bin/codex'))
  const long = ['--approve', 'write_file', '--tools', 'write_file,read_file', '--max-turns', '50', '-w']
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const roles = { coder: { kind: 'claude_code', model: 'claude-sonnet-5-5' } }
  writeFileSync(join(data, 'keepup.json'), JSON.stringify({ agents: { roles } }), { mode: 0o600 })
  finished = idIn(await prepared('run', 'a long story', ...long, project))
  other = idIn(await prepared('run', 'another long story', ...long, folder.workspace()))
  accessed = idIn(await preparedIn(join(home, 'access'), 'run', 'finish', '--no-workspace'))
  serving = folder.start(['serve', '--port', '0'], { data, env: environment() })
  await serving.said('http://')
  const events = await prepared('events', finished, '-o', 'jsonl')
  cursors = [...events.matchAll(/"cursor":"([^"]+)"/g)].map(([, cursor]) => cursor!).filter((_, n) => n % 20 === 10)
  memory = /"id": ?"([^"]+)"/.exec(await prepared('memory', '-o', 'json'))![1]!
  call = /"toolCallId":"([^"]+)"/.exec(events)![1]!
  port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(serving.err())![1]!
  await prepared('pack', finished, '--to', join(stranger, 'review.pack'))
  const policy = execFileSync('tar', ['-xOf', join(stranger, 'review.pack'), 'policy.txt'])
  writeFileSync(join(home, 'policy.txt'), policy)
  copyFileSync(join(root, 'api/docs/verify.py'), join(stranger, 'verify.py'))
  await once(collector.server.listen(0, '127.0.0.1'), 'listening')
  collector.url = `http://127.0.0.1:${(collector.server.address() as AddressInfo).port}`
  shell = await openShell(home, play)
}, 120_000)
afterAll(async () => {
  shell?.close()
  collector.server.close()
  serving?.process.kill('SIGTERM')
  await serving?.ended
  folder.clean()
})

/** A call that waits for an approval, with the hash of its question. */
async function waiting(): Promise<{ run: string; call: string; hash: string }> {
  const run = idIn(await prepared('run', 'a failing test', '-w', folder.workspace(), '--tools', 'write_file'))
  const rows = JSON.parse(await prepared('approvals', '-o', 'json')) as { runId: string; toolCallId: string }[]
  const { toolCallId } = rows.find(({ runId }) => runId === run)!
  const shown = await prepared('approve', toolCallId, '--dry-run', '-o', 'json')
  return { run, call: toolCallId, hash: /"questionHash": ?"(\w+)"/.exec(shown)![1]! }
}

/** The lines with an id of a waiting call in place of CALL; each line that decides gets another call. */
async function withCalls(text: string): Promise<string> {
  const lines: string[] = []
  let next: Awaited<ReturnType<typeof waiting>> | null = null
  for (const line of text.split('\n')) {
    if (!/^keepup (approve CALL|resume RUN|cancel RUN)/.test(line)) lines.push(line)
    else {
      next ??= await waiting()
      lines.push(line.replace('CALL', next.call).replace('HASH', next.hash).replace('RUN', next.run))
      if (!line.split(' #')[0]!.includes('--dry-run')) next = null
    }
  }
  return lines.join('\n')
}

/** The ids in place of the placeholders of a page. */
async function filled(block: Block): Promise<string> {
  const text = await withCalls(block.text)
  return text
    .replace(/\bCALL\b|\b06dw\.t3\.c0\b/g, call)
    .replace('agent-06dw…@28', `agent-${finished}@28`)
    .replace(/http:\/\/127\.0\.0\.1:4318|https:\/\/cloud\.langfuse\.com/g, collector.url)
    .replace(/\bID\b/g, memory)
    .replaceAll(
      'rrknmz8r',
      '$(keepup access keys -o json | node -p "[JSON.parse(fs.readFileSync(0))].flatMap((all) => all.rows ?? all).find(({ principal }) => principal === \'ben\').id")',
    )
    .replaceAll(
      '4mzk81qe',
      '$(keepup hold list -o json | node -p "[JSON.parse(fs.readFileSync(0))].flatMap((all) => all.rows ?? all)[0].hold")',
    )
    .replace(/\bSPAN\b/g, '$(keepup docs show $id -o json | node -p "JSON.parse(fs.readFileSync(0)).blocks[0].id")')
    .replace(
      /\bSUGGESTION\b/g,
      '$(keepup docs comments $id -o json | node -p "JSON.parse(fs.readFileSync(0)).find(({ kind }) => kind === \'suggestion\').id")',
    )
    .replace(/--at CURSOR/g, `--at ${cursors[0]}`)
    .replace(/--to CURSOR/g, `--to ${cursors[1]}`)
    .replace(/\b06h2\b/g, finished)
    .replaceAll(':7433', `:${port}`)
    .replaceAll('/home/me/my-project', project)
    .replace(/\bRUN RUN\b/g, `${finished} ${other}`)
    .replace(/\bRUN\b/g, block.page === ACCESS ? accessed : finished)
}

/** Its commands belong together and kill a process; test/package runs them with the packed program. */
const TUTORIAL = 'api/docs/tutorial.md'
const shells = blocksIn('sh', 'bash').filter(({ page }) => page !== TUTORIAL)
test('there are shell examples, and each exception is used', () => {
  expect(shells.length).toBeGreaterThan(25)
  const unused = Object.keys(NOT_RUN).filter((text) => !shells.some((block) => block.text.includes(text)))
  expect(unused).toEqual([])
})

test.each(pages().filter((page) => shells.some((block) => block.page === page)))(
  'the shell blocks of %s run',
  async (page) => {
    const faults: string[] = []
    for (const block of shells.filter((one) => one.page === page)) {
      if (Object.keys(NOT_RUN).some((text) => block.text.includes(text))) continue
      const { failures } = await shell.run(
        await filled(block),
        page === 'api/docs/proof.md' ? stranger : project,
        environment(page),
      )
      for (const { code, command, err } of failures)
        if (!Object.entries(ENDS).some(([start, ends]) => command.startsWith(start) && ends === code))
          faults.push(`${page}:${block.line}: ${command}: ${code}\n${err}`)
    }
    expect(faults.join('\n')).toBe('')
  },
)
