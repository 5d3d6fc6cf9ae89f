import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'

const browser = useBrowser()
let served: Served
beforeAll(async () => {
  served = await serve()
})
afterAll(() => served.close())

const at = (page: Page) => new URL(page.url()).searchParams.get('at')
const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true }).click()

interface Events {
  events: { type: string; revision: number; turn: number; toolCallId?: string }[]
}
const eventsOf = async (id: string) => (await served.ask<Events>('GET', `/v1/runs/${id}/events?limit=500`)).events

/** The revisions that make steps. */
const stepsOf = (events: Events['events']) =>
  events.filter(({ type }) => type === 'tool_call_end' || type === 'turn_end').map(({ revision }) => revision)

describe('a run', () => {
  it('shows turns, what was said, and each event in every view', async () => {
    const page = await browser.page()
    const found = troubles(page)
    const id = await served.driven('write hello', { workspace: served.workspace(), approve: ['write_file'] })
    const events = await eventsOf(id)
    await served.open(page, `/runs/${id}`)
    await expect.poll(() => page.locator('.turn').count()).toBe(2)
    await expect.poll(() => page.locator('.timeline').innerText()).toContain('write approved')
    await tab(page, 'Events')
    await expect.poll(() => page.locator('.event').count()).toBe(events.length)
    expect(await page.locator('.event .type').allTextContents()).toEqual(events.map(({ type }) => type))
    await tab(page, 'Waterfall')
    const work = events.filter(({ type }) => /^(?:model|tool)_call_start$/.test(type))
    await expect.poll(() => page.locator('.work').count()).toBe(work.length)
    expect(found).toEqual([])
  })

  it('marks a command that ended with an exit code other than 0 in the waterfall, by colour and by a sign', async () => {
    const page = await browser.page()
    const tools = ['run_command']
    const more = { workspace: served.workspace(), tools, approve: tools, policy: { mode: 'batch', sandboxed: false } }
    await served.open(page, `/runs/${await served.driven('broken', more)}?view=waterfall`)
    const command = page.locator('.work', { hasText: 'run_command' })
    await expect.poll(() => command.innerText()).toContain('✗')
    expect(await command.locator('.bar-bad').count()).toBe(1)
    // The call that completes the task has not failed.
    expect(await page.locator('.work .bar-bad').count()).toBe(1)
  })

  it('shows input, output, state, difference, raw event, request and proof of a call', async () => {
    const page = await browser.page()
    const found = troubles(page)
    const workspace = served.workspace()
    const more = { workspace, approve: ['write_file'], contextVariables: { ticket: 42 } }
    const id = await served.driven('write hello', more)
    const events = await eventsOf(id)
    const end = events.find(({ type }) => type === 'tool_call_end')!
    await served.open(page, `/runs/${id}?at=${end.revision}`)
    const detail = page.locator('.detail')
    await expect.poll(() => detail.innerText()).toMatch(/Input of write_file[\s\S]*hello\.txt[\s\S]*Output/)
    const decision = detail.getByLabel('Decision')
    await expect.poll(() => decision.innerText()).toMatch(/standing approval[\s\S]*rule\s+write_file[\s\S]*decided at/)
    await tab(page, 'State')
    await expect.poll(() => detail.innerText()).toMatch(/After event \d+[\s\S]*OBSERVATION|TOOL_WAIT/)
    expect(await detail.innerText()).toContain('ticket')
    const wrote = async (what: string) => {
      await page.goto(`${served.url}/runs/${id}?at=${end.revision}&tab=state`)
      await page.getByRole('button', { name: `Who wrote this? ${what}` }).click()
      await expect.poll(() => new URL(page.url()).searchParams.get('tab')).toBe(null)
      return Number(at(page))
    }
    const lastOf = (type: string) =>
      events.findLast((event) => event.type === type && event.revision <= end.revision)!.revision
    expect(await wrote('ticket')).toBe(0)
    expect(await wrote('phase')).toBe(0)
    expect(await wrote('turn')).toBe(lastOf('turn_start'))
    expect(await wrote('money')).toBe(lastOf('model_call_end'))
    expect(await wrote('step')).toBe(end.revision)
    expect(await wrote(end.toolCallId!)).toBe(end.revision)
    await page.goto(`${served.url}/runs/${id}?call=${end.toolCallId}`)
    await expect.poll(() => at(page)).toBe(String(end.revision))
    await page.goto(`${served.url}/runs/${id}?at=${end.revision}&tab=diff`)
    await expect.poll(() => detail.innerText()).toContain('+hello')
    await tab(page, 'Raw')
    await expect.poll(() => detail.innerText()).toContain('"type": "tool_call_end"')
    await tab(page, 'Request')
    await expect.poll(() => detail.innerText()).toContain('What the model saw in turn 1')
    await expect.poll(() => detail.innerText()).toContain('Attempt 1')
    await expect.poll(() => detail.locator('.message.user').first().innerText()).toContain('write hello')
    await page.goto(`${served.url}/runs/${id}?tab=request`)
    await expect.poll(() => detail.innerText()).toContain('What the model saw in turn 2')
    await expect.poll(() => detail.locator('.message.tool').innerText()).toMatch(/result of write_file\s*new\s/)
    expect(await detail.locator('.message.user').first().innerText()).not.toContain('new')
    await detail.getByLabel('as sent (JSON)').check()
    await expect.poll(() => detail.locator('.messages').count()).toBe(0)
    await tab(page, 'Proof')
    await page.getByRole('button', { name: 'Verify the run' }).click()
    await expect.poll(() => detail.innerText()).toContain('The proof holds')
    expect(found).toEqual([])
  })

  it('that does not exist says so', async () => {
    const page = await browser.page()
    await served.open(page)
    await page.goto(`${served.url}/runs/nothing`)
    await expect.poll(() => page.locator('.notice').innerText()).toContain('cannot be shown')
  })
})

