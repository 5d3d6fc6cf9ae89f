import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'
import { violations } from '../../support/browser/violations.ts'
import { Puppet } from '../../support/external/in-process.ts'
import { HAND, treeSpec } from '../../support/tree/plans.ts'
import { Recorded } from '../../support/tree/recorded.ts'
import { play, ROOT } from '../../support/tree/walk.ts'

// A run of several agents, and a run of another agent.

/** The name of a role, which a person or a file has given. */
const EVIL = '<img src=x onerror=globalThis.hit=1>\u202E\u001b[31m'
const EVIL_HAND = { ...HAND, name: EVIL }

const browser = useBrowser()
const puppet = new Puppet()
let served: Served
let ids: string[]
beforeAll(async () => {
  served = await serve({ agents: [puppet.backend] })
  const leaf = { rounds: [{ children: [], looks: 1 }], ends: 'completes' } as const
  const parent = { rounds: [{ children: [leaf], looks: 0 }], ends: 'completes' } as const
  const recorded = new Recorded({ startsAt: Date.now() + 1_000 })
  const spec = treeSpec({
    budget: { tokens: 200_000, nanoDollars: null },
    policy: { mode: 'batch', requiresApproval: ['look'] },
    role: EVIL_HAND,
  })
  const agents = play(
    { rounds: [{ children: [parent], looks: 0 }], ends: 'completes' },
    spec,
    [],
    undefined,
    {},
    recorded,
  )
  await recorded.into(served.backend.services.log)
  ids = [...agents.streams].sort(([, a], [, b]) => a.state.depth - b.state.depth).map(([id]) => id)
})
afterAll(() => served.close())

describe('a run of several agents', () => {
  it('shows each one with how it stands, and the one that is chosen', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, `/runs/${ROOT}`)
    const agents = page.locator('.agents button[title]')
    await expect.poll(() => agents.count()).toBe(3)
    expect(await agents.nth(2).innerText()).toMatch(/Hand\s+asks[\s\S]*active, waits: approval/)
    expect(await agents.nth(0).locator('.budget').first().getAttribute('title')).toMatch(
      /tokens: .* of 200,000, .* reserved/,
    )
    expect(await agents.nth(2).locator('.agent-task').innerText()).toBe('0:0.0:0')
    await agents.nth(2).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('agent')).toBe(ids[2])
    await expect.poll(() => agents.nth(2).getAttribute('aria-current')).toBe('true')
    await expect.poll(() => page.locator('.timeline').innerText()).toContain('asks a person')
    expect(found).toEqual([])
  })

  it('is folded below an agent, and unfolded again', async () => {
    const page = await browser.page()
    await served.open(page, `/runs/${ROOT}`)
    const agents = page.locator('.agents button[title]')
    const fold = page.getByRole('button', { name: /^1 agent below/ })
    await fold.click()
    await expect.poll(() => agents.count()).toBe(2)
    expect(await fold.getAttribute('aria-expanded')).toBe('false')
    await fold.click()
    await expect.poll(() => agents.count()).toBe(3)
  })

  it.each(['light', 'dark'] as const)('is drawn on one time axis, in the %s theme', async (theme) => {
    const page = await browser.page()
    await page.emulateMedia({ colorScheme: theme })
    const found = troubles(page)
    await served.open(page, `/runs/${ROOT}?view=agents`)
    const lanes = page.locator('.lane')
    await expect.poll(() => lanes.count()).toBe(3)
    // Both delegations touch the lane of the middle agent. No agent has ended.
    await expect.poll(() => lanes.nth(1).locator('.link-delegation').count()).toBe(2)
    await expect.poll(() => lanes.nth(0).locator('.lane-bar.bar-children').count()).toBe(1)
    const asks = lanes.nth(2).getByRole('button', { name: /waits for an approval, event/ })
    await asks.waitFor()
    expect(await violations(page)).toEqual([])
    await asks.click({ force: true })
    await expect.poll(() => new URL(page.url()).searchParams.get('agent')).toBe(ids[2])
    await expect.poll(() => page.locator('.detail h2').innerText()).toMatch(/approval_requested/)
    expect(found).toEqual([])
  })

  it('shows which agents lived at the position, and leads to the last event of another one by then', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, `/runs/${ROOT}?at=0`)
    const agents = page.locator('.agents button[title]')
    await expect.poll(() => agents.nth(1).innerText()).toContain('not yet born here')
    expect(await agents.nth(0).innerText()).toContain('active · turn 0, step 0')
    // When the last one is born, those above it wait for it; one that is looked at shows its last event by then.
    await page.goto(`${served.url}/runs/${ROOT}?agent=${ids[2]}&at=0`)
    await expect.poll(() => agents.nth(1).innerText()).toMatch(/active · turn 1, step \d+/)
    expect(await agents.nth(2).innerText()).toContain('active · turn 0, step 0')
    await agents.nth(1).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('agent')).toBe(ids[1])
    expect(Number(new URL(page.url()).searchParams.get('at'))).toBeGreaterThan(0)
    await expect.poll(() => agents.nth(2).innerText()).toContain('not yet born here')
    await page.getByRole('button', { name: 'to the end' }).click()
    await expect.poll(() => agents.nth(2).innerText()).toContain('waits: approval')
    expect(found).toEqual([])
  })

  it.each(['light', 'dark'] as const)('breaks no rule of axe at a position, in the %s theme', async (theme) => {
    const page = await browser.page()
    await page.emulateMedia({ colorScheme: theme })
    await served.open(page, `/runs/${ROOT}?at=0`)
    const agents = page.locator('.agents button[title]')
    await expect.poll(() => agents.nth(1).innerText()).toContain('not yet born here')
    const found = await violations(page)
    await page.goto(`${served.url}/runs/${ROOT}?agent=${ids[2]}&at=0&tab=state`)
    await expect.poll(() => agents.nth(1).innerText()).toMatch(/active · turn 1, step \d+/)
    await expect.poll(() => page.getByText('loading …').count()).toBe(0)
    expect([...found, ...(await violations(page))]).toEqual([])
  })

  it('is walked by keyboard at a position', async () => {
    const page = await browser.page()
    await served.open(page, `/runs/${ROOT}?agent=${ids[2]}&at=0`)
    const agents = page.locator('.agents button[title]')
    await expect.poll(() => agents.nth(1).innerText()).toMatch(/active · turn 1, step \d+/)
    await page.getByRole('link', { name: 'To the content' }).focus()
    const isOn = () => agents.nth(1).evaluate((one) => one === document.activeElement)
    for (let i = 0; i < 80 && !(await isOn()); i++) await page.keyboard.press('Tab')
    expect(await isOn()).toBe(true)
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).searchParams.get('agent')).toBe(ids[1])
    await expect.poll(() => agents.nth(2).innerText()).toContain('not yet born here')
    // The same agent has the focus, and the position goes on from its last event by then.
    expect(await isOn()).toBe(true)
    const at = () => Number(new URL(page.url()).searchParams.get('at'))
    const before = at()
    await page.keyboard.press(',')
    await expect.poll(at).toBe(before - 1)
    await page.keyboard.press('Home')
    await expect.poll(at).toBe(0)
    await expect.poll(() => agents.nth(1).innerText()).toContain('turn 0, step 0')
  })

  it('shows names of roles as text, at a position too', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, `/runs/${ROOT}?at=0`)
    const pane = page.locator('.tree')
    for (const way of ['?at=0', `?agent=${ids[2]}&at=0`, '']) {
      await page.goto(`${served.url}/runs/${ROOT}${way}`)
      await expect.poll(() => pane.innerText()).toContain('<img src=x onerror=globalThis.hit=1>‹U+202E›')
      expect(await pane.innerText()).not.toMatch(/[\u001b\u202E]/)
    }
    expect(await pane.locator('img').count()).toBe(0)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    expect(wide).toBe(0)
    expect(await page.evaluate(() => 'hit' in globalThis)).toBe(false)
    expect(found).toEqual([])
  })

  it('leads from an approval to the agent that asks, through those above it', async () => {
    const page = await browser.page()
    await served.open(page, '/inbox')
    const way = page.locator('.ask .way')
    await expect.poll(() => way.innerText()).toMatch(/› Hand › Hand$/)
    await way.locator('a').last().click()
    await expect.poll(() => page.url()).toContain(`/runs/${ROOT}?agent=${ids[2]}`)
  })
})

