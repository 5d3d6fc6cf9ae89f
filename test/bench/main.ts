import { parseArgs } from 'node:util'
import { Bench, type Case } from './bench.ts'
import { accessCase } from './cases/access.ts'
import { agents } from './cases/agents.ts'
import { children } from './cases/children.ts'
import { consumersCase } from './cases/consumers.ts'
import { contexts } from './cases/contexts.ts'
import { decisions } from './cases/decisions.ts'
import { envelope } from './cases/envelope.ts'
import { exportsCase } from './cases/exports.ts'
import { fold } from './cases/fold.ts'
import { growing } from './cases/growth.ts'
import { many } from './cases/many.ts'
import { memory } from './cases/memory.ts'
import { packs } from './cases/packs.ts'
import { page } from './cases/page.ts'
import { proof } from './cases/proof.ts'
import { resident } from './cases/resident.ts'
import { servers } from './cases/servers.ts'
import { size } from './cases/size.ts'
import { starts } from './cases/starts.ts'
import { state } from './cases/state.ts'
import { stretches } from './cases/stretches.ts'
import { tables } from './cases/tables.ts'
import { telemetry } from './cases/telemetry.ts'
import { tree } from './cases/tree.ts'
import { turns } from './cases/turns.ts'
import { verify } from './cases/verify.ts'
import { watchers } from './cases/watchers.ts'
import { conditions } from './conditions.ts'
import { isMet } from './figure.ts'
import { asJson, asTable } from './table.ts'

// Every goal of DESIGN for the embedded default, beside its floor measured in the same run.

const CASES: readonly Case[] = [
  turns,
  growing,
  size,
  starts,
  state,
  fold,
  proof,
  accessCase,
  packs,
  verify,
  tables,
  telemetry,
  tree,
  children,
  many,
  resident,
  consumersCase,
  exportsCase,
  contexts,
  decisions,
  agents,
  stretches,
  envelope,
  watchers,
  page,
  servers,
  memory,
]
const NAMES = CASES.map((one) => one.name).join(', ')

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    quick: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
    output: { type: 'string', short: 'o', default: 'table' },
    folder: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

function usage(problem: string): never {
  process.stderr.write(
    `${problem}\nnpm run bench -- [--only NAME]… [--quick] [--growth] [-o table|json] [--folder DIR]\n`,
  )
  process.stderr.write(
    `NAME is one of: ${NAMES}. DIR: where files are written; its disk decides what an fsync costs.\n` +
      '--growth: only what grows faster than the run; exit code 1 where something does. Times alone fail nothing.\n',
  )
  process.exit(2)
}

if (values.help) usage('Measures the goals of the embedded default.')
if (values.output !== 'table' && values.output !== 'json') usage(`-o ${values.output}: expected table or json`)
const unknown = values.only?.find((name) => !CASES.some((one) => one.name === name))
if (unknown !== undefined) usage(`--only ${unknown}: there is no such case`)

const only = values.growth ? [growing.name] : values.only
const bench = new Bench(values)
try {
  const figures = []
  for (const one of CASES) {
    if (only !== undefined && !only.includes(one.name)) continue
    const from = performance.now()
    figures.push(...(await one.run(bench)))
    process.stderr.write(`${one.name}: ${((performance.now() - from) / 1000).toFixed(1)} s\n`)
  }
  process.stdout.write(values.output === 'json' ? asJson(figures) : asTable(figures))
  process.stderr.write(conditions())
  if (values.growth && figures.some((one) => isMet(one) === false)) process.exitCode = 1
} finally {
  bench.clear()
}
