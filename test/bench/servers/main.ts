import { parseArgs } from 'node:util'
import { found } from '../../support/postgres/postgres-server.ts'
import { asJson, asTable } from '../table.ts'
import { manyStreams, oneStream } from './appends.ts'
import { openPlace } from './place.ts'
import { recall } from './recall.ts'
import { cpuOfTables, longLog } from './tables.ts'

// The goals of DESIGN for EventStoreDB and PostgreSQL, beside the bare client's figures in the same run.

const CASES = { 'one-stream': oneStream, 'many-streams': manyStreams, tables: cpuOfTables, recall, long: longLog }

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    quick: { type: 'boolean', default: false },
    events: { type: 'string' },
    output: { type: 'string', short: 'o', default: 'table' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

function usage(problem: string): never {
  process.stderr.write(
    `${problem}\nnpm run bench:servers -- [--only NAME]… [--quick] [--events N] [-o table|json]\n` +
      `NAME is one of: ${Object.keys(CASES).join(', ')}. --events: of a long log, which is made and followed; several minutes a million.\n` +
      'EVENTSTORE_URL: a real server; without it a stand-in of the tests answers, which shows what client and adapter cost.\n',
  )
  process.exit(2)
}

const events = values.events === undefined ? null : Number(values.events)
if (values.help) usage('Measures the goals of the servers.')
if (values.output !== 'table' && values.output !== 'json') usage(`-o ${values.output}: expected table or json`)
if (events !== null && !(Number.isSafeInteger(events) && events >= 50_000))
  usage(`--events ${values.events}: expected a whole number from 50000`)
const unknown = values.only?.find((name) => !(name in CASES))
if (unknown !== undefined) usage(`--only ${unknown}: there is no such case`)
if (found === undefined) usage('there is no PostgreSQL here; install it (apt-get install postgresql)')

process.stderr.write(process.env.EVENTSTORE_URL ? 'on a real server\n' : 'on a stand-in, not on a real server\n')
const place = await openPlace({ quick: values.quick, events })
try {
  const figures = []
  for (const [name, run] of Object.entries(CASES)) {
    if (values.only !== undefined && !values.only.includes(name)) continue
    const from = performance.now()
    figures.push(...(await run(place)))
    process.stderr.write(`${name}: ${((performance.now() - from) / 1000).toFixed(1)} s\n`)
  }
  process.stdout.write(values.output === 'json' ? asJson(figures) : asTable(figures))
} finally {
  await place.close()
}
