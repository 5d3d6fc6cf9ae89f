import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openEmbedded } from '../../bench/embedded.ts'
import type { Figure } from '../../bench/figure.ts'
import { asJson, asTable } from '../../bench/table.ts'
import { startBrowser } from '../../support/browser/chromium.ts'
import { watchingClients } from './clients.ts'
import { firstView, longRun, runsList, tabs } from './page.ts'
import { startServer } from './start-server.ts'
import { typing } from './typing.ts'

// The goals of the page, in a real browser, with the server in a process of its own.

const PARTS = ['page', 'clients', 'typing'] as const

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    output: { type: 'string', short: 'o', default: 'table' },
    folder: { type: 'string' },
    only: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
const known = values.only === undefined || PARTS.some((part) => part === values.only)
if (values.help || !known || (values.output !== 'table' && values.output !== 'json')) {
  process.stderr.write(
    `npm run bench:web -- [--quick] [--only ${PARTS.join('|')}] [-o table|json] [--folder DIR]\n` +
      'Measures the goals of the page in Chromium, typing in documents, and what clients that watch cost. --quick: 300 runs and a run of 2,100\n' +
      'events. DIR: where files are written.\n',
  )
  process.exit(2)
}

const [RUNS, TURNS] = values.quick ? [300, 300] : [10_000, 14_300]
const folder = mkdtempSync(join(values.folder ?? tmpdir(), 'keepup-bench-web-'))
const data = join(folder, 'data')
const say = (text: string) => process.stderr.write(`${text}\n`)
const figures: Figure[] = []
// Each is told as it comes: where a later part fails, these were measured all the same.
const add = (...found: Figure[]) => {
  figures.push(...found)
  for (const { name, ours } of found) say(`${name}: ${ours}`)
}
try {
  const isAsked = (part: (typeof PARTS)[number]) => values.only === undefined || values.only === part
  if (isAsked('page')) await lookAtPage()
  if (isAsked('clients')) await watch()
  if (isAsked('typing')) await type()
  process.stdout.write(values.output === 'json' ? asJson(figures) : asTable(figures))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function lookAtPage(): Promise<void> {
  say(`makes ${RUNS} runs, and one of ${TURNS} turns`)
  const embedded = await openEmbedded(data)
  let left = RUNS
  const loop = async () => {
    while (left-- > 0) await embedded.run(1)
  }
  await Promise.all(Array.from({ length: 32 }, loop))
  const long = await embedded.run(TURNS)
  await embedded.shown()
  await embedded.close()
  const browser = await startBrowser()
  try {
    const context = await browser.newContext()
    const page = await context.newPage()
    const cold = await startServer(data)
    add(await firstView(page, await cold.ask<string>({ ask: 'link' })))
    add(await runsList(page, RUNS + 1))
    add(await tabs(context, cold))
    await cold.ask({ ask: 'close' })
    const again = await startServer(data)
    await page.goto(await again.ask<string>({ ask: 'link' }))
    await page.locator('.run-row').first().waitFor()
    add(...(await longRun(page, again.url, long)))
    await again.ask({ ask: 'close' })
  } finally {
    await browser.close()
  }
}

async function type(): Promise<void> {
  say('types in documents')
  const browser = await startBrowser()
  const server = await startServer(data)
  try {
    add(...(await typing(await browser.newContext(), server, data)))
  } finally {
    await browser.close()
    await server.ask({ ask: 'close' })
  }
}

async function watch(): Promise<void> {
  say('watches runs at work')
  const server = await startServer(data)
  add(...(await watchingClients(server, data, values.quick)))
  await server.ask({ ask: 'close' })
}
