import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'
import { violations } from '../../support/browser/violations.ts'
import { freshFolders } from '../../support/folders.ts'

// The tasks, messages and variables of an agent whose model writes what it likes into them.

const EVIL = '<img src=x onerror="globalThis.hit=1"><script>globalThis.hit=1</script>\u202E'
const SHOWN = '<script>globalThis.hit=1</script>‹U+202E›'
const browser = useBrowser()
const folders = freshFolders()
let served: Served
let run = ''
let events: { type: string; revision: number }[] = []
beforeAll(async () => {
  served = await serve()
  const model = join(folders.base, 'tasks.json')
  const turn = (tool: string, args: object) => ({ text: `uses ${tool}`, calls: [{ tool, arguments: args }] })
  const turns = [
    turn('update_tasks', { tasks: [{ id: 'one', title: `read ${EVIL}` }] }),
    turn('update_tasks', { tasks: [{ id: 'two', title: 'write', dependencies: ['one'] }] }),
    turn('update_tasks', { tasks: [{ id: 'one', status: 'completed' }] }),
    turn('set_context', { key: `key ${EVIL}`, value: EVIL }),
    turn('publish', { topic: `news ${EVIL}`, payload: { text: EVIL } }),
    turn('complete_task', { summary: 'done' }),
  ]
  writeFileSync(model, JSON.stringify({ script: 1, model: 'tasks', turns }))
  run = await served.driven('keep tasks', { model: `scripted:${model}`, workspace: served.workspace() })
  events = (await served.ask<{ events: typeof events }>('GET', `/v1/runs/${run}/events?limit=500`)).events
})
afterAll(async () => {
  await served.close()
  folders.remove()
})

const allOf = (type: string) => events.filter((event) => event.type === type).map(({ revision }) => revision)
const place = (page: Page) => Number(new URL(page.url()).searchParams.get('at'))

/** Presses the tabulator until a control of this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let i = 0; i < 200; i++) {
    await page.keyboard.press('Tab')
    const label = await page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '')
    if (label.startsWith(name)) return
  }
  throw new Error(`the tabulator does not come to "${name}"`)
}

it('each task leads to the event that last wrote it, by keyboard, as they stood at the position', async () => {
  const page = await browser.page()
  const found = troubles(page)
  const [first, second, third] = allOf('tasks_updated')
  await served.open(page, `/runs/${run}?tab=state`)
  const tasks = page.locator('.detail li', { hasText: 'Who wrote this?' })
  await expect.poll(() => tasks.allInnerTexts()).toHaveLength(2)
  expect(await tasks.nth(0).innerText()).toContain(SHOWN)
  expect(await tasks.nth(1).innerText()).toContain('pending, after one')
  await tabTo(page, 'Who wrote this? task one')
  await page.keyboard.press('Enter')
  await expect.poll(() => place(page)).toBe(third)
  await page.goto(`${served.url}/runs/${run}?tab=state&at=${second}`)
  await expect.poll(() => tasks.count()).toBe(2)
  await tabTo(page, 'Who wrote this? task one')
  await page.keyboard.press('Enter')
  await expect.poll(() => place(page)).toBe(first)
  expect(found).toEqual([])
})

it('a variable leads to the event that wrote it, and not to one of a later value', async () => {
  const page = await browser.page()
  await served.open(page, `/runs/${run}?tab=state`)
  await tabTo(page, 'Who wrote this? key <img')
  await page.keyboard.press('Enter')
  await expect.poll(() => place(page)).toBe(allOf('context_set')[0])
  await page.goto(`${served.url}/runs/${run}?tab=state&at=${allOf('context_set')[0]! - 1}`)
  await page.locator('.detail h2', { hasText: 'After event' }).waitFor()
  expect(await page.getByRole('button', { name: 'Who wrote this? key <img' }).count()).toBe(0)
})

it.each(['light', 'dark'] as const)(
  'what a model writes stays text, within the rules of axe, in the %s theme',
  async (theme) => {
    const page = await browser.page()
    const found = troubles(page)
    await page.emulateMedia({ colorScheme: theme })
    await served.open(page)
    const [message] = allOf('message_distributed')
    for (const [query, text] of [
      ['tab=state', SHOWN],
      [`tab=event&at=${message}`, 'news'],
      [`tab=raw&at=${message}`, SHOWN.slice(0, 20)],
    ] as const) {
      await page.goto(`${served.url}/runs/${run}?${query}`)
      await expect.poll(() => page.locator('.detail').innerText()).toContain(text)
      await expect.poll(() => page.getByText('loading …').count()).toBe(0)
      expect(await page.locator('.panes :is(script, img, iframe)').count()).toBe(0)
      expect(await page.locator('.panes').innerText()).not.toContain('\u202E')
      expect(await violations(page)).toEqual([])
    }
    expect(await page.evaluate(() => 'hit' in globalThis)).toBe(false)
    expect(found).toEqual([])
  },
)
