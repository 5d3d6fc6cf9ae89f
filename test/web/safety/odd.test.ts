import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'

// What a page meets beside the plain case: odd addresses, lost answers, short windows, parts of characters.

const browser = useBrowser()
let served: Served
let [done, paused] = ['', '']
beforeAll(async () => {
  served = await serve()
  done = await served.driven('write hello', { workspace: served.workspace(), approve: ['write_file'] })
  paused = await served.start('stall')
})
afterAll(() => served.close())

const at = (page: Page) => new URL(page.url()).searchParams.get('at')
const main = (page: Page) => page.locator('main').innerText()

describe('an address', () => {
  it.each([
    ['of no event of a stream', () => `/audit?tab=log&stream=agent-${done}&at=NaN`, 'In its run'],
    ['of a tab that there is not', () => '/audit?tab=nothing', 'Questions of auditors'],
    ['whose run is no well-formed text', () => '/runs/%E0%A4%A', 'This run cannot be shown'],
    ['of an agent of another run', () => `/runs/${done}?agent=${paused}`, 'is no agent of this run'],
    ['of no page', () => '/nothing', 'There is no such page'],
  ])('%s is answered in words', async (_, path, said) => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, path())
    await expect.poll(() => main(page)).toContain(said)
    expect(found).toEqual([])
  })

  it('is the title of its window, which tells how much waits', async () => {
    const page = await browser.page()
    await served.open(page, '/audit')
    await expect.poll(() => page.title()).toBe('Audit · keepup')
    const asks = await served.driven('ask me')
    await expect.poll(() => page.title()).toBe('(1) Audit · keepup')
    await page.goto(`${served.url}/runs/${done}`)
    await expect.poll(() => page.title()).toBe('(1) write hello · keepup')
    await served.ask('POST', `/v1/runs/${asks}/cancel`, { by: 'ada' })
    await expect.poll(() => page.title()).toBe('write hello · keepup')
  })

  it('goes back to where a value was looked at', async () => {
    const page = await browser.page()
    await served.open(page, `/runs/${done}?at=12&tab=state`)
    await page.getByRole('button', { name: /^Who wrote this\? money/ }).click()
    await expect.poll(() => at(page)).toBe('9')
    await page.goBack()
    await expect.poll(() => [at(page), new URL(page.url()).searchParams.get('tab')]).toEqual(['12', 'state'])
    await page.getByRole('button', { name: /^Who wrote this\? money/ }).waitFor()
  })
})

it('a link leads readers of screens past what stands on every screen', async () => {
  const page = await browser.page()
  await served.open(page, `/runs/${done}?at=3`)
  await page.locator('.card').first().waitFor()
  await page.locator('.skip').focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('content')
  expect(page.url()).toBe(`${served.url}/runs/${done}?at=3`)
})

it('a screen that cannot be drawn says so, is drawn again, and leaves the others alone', async () => {
  const page = await browser.page()
  const path = `**/v1/runs/${done}`
  await page.route(path, (route) => route.fulfill({ json: { run: null } }))
  await served.open(page, `/runs/${done}`)
  await expect.poll(() => main(page)).toContain('This screen cannot be drawn')
  await page.getByText('Oversight').click()
  await page.getByRole('link', { name: 'Audit' }).click()
  await expect.poll(() => main(page)).toContain('Questions of auditors')
  await page.goBack()
  await expect.poll(() => main(page)).toContain('This screen cannot be drawn')
  await page.unroute(path)
  await page.getByRole('button', { name: 'Draw it again' }).click()
  await expect.poll(() => page.locator('.run-head .status').innerText()).toContain('done')
})

it('events that cannot be read say why', async () => {
  const page = await browser.page()
  const path = '**/v1/agents/*/events?*'
  await page.route(path, (route) =>
    route.fulfill({ status: 409, json: { code: 'LOG_CORRUPT', status: 409, detail: 'event 3 was altered' } }),
  )
  await served.open(page, `/runs/${done}`)
  await expect.poll(() => page.locator('.fault').allTextContents()).toContain('event 3 was altered')
  await page.unroute(path)
  await page.goto(`${served.url}/runs/${done}`)
  await expect.poll(() => page.locator('.detail').innerText()).toContain('completion')
  expect(await page.locator('.fault').count()).toBe(0)
})

describe('a command', () => {
  it('whose answer was lost is the same one when it is sent again', async () => {
    const page = await browser.page()
    await served.open(page, `/runs/${paused}`)
    await page.getByRole('button', { name: 'Say (i)' }).click()
    await page.getByLabel('Say to the run').fill('only once')
    let lost = 0
    await page.route('**/input', async (route) => {
      await route.fetch()
      lost++
      await route.abort()
    })
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.outcome').innerText()).toContain('does not answer')
    expect(lost).toBe(1)
    await page.unroute('**/input')
    await page.getByRole('button', { name: 'Send' }).click()
    await expect.poll(() => page.locator('.outcome').innerText()).toContain('It is said')
    const { events } = await served.ask<{ events: { payload: { text: string } }[] }>(
      'GET',
      `/v1/runs/${paused}/events?type=user_input`,
    )
    expect(events.filter(({ payload }) => payload.text === 'only once')).toHaveLength(1)
  })

  it('says how it ended on its own screen only', async () => {
    const page = await browser.page()
    await served.open(page, `/runs/${paused}`)
    await page.getByRole('button', { name: 'Pause' }).click()
    await expect.poll(() => page.locator('.outcome').innerText()).toContain('Paused')
    await expect.poll(() => page.locator('.reasons').innerText()).toContain('It is paused: Resume lets it go on')
    await page.getByRole('link', { name: 'Inbox' }).click()
    await expect.poll(() => main(page)).toContain('Nothing waits')
    expect(await page.locator('.outcome').innerText()).toBe('')
  })
})

