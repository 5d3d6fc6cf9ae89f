import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve } from '../../support/browser/served.ts'
import { COLOURS, violations } from '../../support/browser/violations.ts'

// The rules of axe on every screen. The themes differ in colours only, so the dark theme runs only the rules about colours.

const WINDOW = { width: 1280, height: 800 }

/** Resolves when the page has drawn itself at its current size. */
const frames = (page: Page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))

const browser = useBrowser()
let served: Served
let [asks, done, question, paper] = ['', '', '', '']
beforeAll(async () => {
  const webhooks = [{ name: 'chat', url: 'http://127.0.0.1:9/hook', secret: 'HOOK' }]
  served = await serve({ settings: { webhooks } })
  asks = await served.driven('write hello', { workspace: served.workspace() })
  done = await served.driven('write hello', {
    workspace: served.workspace(),
    approve: ['write_file'],
    contextVariables: { a: 1 },
  })
  question = await served.driven('ask me')
  await served.driven('finish with a budget', { budget: { tokens: 1_000_000 } })
  const body = {
    title: 'Plan',
    format: 'markdown',
    content: '# Plan\n\nFirst **this**.\n\n| a |\n|---|\n| b |\n',
    by: 'ada',
  }
  const anchor = { anchor: 'gone', kind: 'folder', target: '/nowhere/at/all', by: 'ada' }
  await served.ask('POST', '/v1/anchors', anchor)
  await served.ask('POST', '/v1/anchors/now', { by: 'ada' })
  await served.ask('POST', '/v1/holds', { of: done, reason: 'the matter of Smith', by: 'ada' })
  await served.ask('PUT', '/v1/retention', { of: 'run', days: 180, by: 'ada' })
  paper = (await served.ask<{ documentId: string }>('POST', '/v1/documents', body)).documentId
  const { blocks } = await served.ask<{ blocks: { id: string }[] }>('GET', `/v1/documents/${paper}`)
  const about = { span_id: blocks[1]!.id, quote: 'First', by: 'ada' }
  await served.ask('POST', `/v1/documents/${paper}/comments`, { ...about, text: 'Why first?' })
  await served.ask('POST', `/v1/documents/${paper}/suggestions`, { ...about, replacement: 'Second', reason: 'order' })
})
afterAll(() => served.close())

const screens: [string, () => string, string][] = [
  ['the list', () => '/', '.run-row'],
  ['a list with a selected run', () => `/?run=${done}`, '.run-row.selected'],
  ['an empty list', () => '/?text=nothing+at+all', '.notice'],
  ['the inbox', () => '/inbox', '.ask .patch'],
  ['the start', () => '/start', 'select#role'],
  ['a run that asks', () => `/runs/${asks}`, '.ask .patch'],
  ['a run with a question', () => `/runs/${question}`, '.ask textarea'],
  ...['event', 'state', 'diff', 'files', 'raw', 'request', 'proof'].map((tab): [string, () => string, string] => [
    `the detail ${tab}`,
    () => `/runs/${done}?at=13&tab=${tab}`,
    '.detail h2, .detail pre, .detail .json-line',
  ]),
  ...['feed', 'compact', 'waterfall'].map((view): [string, () => string, string] => [
    `the timeline ${view}`,
    () => `/runs/${done}?view=${view}&at=7`,
    '.card header .quiet, .event .said bdi:not(:empty), .work',
  ]),
  ['two runs compared', () => `/compare?a=${asks}&b=${done}`, '.place-row'],
  ['two steps compared', () => `/compare?a=${done}:0&b=${done}:1`, '.compare .patch'],
  ['nothing compared', () => '/compare', '.notice'],
  ['a file with its writers', () => `/runs/${done}?tab=files&file=hello.txt`, '.blame'],
  ['the documents', () => '/documents', '.documents li'],
  ['the editor of a document', () => `/documents/${paper}?tab=edit`, '.ProseMirror .marked'],
  ...['text', 'writers', 'change', 'proof'].map((tab): [string, () => string, string] => [
    `the document ${tab}`,
    () => `/documents/${paper}?tab=${tab}`,
    '.detail h2, .detail .blame, .detail button:text("Verify")',
  ]),
  ...['cost', 'calls', 'routing', 'runs', 'budgets'].map((tab): [string, () => string, string] => [
    `the numbers ${tab}`,
    () => `/numbers?tab=${tab}`,
    '.data-table',
  ]),
  ['no numbers', () => '/numbers?run=none', '.notice, .fault'],
  ['the questions', () => '/audit?question=approvals', '.questions'],
  ['the proof', () => '/audit?tab=proof', 'form.row'],
  ['the tables', () => '/audit?tab=tables', '.facts'],
  ['the log', () => '/audit?tab=log', '.streams'],
  ['a stream', () => `/audit?tab=log&stream=agent-${done}`, '.event .said bdi:not(:empty)'],
  ['the heads and anchors', () => '/proof', '.facts'],
  ['an anchor that fails', () => '/proof', '.data-table .bad'],
  ['the verification', () => '/proof?tab=verify', '.panel button'],
  ['the guide to proofs', () => '/proof?tab=guide', '.markdown'],
  ['access that is off', () => '/access', '.notice'],
  ['the retention', () => '/retention', '.data-table button'],
  ['the holds', () => '/retention?tab=holds', '.data-table button'],
  ['a run that is held', () => `/runs/${done}`, '.reasons'],
  ['the webhooks', () => '/webhooks', '.data-table button'],
  ['no pack', () => '/pack', '.notice'],
  ['no exported run', () => '/exported', '.notice'],
  ['a place that is none', () => '/nowhere', '.notice'],
]

