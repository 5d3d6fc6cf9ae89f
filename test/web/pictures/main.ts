import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { startBrowser } from '../../support/browser/chromium.ts'
import { type Served, serve } from '../../support/browser/served.ts'

// npm run pictures [-- FOLDER [NAME…]]: a picture of each screen of the page in both themes, of runs of the real program with a
// scripted model.

const FOLDER = resolve(import.meta.dirname, '../../../api/web/pictures')
const SIZE = { width: 1160, height: 640 }

interface Picture {
  readonly name: string
  readonly path: string
  /** What must be there before the picture is taken. */
  readonly ready: string
  readonly before?: (page: Page) => Promise<void>
}

interface Shown {
  readonly asks: string
  readonly done: string
  readonly other: string
  readonly paper: string
  readonly file: string
}

const ask = (page: Page) => page.getByRole('button', { name: 'Ask (Ctrl Enter)' }).click()

const pictures = ({ asks, done, other, paper, file }: Shown): readonly Picture[] => [
  { name: 'runs', path: '/', ready: '.run-row' },
  { name: 'run', path: `/runs/${done}?at=11`, ready: '.detail h2' },
  { name: 'waterfall', path: `/runs/${done}?view=waterfall&tab=state`, ready: '.work' },
  { name: 'approval', path: `/runs/${asks}`, ready: '.ask .patch' },
  { name: 'inbox', path: '/inbox', ready: '.ask .patch' },
  { name: 'start', path: '/start', ready: 'select#role' },
  { name: 'compare', path: `/compare?a=${done}&b=${other}`, ready: '.place-row' },
  { name: 'files', path: `/runs/${done}?tab=files&file=hello.txt`, ready: '.blame' },
  { name: 'documents', path: '/documents', ready: '.documents li' },
  { name: 'document', path: `/documents/${paper}?tab=writers`, ready: '.blame' },
  { name: 'cost', path: '/numbers', ready: '.chart canvas' },
  { name: 'times', path: '/numbers?tab=calls', ready: '.chart canvas' },
  { name: 'routing', path: '/numbers?tab=routing', ready: '.data-table' },
  { name: 'recoveries', path: '/numbers?tab=runs', ready: '.chart canvas' },
  { name: 'budgets', path: '/numbers?tab=budgets', ready: '.data-table' },
  { name: 'questions', path: '/audit?question=files', ready: '.questions', before: ask },
  {
    name: 'proof',
    path: '/audit?tab=proof',
    ready: 'form.row',
    before: async (page) => {
      await page.getByRole('button', { name: 'Verify' }).click()
      await page.locator('.data-table').waitFor()
    },
  },
  { name: 'tables', path: '/audit?tab=tables', ready: '.facts' },
  {
    name: 'log',
    path: '/audit?tab=log',
    ready: '.streams',
    before: async (page) => {
      await page.getByRole('button', { name: 'From the beginning' }).click()
      await page.locator('.event .said bdi:not(:empty)').first().waitFor()
    },
  },
  { name: 'heads', path: '/proof', ready: '.facts' },
  { name: 'retention', path: '/retention', ready: '.data-table button' },
  { name: 'holds', path: '/retention?tab=holds', ready: '.data-table' },
  { name: 'held', path: `/runs/${other}`, ready: '.reasons' },
  { name: 'webhooks', path: '/webhooks', ready: '.notice' },
  {
    name: 'exported',
    path: '/exported',
    ready: '.notice',
    before: async (page) => {
      await page.getByLabel('File').setInputFiles(file)
      await page.getByText('The proof holds').waitFor()
    },
  },
  {
    name: 'palette',
    path: '/',
    ready: '.run-row',
    before: async (page) => {
      await page.keyboard.press('Control+k')
      await page.keyboard.type('numbers')
    },
  },
  { name: 'help', path: '/', ready: '.run-row', before: (page) => page.keyboard.press('?') },
]

/** Runs and a document as people have them. */
async function story(served: Served, folder: string): Promise<Shown> {
  const workspace = served.workspace
  const done = await served.driven('write a greeting for new users', {
    ...{ workspace: workspace(), approve: ['write_file'] },
    ...{ contextVariables: { language: 'en', tone: 'friendly' }, budget: { tokens: 200_000 } },
  })
  const other = await served.driven('write a greeting for returning users', {
    ...{ workspace: workspace(), approve: ['write_file'] },
  })
  for (const task of ['finish the report on slow tests', 'finish the notes of the release', 'fail on purpose'])
    await served.driven(task, { budget: { tokens: 50_000 } })
  await served.driven('ask me which port the server should use')
  const asks = await served.driven('write hello into a file', { workspace: workspace() })
  await served.ask('POST', '/v1/holds', { of: other, reason: 'the audit of 2026', by: 'ada' })
  await served.ask('PUT', '/v1/retention', { of: 'run', days: 180, by: 'ada' })
  const content =
    '# Plan\n\nFirst **measure**, then change one thing.\n\n| step | who |\n|---|---|\n| measure | ada |\n'
  const body = { title: 'Plan for the release', format: 'markdown', content, by: 'ada' }
  const { documentId } = await served.ask<{ documentId: string }>('POST', '/v1/documents', body)
  const answer = await served.backend.fetch(new Request(`http://localhost/v1/runs/${done}/export`))
  const file = join(folder, 'greeting.ndjson')
  writeFileSync(file, await answer.text())
  return { asks, done, other, paper: documentId, file }
}

const [folder = FOLDER, ...only] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const apart = join(tmpdir(), `keepup-pictures-${process.pid}`)
mkdirSync(apart)
const [served, browser] = [await serve(), await startBrowser()]
try {
  const all = pictures(await story(served, apart)).filter(({ name }) => only.length === 0 || only.includes(name))
  for (const theme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ viewport: SIZE, colorScheme: theme, reducedMotion: 'reduce' })
    const page = await context.newPage()
    await served.open(page)
    for (const { name, path, ready, before } of all) {
      await page.goto(served.url + path)
      await page.locator(ready).first().waitFor()
      await before?.(page)
      await page.waitForLoadState('networkidle', { timeout: 600 }).catch(() => undefined)
      await page.screenshot({ path: join(folder, `${name}-${theme}.png`) })
      console.log(join(folder, `${name}-${theme}.png`))
    }
    await context.close()
  }
} finally {
  await browser.close()
  await served.close()
  rmSync(apart, { recursive: true })
}
