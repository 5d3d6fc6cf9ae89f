import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'
import { violations } from '../../support/browser/violations.ts'

const browser = useBrowser()
let served: Served
let run = ''
beforeAll(async () => {
  served = await serve({ settings: { sandboxed: false } })
  const tools = ['read_file', 'write_file', 'search_code', 'run_command']
  const approve = ['write_file', 'run_command']
  run = await served.driven('a story', { workspace: served.workspace(), approve, policy: { mode: 'batch' }, tools })
})
afterAll(() => served.close())

const card = (page: Page, text: string) => page.locator('.call-card', { hasText: text })

it('a run reads as turns, prose and one line per call', async () => {
  const page = await browser.page()
  const found = troubles(page)
  await served.open(page, `/runs/${run}?at=0`)
  const turns = page.locator('.turn-card')
  await expect
    .poll(() => turns.first().innerText())
    .toMatch(/Turn 1[\s\S]*test-script[\s\S]*I look at the tests first\./)
  expect(await turns.count()).toBe(3)
  await expect.poll(() => card(page, 'read_file').innerText()).toMatch(/✓\s*read_file\s*sum\.ts\s*1 line/)
  await expect.poll(() => card(page, 'search_code').innerText()).toMatch(/✓\s*search_code\s*sum\s*1 match/)
  expect(await page.locator('.call-card').count()).toBe(6)
  expect(found).toEqual([])
})

it('a command that ends with exit code 1 is red and shows its last words', async () => {
  const page = await browser.page()
  await served.open(page, `/runs/${run}?at=0`)
  const command = card(page, 'run_command')
  await expect.poll(() => command.innerText()).toMatch(/✗\s*run_command[\s\S]*exit 1/)
  expect(await command.locator('.why').innerText()).toBe('no')
  expect(await command.locator('.sign').getAttribute('class')).toContain('bad')
})

it('a call opens to a terminal, a difference, code or a list', async () => {
  const page = await browser.page()
  const found = troubles(page)
  await served.open(page, `/runs/${run}?at=0`)
  const open = async (text: string, nth = 0) => {
    await card(page, text).nth(nth).locator('.call-line').click()
    return card(page, text).nth(nth).locator('.call-view')
  }
  const terminal = await open('run_command')
  await expect.poll(() => terminal.innerText()).toMatch(/\$ printf[\s\S]*ok one[\s\S]*no[\s\S]*exit 1/)
  expect(await terminal.locator('.ansi-green').innerText()).toBe('ok')
  const change = await open('write_file', 1)
  await expect.poll(() => change.locator('.removed').allInnerTexts()).toEqual(['-export const sum = (a: number) => a'])
  await expect.poll(() => change.locator('.added .hljs-keyword').first().innerText()).toBe('export')
  const text = await open('read_file')
  await expect.poll(() => text.locator('.code-line').first().innerText()).toMatch(/^1\s+export const sum/)
  const matches = await open('search_code')
  await expect.poll(() => matches.innerText()).toContain('sum.ts:1')
  expect(await violations(page)).toEqual([])
  expect(found).toEqual([])
})

it('is printed whole: all rows with their content, and nothing else of the page', async () => {
  const page = await browser.page()
  const found = troubles(page)
  await page.setViewportSize({ width: 1160, height: 420 })
  await page.addInitScript(() => {
    globalThis.print = () => {
      const rows = [...document.querySelectorAll<HTMLElement>('.timeline .printed-row')]
      Object.assign(globalThis, { printed: rows.map((row) => row.innerText) })
    }
  })
  await served.open(page, `/runs/${run}?view=compact`)
  const drawn = page.locator('.event')
  await expect.poll(() => drawn.count()).toBeGreaterThan(5)
  const events = Number(await page.getByRole('slider').getAttribute('aria-valuemax')) + 1
  expect(await drawn.count()).toBeLessThan(events)
  await page.keyboard.press('Control+p')
  const printed = () => page.evaluate(() => (globalThis as never as { printed?: string[] }).printed ?? [])
  await expect.poll(async () => (await printed()).length).toBe(events)
  expect((await printed()).filter((row) => !/\w/.test(row.replace(/^\s*\d+\s+\w+/, '')))).toEqual([])
  await page.emulateMedia({ media: 'print' })
  expect(await page.locator('header.top').isVisible()).toBe(false)
  expect(await page.locator('.detail').isVisible()).toBe(false)
  const heights = await page.evaluate(() => [
    document.body.scrollHeight,
    document.querySelector('.timeline .virtual')!.scrollHeight,
  ])
  expect(heights[0]).toBeGreaterThanOrEqual(heights[1]!)
  expect(heights[1]).toBeGreaterThan(events * 10)
  await page.emulateMedia({ media: 'screen' })
  await page.evaluate(() => dispatchEvent(new Event('afterprint')))
  await expect.poll(() => page.locator('.printed-row').count()).toBe(0)
  await expect.poll(() => drawn.count()).toBeGreaterThan(5)
  expect(found).toEqual([])
})
