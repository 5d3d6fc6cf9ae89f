import { afterAll, beforeAll, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'

// The tour of a new visitor, and screens that have nothing to show.

const browser = useBrowser()
let served: Served
beforeAll(async () => {
  served = await serve()
})
afterAll(() => served.close())

it('a new visitor sees the tour once, steps through it by keyboard, and finds it again in the help', async () => {
  const page = await browser.page()
  const found = troubles(page)
  await served.open(page)
  const tour = page.getByRole('region', { name: 'Tour' })
  const title = () => tour.getByRole('heading').innerText()
  await expect.poll(title).toBe('A run is a log of events 1 of 3')
  const before = await page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('tour')))
  expect(before).toEqual(['keepup-tour-ended'])
  await tour.getByRole('button', { name: 'Next' }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(title).toBe('An agent asks you in the inbox 2 of 3')
  expect(await tour.locator('[aria-live=polite]').innerText()).toContain('Open the inbox')
  await tour.getByRole('button', { name: 'Back' }).click()
  await expect.poll(title).toContain('1 of 3')
  await tour.getByRole('button', { name: 'Next' }).click()
  await tour.getByRole('button', { name: 'Next' }).click()
  await expect.poll(title).toBe('The log proves what happened 3 of 3')
  await tour.getByRole('button', { name: 'Done' }).click()
  await expect.poll(() => tour.count()).toBe(0)
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('content')
  await page.reload()
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  expect(await tour.count()).toBe(0)

  await page.goto(`${served.url}/inbox`)
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('button', { name: 'Show the tour' }).click()
  await expect.poll(title).toContain('1 of 3')
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Tour')
  // The tour takes the focus once, not on each return to the list.
  await tour.getByRole('link', { name: 'Start a run' }).click()
  await page.getByLabel('Task').waitFor()
  await page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click()
  await expect.poll(title).toContain('1 of 3')
  await page.waitForTimeout(200)
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).not.toBe('Tour')
  await tour.focus()
  await page.keyboard.press('Escape')
  await expect.poll(() => tour.count()).toBe(0)
  expect(found).toEqual([])
})

/** Before a question is chosen or written, there is nothing to ask. */
const FIRST_QUESTION = 'Who approved or rejected what, when and why; supported: one of several approvals'

/** A screen with nothing to show: its path, what would be there, and the button, link or command that makes it. */
const EMPTY = [
  ['/', /Each run is an agent at work/, 'link', 'Start a run'],
  ['/?status=failed', /Take a filter away/, 'button', 'Show all runs'],
  ['/inbox', /Approvals, unknown outcomes and questions/, 'link', 'Start a run'],
  ['/documents', /written by people and agents/, 'button', 'Name a new document'],
  ['/webhooks', /tells another program/, null, 'keepup secrets set CHAT_WEBHOOK'],
  ['/numbers', /The cost, the tokens and the times/, 'link', 'Start a run'],
  ['/retention?tab=holds', /A hold keeps a run/, 'button', 'Set a hold'],
  ['/proof', /The log has no anchor/, 'button', 'Add an anchor'],
  ['/audit', /Choose a question, or write one/, 'button', FIRST_QUESTION],
  ['/start', /No other agent is installed on the server/, null, 'keepup agents'],
] as const

it.each(EMPTY)('the empty screen %s says what would be there and how to make it', async (path, what, role, name) => {
  const page = await browser.page()
  await served.open(page, path)
  const main = page.locator('main')
  await expect.poll(() => main.innerText()).toMatch(what)
  if (role === null) expect(await main.innerText()).toContain(name)
  else expect(await main.getByRole(role, { name, exact: true }).first().isEnabled()).toBe(true)
})

it('the buttons of empty screens lead to what they name', async () => {
  const page = await browser.page()
  await served.open(page, '/?status=failed')
  await page.getByRole('button', { name: 'Show all runs' }).click()
  await expect.poll(() => page.locator('main').innerText()).toContain('There are no runs yet')
  await page.locator('.notice').getByRole('link', { name: 'Start a run' }).click()
  await page.getByLabel('Task').waitFor()
  await page.goto(`${served.url}/documents`)
  await page.getByRole('button', { name: 'Name a new document' }).click()
  expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('title')
})
