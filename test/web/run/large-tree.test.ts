import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'

// All agents of a large tree on one time axis: 50 agents with 5,000 turns each, and more messages than a page of the API. The
// server's answers are given by the test, because a real run of this size takes too long; the page draws them.

const AGENTS = 50
const TURNS = Number(process.env.WEB_TURNS ?? 5_000)
const MESSAGES = 2_000
const MOST_NODES = 8_000
const BIRTH = Date.UTC(2026, 0, 1)
const TURN_MS = 4_000

const browser = useBrowser()
let served: Served
beforeAll(async () => {
  served = await serve()
})
afterAll(() => served.close())

const NAMES = ['agent_started', 'turn_start', 'model_call_start', 'model_call_end', 'tool_call_start', 'tool_call_end']

/** An outline: each turn asks the model and calls a tool. */
function outline() {
  const columns = { types: [0], turns: [0], times: [BIRTH], calls: [-1], sizes: [9] }
  for (let turn = 1; turn <= TURNS; turn++) {
    const began = BIRTH + turn * TURN_MS
    const after = [0, 100, 2_000, 2_100, 3_900]
    for (const [i, ms] of after.entries()) {
      columns.types.push(i + 1)
      columns.turns.push(turn)
      columns.times.push(began + ms)
      columns.calls.push(i > 2 ? 0 : -1)
      columns.sizes.push(9)
    }
  }
  return { from: 0, length: columns.types.length, inherited: null, names: NAMES, ...columns, failed: [5] }
}

async function largeTree(page: Page, runId: string): Promise<void> {
  const tree = await served.ask<{ agents: { agentId: string }[] }>('GET', `/v1/runs/${runId}/tree`)
  const root = tree.agents[0]!
  const at = (ms: number) => new Date(BIRTH + ms).toISOString()
  const idOf = (nth: number) => (nth === 0 ? runId : `${runId}${nth}`)
  const agents = Array.from({ length: AGENTS }, (_, nth) => ({
    ...{ ...root, agentId: idOf(nth), parentId: nth === 0 ? null : runId, depth: nth === 0 ? 0 : 1 },
    ...{ role: `Worker ${nth}`, turn: TURNS, createdAt: at(nth), completedAt: at((TURNS + 1) * TURN_MS) },
  }))
  const message = (nth: number) => ({
    ...{ id: `m${nth}`, from: idOf(nth % AGENTS), to: idOf((nth * 7 + 1) % AGENTS), receivedBy: [], type: 'event' },
    ...{ timestamp: at(nth * 9_000), preview: '1', status: 'received', reason: null, stream: 'x', revision: nth },
  })
  const json = (value: unknown) => ({ contentType: 'application/json', body: JSON.stringify(value) })
  const whole = json(outline())
  await page.route(/\/v1\/agents\/[^/]+\/outline/, (route) => route.fulfill(whole))
  await page.route(/\/v1\/runs\/[^/]+\/tree/, (route) => route.fulfill(json({ ...tree, agents })))
  await page.route(/\/v1\/runs\/[^/]+\/messages/, (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('after') ?? 0)
    const messages = Array.from({ length: Math.min(500, MESSAGES - from) }, (_, i) => message(from + i))
    const next = from + 500 < MESSAGES ? String(from + 500) : null
    return route.fulfill(json({ position: '0', messages, next }))
  })
}

/** The 95th percentile of the frames while the lanes are scrolled from the first to the last, ms. */
const scrolled = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    const box = document.querySelector('section[aria-label="Agents by time"]')!
    box.dispatchEvent(new WheelEvent('wheel'))
    const frames: number[] = []
    let before = performance.now()
    for (let top = 0; top < box.scrollHeight; top += 30) {
      box.scrollTo(0, top)
      await new Promise(requestAnimationFrame)
      frames.push(performance.now() - before)
      before = performance.now()
    }
    box.scrollTo(0, 0)
    return frames.sort((a, b) => a - b)[Math.floor(frames.length * 0.95)]!
  })

it('a tree of 50 agents with 5,000 turns each is drawn with few nodes, says what is left out, and offers it', async () => {
  const runId = await served.driven('finish a large tree')
  const page = await browser.page()
  await page.setViewportSize({ width: 1440, height: 900 })
  const found = troubles(page)
  await served.open(page)
  await largeTree(page, runId)
  const began = performance.now()
  await page.goto(`${served.url}/runs/${runId}?view=agents`)
  const lanes = page.locator('.lane')
  await expect.poll(() => lanes.count()).toBeGreaterThan(10)
  await expect.poll(() => lanes.last().locator('.lane-bar').count(), { timeout: 60_000 }).toBeGreaterThan(20)
  const opened = performance.now() - began
  // The first tool call of each agent failed. The sign is drawn beside the colour, and the name says so.
  const failed = lanes.first().locator('.lane-bar.failed')
  expect(await failed.getAttribute('aria-label')).toMatch(/: [\d,]+ × tool call, 1 failed, event 5$/)
  expect(await failed.evaluate((bar) => getComputedStyle(bar, '::after').content)).toContain('✗')
  const nodes = () => page.evaluate(() => document.querySelectorAll('*').length)
  const notices = page.locator('.family-notice')
  await expect.poll(() => notices.first().innerText()).toMatch(/calls and waits are drawn as .* bars/)
  await expect.poll(() => notices.last().innerText()).toContain('Only the first 500 messages are drawn')
  const atFirst = await nodes()
  await page.getByRole('button', { name: 'Draw up to 5,000' }).click()
  await expect.poll(() => page.getByText('Only the first 500 messages').count()).toBe(0)
  expect(await nodes()).toBeLessThanOrEqual(MOST_NODES)
  // The first pass loads the agents.
  const loading = await scrolled(page)
  const frame = await scrolled(page)
  console.log(
    `${AGENTS} agents with ${TURNS} turns each: drawn in ${Math.round(opened)} ms, ${atFirst} nodes, with all messages ` +
      `${await nodes()}; frame p95 while scrolled ${Math.round(loading)} ms at first, then ${Math.round(frame)} ms`,
  )
  // A bar that stands for several calls leads to them.
  const several = lanes.first().locator('.bar-tool.several')
  // The list draws the first lane again after it is scrolled back to the top.
  await expect.poll(() => several.count(), { timeout: 60_000 }).toBeGreaterThan(20)
  const whole = page.getByRole('button', { name: 'Show the whole time' })
  const enlarged = async () => {
    const count = await several.count()
    if (count === 0) return whole.isVisible()
    // A bar can be narrower than a pixel, so a click at its place can hit the next one.
    await several.nth(Math.floor(count / 2)).dispatchEvent('click')
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
    return false
  }
  await expect.poll(enlarged, { timeout: 60_000 }).toBe(true)
  expect(await lanes.first().locator('.bar-tool').count()).toBeGreaterThan(1)
  await whole.click()
  await expect.poll(() => several.count()).toBeGreaterThan(20)
  expect(found).toEqual([])
})
