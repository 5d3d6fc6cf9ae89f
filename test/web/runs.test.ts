import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../support/browser/pages.ts'
import { type Served, serve, troubles } from '../support/browser/served.ts'
import { violations } from '../support/browser/violations.ts'

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

describe('the list as a person arranges it', () => {
  it('shows the chosen columns, also after a reload', async () => {
    const page = await browser.page()
    await served.driven('finish with columns')
    await served.open(page)
    const heads = page.locator('.run-line.heads')
    await expect.poll(() => heads.innerText()).toMatch(/Role, model\s+Cost, turns\s+Changed, id$/)
    await page.getByText('Columns', { exact: true }).click()
    await page.getByLabel('Calls', { exact: true }).check()
    await page.getByLabel('Role, model').uncheck()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByLabel('Calls', { exact: true }).isVisible()).toBe(false)
    await page.reload()
    await expect.poll(() => heads.innerText()).toMatch(/Task\s+Cost, turns\s+Calls\s+Changed, id$/)
    expect(await page.locator('.run-row', { hasText: 'finish with columns' }).locator('.calls').innerText()).toBe('1')
  })

  it('saves a list under a name, with its filters, groups and columns', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.driven('finish what two have')
    await served.driven('finish what two have')
    await served.open(page, '/?text=two have')
    await page.getByLabel('by task').check()
    const group = page.getByRole('button', { name: /^finish what two have 2 runs: 2 done/ })
    await group.waitFor()
    expect(await tasks(page)).toEqual(['finish what two have'])
    await page.getByText('Views', { exact: true }).click()
    await page.getByLabel('Name').fill('<i>Two</i>')
    await page.keyboard.press('Enter')
    await page.goto(served.url)
    await expect.poll(async () => (await tasks(page)).length).toBeGreaterThan(3)
    await page.getByText('Views', { exact: true }).click()
    await page.getByRole('button', { name: '<i>Two</i>', exact: true }).click()
    await group.click()
    await expect.poll(() => tasks(page)).toEqual(Array(3).fill('finish what two have'))
    await page.getByText('Views', { exact: true }).click()
    await page.getByRole('button', { name: 'Remove <i>Two</i>' }).click()
    await page.reload()
    await page.getByText('Views', { exact: true }).click()
    expect(await page.getByRole('button', { name: '<i>Two</i>', exact: true }).count()).toBe(0)
    expect(found).toEqual([])
  })

  it('acts on the chosen runs: forks those that ended with a code, ends them, and saves them as a pack', async () => {
    const page = await browser.page()
    const found = troubles(page)
    const ids = [await served.driven('fail together'), await served.driven('fail together')]
    await served.open(page, '/?text=fail together')
    const code = await served.ask<{ run: { error: { code: string } } }>('GET', `/v1/runs/${ids[0]}`)
    await page.getByText('More filters').click()
    await page.getByLabel('Ended with').fill(code.run.error.code)
    await page.keyboard.press('Enter')
    await expect.poll(() => page.getByText('More filters (1)').count()).toBe(1)
    await page.getByLabel('Choose all runs').check()
    const actions = page.getByRole('group', { name: 'Actions for the chosen runs' })
    await expect.poll(() => actions.innerText()).toContain('2 runs chosen')
    expect(await violations(page)).toEqual([])
    expect(await actions.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true)
    const download = page.waitForEvent('download')
    await actions.getByRole('button', { name: 'Export' }).click()
    expect((await download).suggestedFilename()).toBe('runs.keepup-pack.tar')
    await actions.getByRole('button', { name: 'Fork' }).click()
    expect(await actions.innerText()).toContain('Fork 2 runs at their ends: “fail together”')
    expect(await actions.innerText()).toContain('The forks of 2 ended runs wait for an input.')
    await actions.getByRole('button', { name: 'Fork them' }).click()
    await expect.poll(() => page.getByText('2 runs forked.').count()).toBe(1)
    interface Listed {
      readonly source: { readonly agentId: string } | null
      readonly waiting: readonly { readonly for: string }[]
    }
    const { runs } = await served.ask<{ runs: Listed[] }>('GET', '/v1/runs?text=fail%20together')
    expect(runs.filter(({ source }) => source !== null).map(({ waiting }) => waiting.map((one) => one.for))).toEqual([
      ['input'],
      ['input'],
    ])
    expect(runs.flatMap(({ source }) => source?.agentId ?? []).sort()).toEqual(ids.sort())
    await page.goto(`${served.url}/?text=fail together`)
    await expect.poll(() => page.getByText('fork at step').count()).toBe(2)
    expect(found).toEqual([])
  })

  it('ends the chosen runs that have not ended, and leaves those that are not shown', async () => {
    const page = await browser.page()
    await served.driven('write together', { workspace: served.workspace() })
    await served.driven('write apart', { workspace: served.workspace() })
    await served.open(page, '/?text=write ')
    await page.getByLabel('Choose write together').check()
    await page.getByLabel('Choose write apart').check()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    expect(new URL(page.url()).pathname).toBe('/')
    await page.getByRole('searchbox').fill('write together')
    await page.getByRole('searchbox').press('Enter')
    await expect.poll(() => tasks(page)).toEqual(['write together'])
    expect(await page.getByLabel('Choose write together').isChecked()).toBe(false)
    await page.getByLabel('Choose write together').check()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'End them' }).click()
    await expect.poll(() => page.locator('.run-row .status').innerText()).toContain('cancelled')
    const { runs } = await served.ask<{ runs: { status: string }[] }>('GET', '/v1/runs?text=write%20apart')
    expect(runs[0]!.status).toBe('active')
  })
})

describe('the navigation', () => {
  it.each([
    [1160, 'one line'],
    [390, 'one line, and a bar at the bottom'],
  ])('at %i px takes %s', async (width, way) => {
    const page = await browser.page()
    await page.setViewportSize({ width, height: 640 })
    await served.open(page, '/proof')
    const top = page.locator('header.top')
    await expect.poll(async () => (await top.boundingBox())!.height).toBeLessThan(45)
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
    await top.locator('nav summary', { hasText: way === 'one line' ? 'Proof' : 'More' }).click()
    await page.getByRole('link', { name: 'Access' }).click()
    await expect.poll(() => new URL(page.url()).pathname).toBe('/access')
    await expect.poll(() => page.locator('nav .menu[open]').count()).toBe(0)
    const { y, height } = (await page.getByRole('link', { name: 'Numbers' }).boundingBox())!
    expect(y + height > 590).toBe(way !== 'one line')
    await page.getByRole('link', { name: 'Numbers' }).click()
    await expect.poll(() => new URL(page.url()).pathname).toBe('/numbers')
  })
})