describe('the position', () => {
  it('is one for the page and stands in its address: by step, turn, ends, number and play', async () => {
    const page = await browser.page()
    const found = troubles(page)
    const id = await served.driven('write hello', { workspace: served.workspace(), approve: ['write_file'] })
    const events = await eventsOf(id)
    const steps = stepsOf(events)
    await served.open(page, `/runs/${id}?tab=state`)
    const state = page.locator('.detail h2')
    const isAt = async (revision: number | null) => {
      await expect.poll(() => at(page)).toBe(revision === null ? null : String(revision))
      await expect.poll(() => state.innerText()).toBe(`After event ${revision ?? events.length - 1}`)
    }
    await isAt(null)
    await page.keyboard.press('Home')
    await isAt(0)
    for (const step of steps.slice(0, 3)) {
      await page.keyboard.press('ArrowRight')
      await isAt(step)
    }
    await page.keyboard.press('ArrowLeft')
    await isAt(steps[1]!)
    const turns = events.filter(({ type }) => type === 'turn_start').map(({ revision }) => revision)
    await page.keyboard.press('Home')
    await page.keyboard.press('Shift+ArrowRight')
    await isAt(turns[0]!)
    await page.keyboard.press('Shift+ArrowRight')
    await isAt(turns[1]!)
    await page.keyboard.press('Shift+ArrowLeft')
    await isAt(turns[0]!)
    await page.keyboard.press('.')
    await isAt(turns[0]! + 1)
    await page.keyboard.press(',')
    await isAt(turns[0]!)
    for (const [typed, revision] of [
      ['s2', steps[1]!],
      ['t2', turns[1]!],
      ['5', 5],
    ] as const) {
      await page.keyboard.press('g')
      await page.keyboard.type(typed)
      await page.keyboard.press('Enter')
      await isAt(revision)
    }
    await page.keyboard.press('End')
    await isAt(null)
    await page.keyboard.press('Home')
    await isAt(0)
    await page.keyboard.press('p')
    await isAt(null)
    expect(found).toEqual([])
  })

  it('is dragged, and a shared address opens there', async () => {
    const page = await browser.page()
    const id = await served.driven('write hello', { workspace: served.workspace(), approve: ['write_file'] })
    const last = (await eventsOf(id)).length - 1
    await served.open(page, `/runs/${id}?tab=state`)
    const strip = page.getByRole('slider')
    await expect.poll(() => strip.getAttribute('aria-valuemax')).toBe(String(last))
    const box = (await strip.boundingBox())!
    await page.mouse.move(box.x + box.width - 1, box.y + 8)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width / 2, box.y + 8, { steps: 8 })
    await page.mouse.up()
    const middle = Math.round(last / 2)
    await expect.poll(() => Math.abs(Number(at(page)) - middle)).toBeLessThanOrEqual(1)
    const place = at(page)
    const other = await page.context().newPage()
    await other.goto(page.url())
    await expect.poll(() => other.locator('.detail h2').innerText()).toBe(`After event ${place}`)
  })
})