it('no screen breaks a rule of axe in the light and the dark theme, or runs out of the page sideways at twice the size', async () => {
  const page = await browser.page()
  // A transition would show axe a colour between the two themes.
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await served.open(page)
  const found: [string, string[]][] = []
  for (const [name, path, ready] of screens) {
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize(WINDOW)
    await page.goto(served.url + path())
    await page.locator(ready).first().waitFor()
    await expect.poll(() => page.getByText('loading …').count()).toBe(0)
    found.push([`${name}, light`, await violations(page)])
    await page.emulateMedia({ colorScheme: 'dark' })
    found.push([`${name}, dark`, await violations(page, COLOURS)])
    await page.setViewportSize({ width: WINDOW.width / 2, height: WINDOW.height / 2 })
    await frames(page)
    await page.locator(ready).first().waitFor()
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    found.push([`${name}, twice the size`, wide === 0 ? [] : [`${wide} px too wide`]])
  }
  expect(found.filter(([, all]) => all.length > 0)).toEqual([])
})

it.each(['light', 'dark'] as const)('no dialog and no answer breaks a rule of axe in the %s theme', async (theme) => {
  const page = await browser.page()
  await page.emulateMedia({ colorScheme: theme })
  await served.open(page, '/audit?question=standing_approvals')
  await page.getByRole('button', { name: 'Ask (Ctrl Enter)' }).click()
  await page.locator('.data-table').waitFor()
  const rules = theme === 'light' ? undefined : COLOURS
  const found = [await violations(page, rules)]
  await page.locator('h1').first().click()
  for (const key of ['?', 'y', 'Control+k']) {
    await page.keyboard.press(key)
    await page.locator('dialog[open]').waitFor()
    found.push(await violations(page, rules))
    await page.keyboard.press('Escape')
    await page.locator('dialog[open]').waitFor({ state: 'detached' })
  }
  expect(found.flat()).toEqual([])
})

it.each(['light', 'dark'] as const)('no form of a comment breaks a rule of axe in the %s theme', async (theme) => {
  const page = await browser.page()
  await page.emulateMedia({ colorScheme: theme })
  await served.open(page, `/documents/${paper}?tab=edit`)
  const rules = theme === 'light' ? undefined : COLOURS
  const found = []
  await page.locator('.ProseMirror .marked').first().dblclick()
  for (const kind of ['Comment', 'Suggest']) {
    await page.getByRole('toolbar').getByRole('button', { name: kind }).click()
    await page.locator('.comment-form').waitFor()
    found.push(await violations(page, rules))
  }
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Refuse …' }).click()
  found.push(await violations(page, rules))
  await page.getByRole('tab', { name: 'Text' }).click()
  await page.getByLabel('Colours of authors').check()
  await page.locator('.markdown .written').first().waitFor()
  found.push(await violations(page, rules))
  expect(found.flat()).toEqual([])
})

it('a browser without a session is told what to do, within the rules', async () => {
  const page = await browser.page()
  await page.goto(served.url)
  await page.locator('pre').waitFor()
  expect(await violations(page)).toEqual([])
})

it('nothing moves where less motion is wanted', async () => {
  const page = await browser.page()
  await page.emulateMedia({ reducedMotion: 'reduce' })
  const id = await served.start('wait', { workspace: served.workspace() })
  await served.open(page, `/runs/${id}`)
  await page.locator('.status.works').waitFor()
  expect(await page.evaluate(() => document.getAnimations().length)).toBe(0)
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await expect.poll(() => page.evaluate(() => document.getAnimations().length)).toBeGreaterThan(0)
  await served.ask('POST', `/v1/runs/${id}/cancel`, {})
})

it('every control of a run is reached by the tabulator', async () => {
  const page = await browser.page()
  await served.open(page, `/runs/${done}`)
  await page.locator('.card header .quiet').first().waitFor()
  const names = new Set<string>()
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press('Tab')
    names.add(
      await page.evaluate(
        () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '',
      ),
    )
  }
  for (const name of ['Runs', 'Inbox', 'Fork (f)', 'Play', 'Position', 'Turns', 'Feed', 'Event'])
    expect(
      [...names].some((one) => one.startsWith(name)),
      name,
    ).toBe(true)
})
