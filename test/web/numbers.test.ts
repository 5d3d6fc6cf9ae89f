import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../support/browser/pages.ts'
import { type Served, serve, troubles } from '../support/browser/served.ts'

const browser = useBrowser()
let served: Served
let run = ''
beforeAll(async () => {
  served = await serve()
  run = await served.driven('write hello', {
    ...{ workspace: served.workspace(), approve: ['write_file'], budget: { tokens: 400_000 } },
  })
  await served.driven('fail please')
})
afterAll(() => served.close())

describe('the numbers', () => {
  it('show cost and tokens by day, model, role and tool, with a chart and its table', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, '/numbers')
    await page.locator('.chart canvas').first().waitFor()
    expect(await page.locator('.chart canvas').count()).toBe(2)
    const names = () =>
      page.locator('section.data-box').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))
    await expect
      .poll(names)
      .toEqual([
        ...['Cost by model', 'Cost by day', 'Cost by day and model'],
        ...['Cost by cause', 'Cost by role', 'Cost by tool'],
      ])
    const models = page.getByRole('region', { name: 'Cost by day and model' })
    expect(await models.locator('tbody tr').first().innerText()).toContain('scripted:')
    const total = await served.ask<{ total: { modelCalls: number } }>('GET', '/v1/cost')
    expect(await page.locator('.tile').nth(1).innerText()).toContain(String(total.total.modelCalls))
    await expect.poll(() => page.getByRole('region', { name: 'Cost by tool' }).innerText()).toContain('write_file')
    // The chart follows the theme, and is nothing to a reader of screens.
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await page.locator('.chart [aria-hidden=true] canvas').count()).toBe(2)
    expect(found).toEqual([])
  })

  it('show calls, routing, runs and budgets; tabs go by arrows and stand in the address', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, '/numbers?tab=calls')
    const region = (name: string) => page.getByRole('region', { name, exact: true })
    await expect.poll(() => region('Tools').innerText()).toContain('complete_task')
    await page.getByRole('tab', { name: 'Calls and times' }).press('ArrowRight')
    await expect.poll(() => new URL(page.url()).searchParams.get('tab')).toBe('routing')
    await expect.poll(() => region('Decisions of the router').innerText()).toContain('scripted:')
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => page.locator('.tiles').innerText()).toMatch(/Started\s+2[\s\S]*Failed\s+1/)
    await expect.poll(() => page.locator('.numbers').innerText()).toContain('No agent has come to its last turns')
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => region('Budgets').innerText()).toContain('400,000')
    await page.getByRole('link', { name: run.slice(0, 8) }).click()
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/runs/${run}`)
    expect(found).toEqual([])
  })

  it('are those of one run or time where the address says so; a table is sorted and saved', async () => {
    const page = await browser.page()
    await served.open(page, `/numbers?tab=calls&run=${run}`)
    const tools = page.getByRole('region', { name: 'Tools', exact: true })
    await expect.poll(() => tools.locator('tbody tr').count()).toBe(2)
    await tools.getByRole('button', { name: 'tool' }).click()
    expect(await tools.locator('th').first().getAttribute('aria-sort')).toBe('ascending')
    await tools.getByRole('button', { name: 'tool' }).press('Enter')
    await expect.poll(() => tools.locator('tbody tr').first().innerText()).toContain('write_file')
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'CSV' }).nth(1).click()
    const file = await saved
    expect(file.suggestedFilename()).toBe('tools.csv')
    const { readFileSync } = await import('node:fs')
    expect(readFileSync(await file.path(), 'utf8')).toMatch(/^tool,calls,failed,.*\r\nwrite_file,1,0,/)
    await page.getByLabel('Run').fill('no-such-run')
    await page.getByLabel('Run').press('Enter')
    await expect.poll(() => page.locator('.fault').first().innerText()).toContain('no-such-run')
  })
})

it('count how recoveries ended', async () => {
  // Its first turn is its last one.
  await served.driven('finish in the last turn', { limits: { maxTurns: 1 } })
  await served.driven('fail in the last turn', { limits: { maxTurns: 1 } })
  await served.driven('finish in another last turn', { limits: { maxTurns: 1 } })
  const page = await browser.page()
  const found = troubles(page)
  await served.open(page, '/numbers?tab=runs')
  const tile = (name: string) => page.locator('.tile', { has: page.getByText(name, { exact: true }) }).locator('dd')
  await expect.poll(() => tile('Recoveries begun').innerText()).toBe('3')
  expect([await tile('Recoveries succeeded').innerText(), await tile('Recoveries failed').innerText()]).toEqual([
    '2',
    '1',
  ])
  expect(found).toEqual([])
})
