import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { startBrowser } from '../../support/browser/chromium.ts'
import { playStory, type Story } from './story.ts'
import { SIZES, THEMES } from './tasks.ts'

// npm run pictures [-- FOLDER [NAME…]]: a picture of each screen of the page in both themes and both sizes, of runs of the real
// program with scripted models.

const FOLDER = resolve(import.meta.dirname, '../../../dist/pictures')

interface Picture {
  readonly name: string
  readonly path: string
  /** What must be there before the picture is taken. */
  readonly ready: string
  readonly before?: (page: Page) => Promise<void>
}

const pictures = ({ runs, document, file }: Story): readonly Picture[] => [
  { name: 'tour', path: '/', ready: '.tour' },
  {
    name: 'runs',
    path: '/',
    ready: '.run-row',
    before: (page) => page.getByRole('button', { name: 'End the tour' }).click(),
  },
  { name: 'run', path: `/runs/${runs.done}?at=11`, ready: '.detail h2' },
  { name: 'waterfall', path: `/runs/${runs.done}?view=waterfall&tab=state`, ready: '.work' },
  { name: 'agents', path: `/runs/${runs.family}?view=agents`, ready: '.lane' },
  { name: 'failed', path: `/runs/${runs.failed}`, ready: '.reasons' },
  { name: 'commands', path: '/audit?question=failed_commands', ready: '.output' },
  { name: 'approval', path: `/runs/${runs.asks}`, ready: '.ask .patch' },
  { name: 'inbox', path: '/inbox', ready: '.ask .patch' },
  { name: 'start', path: '/start', ready: 'select#role' },
  { name: 'compare', path: `/compare?a=${runs.done}&b=${runs.fork}`, ready: '.place-row' },
  { name: 'files', path: `/runs/${runs.done}?tab=files&file=src/receipt.ts`, ready: '.blame' },
  { name: 'documents', path: '/documents', ready: '.documents li' },
  { name: 'document', path: `/documents/${document}?tab=writers`, ready: '.blame' },
  { name: 'cost', path: '/numbers', ready: '.chart canvas' },
  { name: 'times', path: '/numbers?tab=calls', ready: '.chart canvas' },
  { name: 'routing', path: '/numbers?tab=routing', ready: '.data-table' },
  { name: 'recoveries', path: '/numbers?tab=runs', ready: '.chart canvas' },
  { name: 'budgets', path: '/numbers?tab=budgets', ready: '.data-table' },
  { name: 'questions', path: '/audit', ready: '.questions' },
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
  { name: 'held', path: `/runs/${runs.held}`, ready: '.reasons' },
  {
    name: 'notes',
    path: `/runs/${runs.held}`,
    ready: '.annotations .tag',
    before: (page) => page.locator('.annotations summary').click(),
  },
  { name: 'other-agent', path: `/runs/${runs.external}`, ready: '.reported' },
  {
    name: 'other-agent-files',
    path: `/runs/${runs.external}?tab=files&file=src%2Fa.ts`,
    ready: '.difference .patch',
  },
  { name: 'health', path: '/health', ready: '.data-table' },
  { name: 'access', path: '/access', ready: '.notice' },
  { name: 'pack', path: '/pack', ready: '.notice' },
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

const [folder = FOLDER, ...only] = process.argv.slice(2)
if (folder.startsWith('-')) {
  process.stderr.write('npm run pictures [-- FOLDER [NAME…]]: pictures of the page; default: all, in dist/pictures\n')
  process.exit(2)
}
mkdirSync(folder, { recursive: true })
const [story, browser] = [await playStory(), await startBrowser()]
try {
  const all = pictures(story).filter(({ name }) => only.length === 0 || only.includes(name))
  for (const theme of THEMES)
    for (const [size, viewport] of Object.entries(SIZES)) {
      const context = await browser.newContext({ viewport, colorScheme: theme, reducedMotion: 'reduce' })
      const page = await context.newPage()
      await story.served.open(page)
      for (const { name, path, ready, before } of all) {
        await page.goto(story.served.url + path)
        await page.locator(ready).first().waitFor()
        await before?.(page)
        await page.waitForLoadState('networkidle', { timeout: 600 }).catch(() => undefined)
        const file = join(folder, `${name}-${theme}${size}.png`)
        await page.screenshot({ path: file })
        console.log(file)
      }
      await context.close()
    }
} finally {
  await browser.close()
  await story.close()
}
