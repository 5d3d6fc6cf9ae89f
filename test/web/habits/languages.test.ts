import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'

// Numbers and times in the language of the browser, and texts in every script.

/** Persian with joiners, Hindi with a joiner, a family of emoji, and an override of the direction. */
const PERSIAN = 'آزمون را درست کن: می\u200cخواهم finish'
const HINDI = 'क्\u200dष finish करो'
const EMOJI = '👩\u200d👩\u200d👧 finish'
const HIDDEN = 'finish \u202Etxt.exe'

const browser = useBrowser()
let served: Served
const runs: Record<string, string> = {}
let paper = ''
beforeAll(async () => {
  served = await serve()
  for (const task of [PERSIAN, HINDI, EMOJI, HIDDEN]) runs[task] = await served.driven(task)
  const body = { title: PERSIAN, format: 'markdown', content: `${PERSIAN}\n\n- ${HINDI}\n\n${HIDDEN}\n`, by: 'ada' }
  paper = (await served.ask<{ documentId: string }>('POST', '/v1/documents', body)).documentId
})
afterAll(() => served.close())

describe('the language of the browser', () => {
  const shown = async (page: Page) => {
    await served.open(page, `/runs/${runs[PERSIAN]}?view=compact`)
    const time = page.locator('.event span').nth(1)
    await expect.poll(() => time.innerText()).not.toBe('')
    const figures = await page.locator('.run-head .figures').innerText()
    await page.getByRole('tab', { name: 'Event', exact: true }).click()
    const exact = page.locator('.detail .facts')
    await expect.poll(() => exact.innerText()).toMatch(/\(\d{4}-\d\d-\d\dT[\d:.]+Z\)/)
    await page.goto(`${served.url}/numbers`)
    const tokens = page.locator('.tile', { hasText: 'Model calls' })
    await tokens.waitFor()
    return { figures, calls: await tokens.innerText() }
  }

  it('gives numbers, money and times their form: German', async () => {
    const page = await browser.page({ locale: 'de-DE', timezoneId: 'Europe/Berlin' })
    const found = troubles(page)
    const { figures } = await shown(page)
    expect(figures).toMatch(/0,0000\s\$/)
    await page.goto(`${served.url}/numbers`)
    const day = page.locator('.data-table time').first()
    await expect.poll(() => day.innerText()).toMatch(/^\d\d\.\d\d\.\d{4}$/)
    // The exact day stays in the title and in a download.
    expect(await day.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\d$/)
    const table = page.locator('.data', { has: page.getByRole('region', { name: 'Cost by day', exact: true }) })
    const saved = page.waitForEvent('download')
    await table.getByRole('button', { name: 'CSV', exact: true }).click()
    expect(readFileSync(await (await saved).path(), 'utf8')).toMatch(/\n\d{4}-\d\d-\d\d,/)
    await page.goto(`${served.url}/compare?a=${runs[PERSIAN]}&b=${runs[HINDI]}`)
    const cost = page.locator('.summary tr', { hasText: 'Cost' })
    await expect.poll(() => cost.innerText()).toMatch(/0,0000\s\$/)
    expect(await cost.innerText()).not.toContain('U+')
    expect(found).toEqual([])
  })

  it('gives numbers their digits: Persian', async () => {
    const page = await browser.page({ locale: 'fa-IR', timezoneId: 'Asia/Tehran' })
    const found = troubles(page)
    const { figures, calls } = await shown(page)
    expect(figures).toMatch(/۰٫۰{4}/)
    expect(calls).toMatch(/[۰-۹]/)
    await page.goto(`${served.url}/runs/${runs[PERSIAN]}?view=compact`)
    await expect.poll(() => page.locator('.event span').nth(1).innerText()).toMatch(/[۰-۹]{2}:[۰-۹]{2}:[۰-۹]{2}/)
    // A position is a name, which a person types.
    expect(await page.locator('.event .number').first().innerText()).toBe('0')
    expect(found).toEqual([])
  })
})

describe('a text of people or models', () => {
  /** The direction in which the browser draws a text. */
  const directionOf = (page: Page, text: string, within: string) =>
    page
      .locator(within)
      .getByText(text)
      .last()
      .evaluate((element) => getComputedStyle(element).direction)

  it('is drawn in its own direction on the list, on a run and in a document', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page)
    await page.locator('.run-task', { hasText: HINDI }).waitFor()
    for (const [text, direction] of [
      [PERSIAN, 'rtl'],
      [HINDI, 'ltr'],
    ] as const) {
      await page.goto(served.url)
      await page.locator('.run-task').first().waitFor()
      expect(await directionOf(page, text, '.run-task')).toBe(direction)
      await page.goto(`${served.url}/runs/${runs[text]}`)
      await page.locator('.run-head h1').getByText(text).waitFor()
      expect(await directionOf(page, text, '.run-head h1')).toBe(direction)
      await page.locator('.timeline .markdown').first().waitFor()
      expect(await page.locator('.timeline [dir=auto]').count()).toBeGreaterThan(0)
      expect(await directionOf(page, text, '.timeline .markdown')).toBe(direction)
    }
    await page.goto(`${served.url}/documents/${paper}`)
    await page.locator('.markdown p').first().waitFor()
    expect(
      await page
        .locator('.markdown p')
        .first()
        .evaluate((p) => getComputedStyle(p).unicodeBidi),
    ).toBe('plaintext')
    expect(found).toEqual([])
  })

  it('keeps its joiners, and shows what changes the direction', async () => {
    const page = await browser.page()
    await served.open(page)
    const tasks = () => page.locator('.run-task').allTextContents()
    await expect.poll(tasks).toEqual(expect.arrayContaining([PERSIAN, HINDI, EMOJI, 'finish ‹U+202E›txt.exe']))
    await page.goto(`${served.url}/documents/${paper}`)
    await expect.poll(() => page.locator('.markdown').innerText()).toContain(HINDI)
    expect(await page.locator('.markdown').innerText()).toContain(PERSIAN)
    expect(await page.locator('.markdown').innerText()).toContain('‹U+202E›')
  })

  it('is typed in its own direction', async () => {
    const page = await browser.page()
    await served.open(page, '/start')
    const task = page.getByLabel('Task')
    await task.fill(PERSIAN)
    expect(await task.evaluate((one) => getComputedStyle(one).direction)).toBe('rtl')
    await task.fill('English')
    expect(await task.evaluate((one) => getComputedStyle(one).direction)).toBe('ltr')
  })
})
