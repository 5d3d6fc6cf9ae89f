import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { inFreshProcess } from '../child.ts'
import { conditions } from '../conditions.ts'
import { median } from '../measure.ts'

// This program beside an earlier commit of it: both do the same work in turns, each time in a fresh process. A ratio of a
// pair is comparable on a busy machine; its absolute figures are not.

export type Work = 'lone' | 'many'
interface Cost {
  readonly cpuMs: number
  readonly ms: number
  readonly mb: number
}

const MEASURES = { cpuMs: 'CPU ms a turn', ms: 'wall ms a turn', mb: 'resident MB' } as const

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    turns: { type: 'string', default: '1000' },
    runs: { type: 'string', default: '100' },
    pairs: { type: 'string', default: '5' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

function usage(problem: string): never {
  process.stderr.write(
    `${problem}\nnpm run bench:pairs -- COMMIT [--turns N] [--runs N] [--pairs N]\n` +
      'COMMIT: the commit to compare with. --turns: of one run alone. --runs: of 20 turns each, 32 at once.\n',
  )
  process.exit(2)
}

const counts = [values.turns, values.runs, values.pairs].map(Number)
if (values.help) usage('Compares the cost of a durable turn with that of an earlier commit.')
if (positionals.length !== 1) usage('expected one commit')
if (counts.some((count) => !Number.isSafeInteger(count) || count < 1))
  usage('--turns, --runs and --pairs are whole numbers from 1')
const [turns, runs, pairs] = counts as [number, number, number]

const root = join(import.meta.dirname, '../../..')
const folder = mkdtempSync(join(tmpdir(), 'keepup-pairs-'))

/** The program of a commit, with the packages of this one. */
function programOf(commit: string): string {
  const program = join(folder, 'program')
  mkdirSync(program)
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 1024 * 1024 * 1024 })
  execFileSync('tar', ['-x', '-C', program], { input: archive })
  symlinkSync(join(root, 'node_modules'), join(program, 'node_modules'))
  return program
}

try {
  const earlier = programOf(positionals[0]!)
  const child = new URL('./child.ts', import.meta.url)
  for (const [work, count] of [['lone', turns] as const, ['many', runs] as const]) {
    const cost = (program: string) => inFreshProcess<Cost>(child, [program, folder, work, `${count}`])
    const rounds: { readonly before: Cost; readonly after: Cost }[] = []
    for (let round = 0; round < pairs; round++) {
      // The order alternates, so that a drift of the machine's speed favours neither.
      if (round % 2 === 0) rounds.push({ before: await cost(earlier), after: await cost(root) })
      else {
        const after = await cost(root)
        rounds.push({ before: await cost(earlier), after })
      }
    }
    process.stdout.write(`${work === 'lone' ? `one run of ${turns} turns` : `${runs} runs of 20 turns, 32 at once`}\n`)
    for (const [measure, name] of Object.entries(MEASURES) as [keyof Cost, string][]) {
      const ratios = rounds.map(({ before, after }) => after[measure] / before[measure])
      const [before, after] = [rounds.map((one) => one.before[measure]), rounds.map((one) => one.after[measure])]
      const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
      process.stdout.write(
        `  ${name.padEnd(15)} ${median(before).toFixed(2)} → ${median(after).toFixed(2)}, ratio ${median(ratios).toFixed(2)} (${range})\n`,
      )
    }
  }
  process.stderr.write(conditions())
} finally {
  rmSync(folder, { recursive: true, force: true })
}
