import { spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { PLANTED, type Planted } from './planted-bugs.ts'

// npm run test:planted [word…]: plants each bug of the table into a copy of the sources, and prints when the simulation
// finds it. `STORIES=1` prints the shrunk histories too.

const root = resolve(import.meta.dirname, '../..')
const LIMIT_S = 60

interface Found {
  readonly steps: number
  readonly seconds: number
  readonly histories: number
  readonly found: {
    seed: number
    rule: string
    what: string
    shrunkSteps: number
    unusual: number
    story: string
  } | null
}

/** The changed sources. Throws unless each text occurs once. */
function changedBy({ edits }: Planted): { path: string; text: string }[] {
  const texts = new Map<string, string>()
  for (const { file, from, to } of edits) {
    const path = join(root, file)
    const before = texts.get(path) ?? readFileSync(path, 'utf8')
    if (before.split(from).length !== 2) throw new Error(`${file} must contain this text once: ${from}`)
    texts.set(
      path,
      before.replace(from, () => to),
    )
  }
  return [...texts].map(([path, text]) => ({ path, text }))
}

async function find(bug: Planted): Promise<Found> {
  const file = join(tmpdir(), `keepup-planted-${process.pid}.json`)
  writeFileSync(file, JSON.stringify(changedBy(bug)))
  try {
    const args = [
      '--no-warnings',
      'test/simulation/main.ts',
      '--seed',
      '1',
      '--seconds',
      String(LIMIT_S),
      '--shrink',
      '6',
      '--changed',
      file,
    ]
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    await new Promise((done) => child.on('close', done))
    return JSON.parse(output) as Found
  } finally {
    rmSync(file, { force: true })
  }
}

const words = process.argv.slice(2)
const wanted = PLANTED.filter(({ bug }) => words.every((word) => bug.includes(word)))
let missed = 0
console.log('| bug | broken rule | found after | shrunk to |\n|---|---|---|---|')
for (const bug of wanted) {
  const { steps, seconds, found } = await find(bug)
  if (found === null) missed++
  const after = `${steps.toLocaleString('en')} steps, ${seconds.toFixed(1)} s`
  const shrunk = found === null ? '' : `${found.shrunkSteps} steps, ${found.unusual} unusual choices`
  console.log(`| ${bug.bug} | ${found?.rule ?? 'NOT FOUND'} | ${after} | ${shrunk} |`)
  if (found !== null && process.env.STORIES !== undefined) console.log(`\nseed ${found.seed}\n${found.story}\n`)
}
if (missed > 0) process.exitCode = 1
console.log(`\n${wanted.length - missed} of ${wanted.length} bugs were found`)
