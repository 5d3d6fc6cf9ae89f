import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../support/browser/pages.ts'
import { type Served, serve, troubles } from '../support/browser/served.ts'

const browser = useBrowser()
let served: Served
beforeAll(async () => {
  served = await serve()
})
afterAll(() => served.close())

const tasks = (page: Page) => page.locator('.run-task').allTextContents()

describe('a link', () => {
  it('opens the page once; a second browser is told what to do', async () => {
    const { url } = await served.ask<{ url: string }>('POST', '/v1/session/codes', {})
    const [first, second] = [await browser.page(), await browser.page()]
    await first.goto(url)
    await first.waitForSelector('header.top')
    expect(first.url()).not.toContain('code')
    await second.goto(url)
    expect(await second.locator('main').innerText()).toContain('used before')
    expect(await second.locator('main').innerText()).toContain('keepup open')
  })

  it('gives a session that a new tab has too, and that scripts cannot read', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page)
    const tab = await page.context().newPage()
    await tab.goto(served.url)
    await tab.waitForSelector('header.top')
    expect(await tab.evaluate(() => document.cookie)).toBe('')
    expect(found).toEqual([])
  })
})

describe('a session that a second link has begun', () => {
  it('is that of every tab: the one with the old session goes on, and takes nothing from the new one', async () => {
    const first = await browser.page()
    const found = troubles(first)
    await served.open(first)
    const second = await first.context().newPage()
    await served.open(second)
    await first.getByRole('link', { name: 'Documents' }).click()
    await expect.poll(() => first.locator('main').innerText()).toContain('There are no documents yet')
    await second.reload()
    await second.waitForSelector('header.top')
    expect(found).toEqual([])
  })

  it('opens the tabs that had none', async () => {
    const first = await browser.page()
    await first.goto(served.url)
    await expect.poll(() => first.locator('main').innerText()).toContain('keepup open')
    const second = await first.context().newPage()
    await served.open(second)
    await first.waitForSelector('header.top')
    await expect.poll(() => first.locator('.connection').innerText()).toBe('live')
  })
})

describe('the list of runs', () => {
  it('shows runs that wait for a person first, and changes as runs go on', async () => {
    const page = await browser.page()
    const found = troubles(page)
    const done = await served.driven('finish the first')
    await served.driven('write hello', { workspace: served.workspace() })
    await served.driven('finish the last')
    await served.open(page)
    await expect.poll(() => tasks(page)).toEqual(['write hello', 'finish the last', 'finish the first'])
    expect(await page.locator('.run-row').first().innerText()).toContain('waits for an approval')
    await expect.poll(() => page.locator('.connection').innerText()).toBe('live')
    await served.driven('finish while a person looks')
    await expect.poll(() => tasks(page)).toContain('finish while a person looks')
    // By keyboard: the third row, then into the run.
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await expect.poll(() => new URL(page.url()).searchParams.get('run')).toBe(done)
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/runs/${done}`)
    expect(found).toEqual([])
  })

  it('filters by what stands in the address, and writes filters there', async () => {
    const page = await browser.page()
    await served.driven('fail please')
    await served.open(page, '/?status=failed')
    // A repetition of this test has started the run twice.
    await expect.poll(async () => [...new Set(await tasks(page))]).toEqual(['fail please'])
    await page.getByLabel('Status').selectOption('completed')
    await expect.poll(() => new URL(page.url()).searchParams.get('status')).toBe('completed')
    await expect.poll(() => tasks(page)).not.toContain('fail please')
    await page.keyboard.press('Escape')
    await page.getByRole('searchbox').fill('the last')
    await page.getByRole('searchbox').press('Enter')
    await expect.poll(() => tasks(page)).toEqual(['finish the last'])
    await page.reload()
    await expect.poll(() => tasks(page)).toEqual(['finish the last'])
    await page.getByRole('searchbox').fill('nothing says this')
    // The list changes while a person types.
    await served.driven('finish meanwhile')
    expect(await page.getByRole('searchbox').inputValue()).toBe('nothing says this')
    await page.getByRole('searchbox').press('Enter')
    await expect.poll(() => page.locator('.notice').innerText()).toContain('No run is like this')
    await page.getByRole('button', { name: 'Clear' }).click()
    await expect.poll(async () => (await tasks(page)).length).toBeGreaterThan(3)
  })
})
