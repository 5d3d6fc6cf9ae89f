import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { found } from '../../support/postgres/postgres-server.ts'
import { inFreshProcess } from '../child.ts'
import { conditions } from '../conditions.ts'
import { SEED } from '../text.ts'
import type { Given, Cost as Printed, Work } from './contender.ts'
import { installPeers, versionsOfPeers } from './install.ts'
import { Databases } from './postgres.ts'
import { asTables, type Cost, inOrderOf } from './report.ts'

// keepup beside its peers: in each round every contender does the same work in a fresh process, in rotating order. A ratio
// within a round is comparable on a busy machine; absolute figures are not.

const ROOT = join(import.meta.dirname, '../../..')
const OURS = join(ROOT, 'dist/test/bench/peers')
const PEERS = join(import.meta.dirname, 'dist/peers/contenders')

interface Entry {
  readonly name: string
  readonly program: string
  /** Of Node, as its own start sets them. */
  readonly flags?: readonly string[]
  readonly server?: true
  readonly does: string
}

const ENTRIES: readonly Entry[] = [
  {
    name: 'keepup',
    program: join(OURS, 'keepup.js'),
    flags: ['--max-semi-space-size=8'],
    does: 'SQLite, 2 synced commits a turn of 7 events; hash chain, signed heads, digests, redaction, tables and snapshots; Node with --max-semi-space-size=8, as its command starts it',
  },
  {
    name: 'floor',
    program: join(OURS, 'floor.js'),
    does: 'node:sqlite, 2 synced commits a turn of 2 rows; no proof, no tables, no recovery: what a commit costs',
  },
  {
    name: 'emmett',
    program: join(PEERS, 'emmett.js'),
    does: 'SQLite, one connection, one append at a time, 2 synced commits a turn of 2 events; no proof, no tables',
  },
  {
    name: 'langgraph',
    program: join(PEERS, 'langgraph-default.js'),
    does: 'SQLite, checkpoints with deltas and its defaults: written beside the next step, commits not synced; no proof, no tables',
  },
  {
    name: 'langgraph-durable',
    program: join(PEERS, 'langgraph-durable.js'),
    does: 'the same, but each step waits for its checkpoint, and each commit is synced, 4 a turn',
  },
  {
    name: 'dbos',
    program: join(PEERS, 'dbos.js'),
    server: true,
    does: 'PostgreSQL, 2 synced commits a turn of 2 steps; rows of steps to query, no proof; figures without the server',
  },
]

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    turns: { type: 'string' },
    runs: { type: 'string' },
    only: { type: 'string', multiple: true },
    quick: { type: 'boolean', default: false },
    output: { type: 'string', short: 'o', default: 'table' },
    folder: { type: 'string', default: tmpdir() },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

function usage(problem: string): never {
  process.stderr.write(
    `${problem}\nnpm run bench:peers -- [--rounds N] [--turns N] [--runs N] [--only NAME]… [--quick] [-o table|json] [--folder DIR]\n` +
      `--turns: of one run alone. --runs: of 20 turns each, 32 at once. --only: ${ENTRIES.slice(1)
        .map(({ name }) => name)
        .join(', ')}; keepup always runs.\n` +
      '--folder: where files are written; its disk decides what an fsync costs.\n',
  )
  process.exit(2)
}

if (values.help) usage('Measures keepup beside its peers.')
if (values.output !== 'table' && values.output !== 'json') usage(`-o ${values.output}: expected table or json`)
const unknown = values.only?.find((name) => !ENTRIES.some((entry) => entry.name === name))
if (unknown !== undefined) usage(`--only ${unknown}: there is no such contender`)
const defaults = values.quick ? { rounds: '1', turns: '100', runs: '32' } : { rounds: '5', turns: '1000', runs: '100' }
const counts = [values.rounds, values.turns, values.runs].map((given, i) => Number(given ?? Object.values(defaults)[i]))
if (counts.some((count) => !Number.isSafeInteger(count) || count < 1))
  usage('--rounds, --turns and --runs are whole numbers from 1')
const [rounds, turns, runs] = counts as [number, number, number]

const WORKS: readonly (readonly [title: string, work: Work])[] = [
  [`one run of ${turns.toLocaleString('en-US')} turns`, { kind: 'lone', turns }],
  [`${runs} runs of 20 turns, 32 at once`, { kind: 'many', turns: 20, runs, atOnce: 32 }],
]

const wanted = ENTRIES.filter(
  ({ name }) => name === 'keepup' || values.only === undefined || values.only.includes(name),
)
const entries = wanted.filter(({ server }) => !server || found !== undefined)
for (const { name } of wanted.filter((entry) => !entries.includes(entry)))
  process.stderr.write(`${name} is left out: there is no PostgreSQL here; install it (apt-get install postgresql)\n`)

installPeers()
const folder = mkdtempSync(join(values.folder, 'keepup-peers-'))
const databases = entries.some(({ server }) => server) ? await Databases.start(values.folder) : null
try {
  const measured = WORKS.map(() => [] as Map<string, Cost>[])
  for (let round = 0; round < rounds; round++)
    for (const [i, [title, work]] of WORKS.entries()) {
      const costs = new Map<string, Cost>()
      for (const entry of inOrderOf(entries, round)) costs.set(entry.name, await cost(entry, work))
      measured[i]!.push(costs)
      process.stderr.write(`round ${round + 1} of ${rounds}: ${title}\n`)
    }
  const program = 'keepup compiled'
  if (values.output === 'json') {
    const samples = WORKS.map(([title], i) => ({
      title,
      rounds: measured[i]!.map((costs) => Object.fromEntries(costs)),
    }))
    const about = { conditions: conditions(program).trim(), seed: SEED, versions: versions() }
    process.stdout.write(`${JSON.stringify({ ...about, contenders: facts(measured[0]!), samples }, null, 2)}\n`)
  } else {
    const tables = WORKS.map(([title], i) =>
      asTables(
        title,
        measured[i]!,
        entries.map(({ name }) => name),
      ),
    )
    process.stdout.write(`${tables.join('\n')}\n`)
    for (const { name, durability, does } of facts(measured[0]!))
      process.stdout.write(`  ${name}: ${does} (its store says: ${durability})\n`)
    const named = Object.entries(versions()).map(([name, version]) => `${name} ${version}`)
    process.stdout.write(`\n  ${named.join(', ')}; seed ${SEED}\n  ${conditions(program)}`)
  }
} finally {
  await databases?.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function cost({ program, flags = [], server }: Entry, work: Work): Promise<Cost> {
  const files = join(folder, 'files')
  mkdirSync(files)
  const database = server ? await databases!.create() : null
  try {
    const given: Given = { folder: files, work, ...(database && { postgres: database }) }
    const printed = await inFreshProcess<Printed>(pathToFileURL(program), [JSON.stringify(given)], flags)
    return { ...printed, storedBytes: printed.storedBytes ?? bytesIn(files) }
  } finally {
    await database?.drop()
    rmSync(files, { recursive: true, force: true })
  }
}

function bytesIn(files: string): number {
  const entries = readdirSync(files, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return entries.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

function facts([first]: readonly ReadonlyMap<string, Cost>[]) {
  return entries.map(({ name, does }) => ({ name, does, durability: first!.get(name)!.durability }))
}

function versions(): Record<string, string> {
  const server = databases === null ? {} : { PostgreSQL: databases.version }
  return { ...versionsOfPeers(), 'SQLite of Node': process.versions.sqlite!, ...server }
}
