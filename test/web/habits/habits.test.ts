import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { waysTo } from '../../../api/web/habits/equivalent-commands.ts'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'

const browser = useBrowser()
let served: Served
let run = ''
beforeAll(async () => {
  served = await serve()
  run = await served.driven('finish <b>boldly</b>')
})
afterAll(() => served.close())

describe('the palette', () => {
  it('goes to screens and runs by keyboard, also out of a field, and gives the focus back', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page)
    await page.locator('.run-row').first().waitFor()
    const search = page.getByRole('searchbox')
    await search.focus()
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: /^A screen/ })
    await expect.poll(() => field.evaluate((one) => one === document.activeElement)).toBe(true)
    await page.keyboard.press('Escape')
    await expect.poll(() => search.evaluate((one) => one === document.activeElement)).toBe(true)
    await page.keyboard.press('Control+k')
    await field.waitFor()
    await page.keyboard.type('budgets')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.url()).toBe(`${served.url}/numbers?tab=budgets`)
    await page.keyboard.press('Control+k')
    await field.waitFor()
    await page.keyboard.type('boldly')
    const option = page.getByRole('group', { name: 'Runs' }).getByRole('option', { name: 'finish <b>boldly</b>' })
    await option.waitFor()
    expect(await page.locator('[role=option] b').count()).toBe(0)
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/runs/${run}`)
    await page.keyboard.press('Control+k')
    await field.waitFor()
    await page.keyboard.type(run)
    await page.getByRole('group', { name: 'Runs' }).getByRole('option', { name: run }).click()
    expect(found).toEqual([])
  })

  it('keeps the chosen entry when the server answers', async () => {
    const page = await browser.page()
    await served.open(page)
    await page.locator('.run-row').first().waitFor()
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route(/\/v1\/runs\?.*text=/, async (route) => {
      await held
      await route.continue()
    })
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /^A screen/ }).waitFor()
    await page.keyboard.type('in')
    await expect.poll(() => page.getByRole('option').count()).toBeGreaterThan(7)
    for (let n = 0; n < 7; n++) await page.keyboard.press('ArrowDown')
    const chosen = page.locator('[role=option][aria-selected=true]')
    const before = await chosen.innerText()
    answer()
    await page.getByRole('group', { name: 'Runs' }).waitFor()
    expect(await chosen.innerText()).toBe(before)
  })

  it('opens the help, and keys behind a dialog do nothing', async () => {
    const page = await browser.page()
    await served.open(page, `/runs/${run}`)
    await page.locator('.card').first().waitFor()
    // What is typed at once is for the field that opens.
    await page.keyboard.press('Control+k')
    await page.keyboard.type('keys')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Keys' })
    await dialog.waitFor()
    const before = page.url()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Home')
    expect(page.url()).toBe(before)
    await page.keyboard.press('Escape')
    // The next key comes before the browser tells that the dialog has closed.
    await page.keyboard.press('?')
    await dialog.waitFor()
    await page.evaluate(() => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen))))
    expect(await dialog.isVisible()).toBe(true)
  })
})

it('times are shown in the zone that a person chooses, also after a reload', async () => {
  const page = await browser.page()
  await served.open(page, `/runs/${run}?view=compact`)
  const first = page.locator('.event span').nth(1)
  await expect.poll(() => first.innerText()).toMatch(/^\d\d:\d\d:\d\d$/)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: /^A screen/ }).waitFor()
  await page.keyboard.type('tokyo')
  await page.getByRole('option', { name: 'Times in Asia/Tokyo' }).waitFor()
  await page.keyboard.press('Enter')
  const { events } = await served.ask<{ events: { timestamp: string }[] }>('GET', `/v1/runs/${run}/events?limit=1`)
  const at = (timeZone: string) => new Date(events[0]!.timestamp).toLocaleTimeString('en-GB', { timeZone })
  await expect.poll(() => first.innerText()).toBe(at('Asia/Tokyo'))
  await page.reload()
  await expect.poll(() => first.innerText()).toBe(at('Asia/Tokyo'))
  await page.locator('summary', { hasText: 'ada' }).click()
  await page.getByRole('button', { name: /^Times: Asia\/Tokyo/ }).click()
  await page.getByRole('button', { name: /^Times: local time/ }).click()
  await expect.poll(() => first.innerText()).toBe(at('UTC'))
})

describe('a view', () => {
  it('is copied as a command, as curl and as a link', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: served.url })
    await served.open(page, `/runs/${run}?at=3`)
    await page.locator('.card').first().waitFor()
    await page.keyboard.press('y')
    const copied = async (name: string) => {
      await page.getByRole('button', { name: `Copy as ${name}` }).click()
      await page.getByText('copied').first().waitFor()
      return page.evaluate(() => navigator.clipboard.readText())
    }
    expect(await copied('keepup')).toBe(`keepup replay ${run} --event 3`)
    expect(await copied('curl')).toContain(`${served.url}/v1/runs/${run}/state?event=3`)
    expect(await copied('link')).toBe(`${served.url}/runs/${run}?at=3`)
    expect(found).toEqual([])
  })

  const of = (path: string) => waysTo(new URL(path, 'http://localhost:7433'))
  it.each([
    [
      '/?status=failed&text=it%27s',
      "keepup runs list --status failed --text 'it'\\''s'",
      '/v1/runs?status=failed&text=it%27s',
    ],
    ['/inbox', 'keepup approvals', '/v1/approvals'],
    ['/documents/abc', 'keepup docs show abc', '/v1/documents/abc'],
    ['/runs/r1?agent=r2&at=7', 'keepup replay r1 --event 7 --agent r2', '/v1/runs/r1/state?event=7&agent=r2'],
    ['/compare?a=r1&b=r2', 'keepup diff r1 r2', '/v1/runs/r1/compare?with=r2'],
    ['/compare?a=r1:2&b=r1:3', 'keepup diff r1 r1:2 r1:3', '/v1/runs/r1/diff?a=r1%3A2&b=r1%3A3'],
    ['/numbers?since=1w', 'keepup cost --by day --since 1w', '/v1/cost?by=day&since=1w'],
    ['/numbers?tab=calls&since=all', 'keepup numbers', '/v1/numbers'],
    ['/audit?sql=select+1', "keepup sql 'select 1'", '/v1/sql'],
    ['/audit?tab=proof&run=r1', 'keepup verify r1', '/v1/runs/r1/verify'],
    ['/proof', 'keepup call getProofStatus', '/v1/proof/status'],
    ['/pack', 'keepup pack --check FILE', '/v1/packs?run=RUN'],
    ['/access', 'keepup access list', '/v1/access/principals'],
    ['/access?tab=keys&principal=ann', 'keepup access keys ann', '/v1/access/keys?principal=ann'],
    ['/access?tab=rules', 'keepup access show', '/v1/access'],
    ['/access?tab=uses', "keepup sql 'select * from access_uses order by revision'", '/v1/sql'],
    ['/retention', 'keepup retention', '/v1/retention'],
    ['/retention?tab=holds', 'keepup hold list', '/v1/holds'],
    ['/retention?tab=holds&all=true', 'keepup hold list --all', '/v1/holds?all=true'],
    ['/webhooks', 'keepup webhooks', '/v1/webhooks'],
    ['/health', 'keepup doctor', '/v1/doctor'],
    ['/proof?tab=verify', 'keepup verify', '/v1/proof/verify'],
    ['/audit?tab=log&stream=agent-r1', null, '/v1/streams/agent-r1/events'],
  ])('%s is %s', (path, keepup, request) => {
    const found = of(path)
    expect(found.keepup).toBe(keepup)
    expect(found.curl).toContain(`http://localhost:7433${request}`)
  })

  it('is a word of a shell, whatever it holds', () => {
    const { keepup } = of(`/?text=${encodeURIComponent('$(rm -rf ~); `x` "y" \'z\'\n')}`)
    expect(keepup).toBe("keepup runs list --text '$(rm -rf ~); `x` \"y\" '\\''z'\\''\n'")
  })
})