it('a run of another agent is marked, and shows what it did and its proof', async () => {
  const page = await browser.page()
  const found = troubles(page)
  const body = { agent: 'fake', task: 'go', workspace: served.workspace() }
  const { runId } = await served.ask<{ runId: string }>('POST', '/v1/runs', body)
  await served.open(page, `/runs/${runId}?tab=state`)
  await expect.poll(() => page.locator('.agents').innerText()).toMatch(/fake\s+ungoverned/)
  const call = {
    kind: 'ToolCall',
    message: 'Bash',
    data: { id: 'a', name: 'Bash', input: { command: 'npm test' } },
  } as const
  const result = { kind: 'ToolResult', data: { id: 'a', success: false, output: 'one failed' } } as const
  await puppet.emit({ events: [call, result] })
  await puppet.text('hello <b>there</b>')
  await expect.poll(() => page.locator('.timeline').innerText()).toContain('hello')
  const reported = page.locator('.reported')
  await expect.poll(() => reported.locator('summary').innerText()).toBe('✗ Bash npm test')
  await reported.locator('summary').click()
  await expect.poll(() => reported.innerText()).toContain('one failed')
  puppet.exit()
  await expect.poll(() => page.locator('.timeline').innerText()).toContain('<b>there</b>')
  await expect.poll(() => page.locator('.timeline').innerText()).toContain('external ended')
  expect(await page.getByRole('tab', { name: 'State' }).count()).toBe(0)
  await page.getByRole('tab', { name: 'Proof' }).click()
  await page.getByRole('button', { name: 'Verify the run' }).click()
  await expect.poll(() => page.locator('.detail').innerText()).toContain('The proof holds')
  expect(await page.locator('.fault').count()).toBe(0)
  expect(found).toEqual([])
})