it('a long result is whole, also where a part of it ends within a character', async () => {
  const page = await browser.page()
  const workspace = served.workspace()
  // A line is 122 bytes: 65,536 lies within an é.
  const text = Array.from({ length: 150 }, () => `a${'é'.repeat(60)}\n`).join('')
  writeFileSync(join(workspace, 'long.txt'), text)
  const model = join(workspace, 'long.json')
  const turns = [
    { calls: [{ tool: 'read_file', arguments: { path: 'long.txt' } }] },
    { calls: [{ tool: 'complete_task', arguments: { summary: 'read' } }] },
  ]
  writeFileSync(model, JSON.stringify({ script: 1, model: 'long', turns }))
  const run = await served.driven('read it', { workspace, model: `scripted:${model}` })
  const { events } = await served.ask<{ events: { revision: number }[] }>(
    'GET',
    `/v1/runs/${run}/events?type=tool_call_end`,
  )
  // As of a tool that gives more than a file is read at once.
  const whole = Buffer.from(text.repeat(4))
  await page.route('**/v1/results/*', (route) => {
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(route.request().headers().range!)!
    const body = whole.subarray(Number(from), Number(to) + 1)
    const headers = { 'content-range': `bytes ${from}-${to}/${whole.length}` }
    return route.fulfill({ status: 206, headers, body })
  })
  await served.open(page, `/runs/${run}?at=${events[0]!.revision}`)
  await page.getByRole('button', { name: /^Show the whole result/ }).click()
  await page.getByRole('button', { name: 'Show more' }).click()
  await expect.poll(() => page.locator('.detail .whole').count()).toBe(2)
  const parts = await page.locator('.detail .whole').allTextContents()
  expect(parts.join('')).not.toContain('\uFFFD')
  expect(parts.join('')).toBe(whole.toString().slice(0, parts.join('').length))
})

it('a text that is found late is shown, though the first pages of runs hold none', async () => {
  const page = await browser.page()
  const list = await served.ask<{ runs: { runId: string }[] }>('GET', '/v1/runs')
  const one = list.runs.filter(({ runId }) => runId === done)
  await page.route(/\/v1\/runs\?.*text=hello/, (route) => {
    const asked = new URL(route.request().url()).searchParams
    if (asked.get('waiting') === 'people') return route.fulfill({ json: { ...list, runs: [], next: null } })
    const after = Number(asked.get('after') ?? 0)
    return route.fulfill({
      json: { ...list, ...(after < 3 ? { runs: [], next: `${after + 1}` } : { runs: one, next: null }) },
    })
  })
  await served.open(page, '/?text=hello')
  await expect.poll(() => page.locator('.run-task').allTextContents()).toEqual(['write hello'])
})

it('the tables name restores that have not ended, and agents that no process drives', async () => {
  const page = await browser.page()
  await page.route('**/v1/projections', async (route) => {
    const shown = await (await route.fetch()).json()
    const restore = {
      runId: done,
      agentId: done,
      step: 3,
      tree: 't',
      replaces: 'r',
      requestedAt: '2026-01-01T00:00:00Z',
    }
    const orphan = { agentId: 'lost', runId: paused, parentId: paused }
    await route.fulfill({ json: { ...shown, restoring: [restore], orphans: [orphan] } })
  })
  await served.open(page, '/audit?tab=tables')
  await expect.poll(() => main(page)).toMatch(/files may be half put back/)
  await page.getByRole('link', { name: new RegExp(`^${done}: step 3`) }).click()
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/runs/${done}`)
  await page.goBack()
  await expect
    .poll(() => page.getByRole('link', { name: 'lost' }).getAttribute('href'))
    .toBe(`/runs/${paused}?agent=lost`)
})

it('a small window shows how each run stands, and all keys', async () => {
  const page = await browser.page()
  await page.setViewportSize({ width: 390, height: 800 })
  await served.open(page)
  await page.locator('.run-row').first().waitFor()
  expect(await page.locator('.run-row .status').first().isVisible()).toBe(true)
  await page.keyboard.press('?')
  const help = page.locator('.help')
  await help.waitFor()
  expect(await help.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0)
})

it('a small window scrolls to the details of an event that a person chooses or that a link names', async () => {
  const page = await browser.page()
  await page.setViewportSize({ width: 390, height: 800 })
  await served.open(page, `/runs/${done}`)
  const top = () => page.locator('.pane.detail').evaluate((pane) => pane.getBoundingClientRect().top)
  await page.locator('.turn-card').first().waitFor()
  await page.getByRole('tab', { name: 'Proof' }).waitFor()
  expect(await page.locator('#content').evaluate((content) => content.scrollTop)).toBe(0)
  expect(await top()).toBeGreaterThan(600)
  await page.locator('.turn-card .link').first().click()
  await expect.poll(top).toBeLessThan(400)
  expect(new URL(page.url()).searchParams.get('at')).toMatch(/^\d+$/)
  await page.goto(`${served.url}/runs/${done}?tab=files`)
  await page.getByRole('tab', { name: 'Files' }).waitFor()
  await expect.poll(top).toBeLessThan(400)
})
