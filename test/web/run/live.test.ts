import { cpSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'
import { freshFolders } from '../../support/folders.ts'

const browser = useBrowser()
let served: Served
beforeAll(async () => {
  served = await serve({ settings: { sandboxed: false } })
})
afterAll(() => served.close())

/** Events that the page knows of. */
const length = async (page: Page) => Number(await page.getByRole('slider').getAttribute('aria-valuemax')) + 1
const headOf = async (id: string) =>
  (await served.ask<{ run: { revision: number } }>('GET', `/v1/runs/${id}`)).run.revision
const live = (page: Page) => expect.poll(() => page.locator('.connection').innerText()).toBe('live')

describe('a run that goes on', () => {
  it('is watched from its start to its end, with the text that its model writes', async () => {
    const page = await browser.page()
    const found = troubles(page)
    const workspace = served.workspace()
    await served.open(page, '/start')
    await live(page)
    await page.getByLabel('Task').fill('wait for the sign')
    await page.getByLabel('Folder').fill(workspace)
    await page.getByRole('button', { name: 'Start' }).click()
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/runs\/\w+$/)
    const id = new URL(page.url()).pathname.slice('/runs/'.length)
    await expect.poll(() => page.locator('.timeline').innerText()).toContain('thinking…')
    await expect.poll(() => page.locator('.run-head .status').innerText()).toContain('works')
    served.giveSign(workspace)
    await expect.poll(() => page.locator('.run-head .status').innerText()).toContain('done')
    await expect.poll(() => length(page)).toBe((await headOf(id)) + 1)
    expect(found).toEqual([])
  })

  it('shows an answer while it is written', async () => {
    const page = await browser.page()
    const id = await served.start('stall', { drive: false })
    await served.open(page, `/runs/${id}`)
    await live(page)
    const { live: hub } = served.backend.services
    await expect
      .poll(async () => {
        hub.publish({ kind: 'text', runId: id, agentId: id, turn: 1, text: 'once upon ' })
        return page.locator('.card.writing').count()
      })
      .toBe(1)
    hub.publish({ kind: 'text', runId: id, agentId: id, turn: 1, text: 'a time <b>' })
    await expect.poll(() => page.locator('.card.writing').innerText()).toContain('upon a time <b>')
  })
})

describe('a running call', () => {
  it('shows the output of its command as it comes, and what is recorded once it has ended', async () => {
    const page = await browser.page()
    const found = troubles(page)
    const workspace = served.workspace()
    const more = { workspace, tools: ['run_command'], approve: ['run_command'], policy: { mode: 'batch' } }
    const id = await served.start('narrate', more)
    await served.open(page, `/runs/${id}`)
    await live(page)
    const card = page.locator('.call-card')
    await expect.poll(() => card.locator('.live').innerText()).toContain('first line')
    expect(await card.locator('.sign').getAttribute('aria-label')).toBe('has not ended')
    served.giveSign(workspace)
    await expect.poll(() => card.locator('.sign').getAttribute('aria-label')).toBe('done')
    expect(await card.locator('.live').count()).toBe(0)
    await card.locator('.call-line').click()
    await expect.poll(() => card.locator('.terminal').innerText()).toMatch(/first line[\s\S]*last line[\s\S]*exit 0/)
    expect(found).toEqual([])
  })
})

describe('a person who is needed', () => {
  it('is told by the title, the icon, and a notice of the browser while the page is hidden', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await page.context().grantPermissions(['notifications'], { origin: served.url })
    await page.addInitScript(() => {
      const shown: string[] = []
      class Shown {
        static readonly permission = 'granted'
        static readonly requestPermission = async () => 'granted'
        constructor(title: string, { body }: { body: string }) {
          shown.push(`${title}: ${body}`)
        }
      }
      Object.assign(globalThis, { shown, Notification: Shown })
    })
    const shown = () => page.evaluate(() => (globalThis as never as { shown: string[] }).shown)
    const icon = () => page.locator('link[rel=icon]').getAttribute('href')
    await served.open(page)
    await live(page)
    await page.locator('header .person').click()
    await page.getByRole('button', { name: 'Notices of questions: off. Change it' }).click()
    await page.getByRole('button', { name: 'Notices of questions: on. Change it' }).waitFor()
    const before = Number(/^\((\d+)\)/.exec(await page.title())?.[1] ?? 0)
    await served.driven('ask me while the page is in view')
    await expect.poll(() => page.title()).toContain(`(${before + 1})`)
    expect(await icon()).toBe('/icon-asks.svg')
    expect(await shown()).toEqual([])
    await page.evaluate(() => Object.defineProperty(document, 'hidden', { value: true }))
    const id = await served.driven('ask me while nobody looks')
    await expect.poll(shown).toEqual(['keepup: a question waits for you: ask me while nobody looks'])
    await served.ask('POST', `/v1/runs/${id}/cancel`, { by: 'ada' })
    await expect.poll(() => page.title()).toContain(`(${before + 1})`)
    expect(found).toEqual([])
  })
})

describe('tabs', () => {
  it('share one connection to the stream of events, and all hear of what happens', async () => {
    const first = await browser.page()
    const before = served.streams()
    await served.open(first)
    await live(first)
    const tabs = [first]
    for (let i = 0; i < 3; i++) {
      const tab = await first.context().newPage()
      await tab.goto(served.url)
      await live(tab)
      tabs.push(tab)
    }
    expect(served.streams() - before).toBe(1)
    await served.driven('finish for all tabs')
    for (const tab of tabs) {
      const tasks = () => tab.locator('.run-task').allTextContents()
      await expect.poll(tasks).toContain('finish for all tabs')
    }
  })

  it('have a connection each where the browser shares no workers', async () => {
    const page = await browser.page()
    // The worker of the test before ends a moment after its pages.
    await expect.poll(() => served.streams()).toBe(0)
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'))
    await served.open(page)
    await live(page)
    expect(served.streams()).toBe(1)
    await served.driven('finish for a lone tab')
    await expect.poll(() => page.locator('.run-task').allTextContents()).toContain('finish for a lone tab')
  })
})

describe('a server that goes away', () => {
  it('is said, and what happened meanwhile is shown once it is back: nothing missing, nothing twice', async () => {
    const folders = freshFolders()
    const port = await freePort()
    const before = await serve({ data: folders.data, port })
    const page = await browser.page()
    const found = troubles(page)
    const workspace = before.workspace()
    const id = await before.start('wait for the sign', { workspace })
    await before.open(page, `/runs/${id}`)
    await live(page)
    await expect.poll(() => length(page)).toBeGreaterThan(20)
    await before.close({ keep: true })
    await expect.poll(() => page.locator('.connection').innerText()).toContain('not connected')
    const again = await serve({ data: folders.data, port })
    await again.ask('POST', `/v1/runs/${id}/input`, { text: 'said while the page looked away', by: 'ada' })
    await again.ask('POST', `/v1/runs/${id}/resume`, {})
    // The session outlives the process: the page goes on without a new link.
    await live(page)
    before.giveSign(workspace)
    await expect.poll(() => page.locator('.run-head .status').innerText()).toContain('done')
    const { run } = await again.ask<{ run: { revision: number } }>('GET', `/v1/runs/${id}`)
    await expect.poll(() => length(page)).toBe(run.revision + 1)
    // Each event stands at its own place: the page knows no event that the log does not, and lacks none.
    const shown = await page.evaluate(async () => {
      document.querySelectorAll<HTMLElement>('[role=tab]')[1]!.click()
      const box = () => document.querySelector('section[aria-label="Events"]')
      const seen: string[] = []
      for (let at = 0; ; at += 200) {
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
        box()?.dispatchEvent(new WheelEvent('wheel'))
        box()?.scrollTo(0, at)
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
        for (const row of document.querySelectorAll('.event'))
          seen.push(`${row.querySelector('.number')!.textContent} ${row.querySelector('.type')!.textContent}`)
        if (at > (box()?.scrollHeight ?? 0)) return [...new Set(seen)]
      }
    })
    const { events } = await again.ask<{ events: { revision: number; type: string }[] }>(
      'GET',
      `/v1/agents/${id}/events?limit=500`,
    )
    const sorted = shown.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    expect(sorted).toEqual(events.map(({ revision, type }) => `${revision} ${type}`))
    await again.close()
    folders.remove()
    expect(found).toEqual([])
  })
})

describe('what was asked for while the server was away', () => {
  it('is asked for again once it is back', async () => {
    const folders = freshFolders()
    const port = await freePort()
    const before = await serve({ data: folders.data, port })
    const page = await browser.page()
    const id = await before.start('wait for the sign', { workspace: before.workspace() })
    await before.open(page, `/runs/${id}?view=compact&at=0`)
    await live(page)
    await expect.poll(() => length(page)).toBeGreaterThan(120)
    await before.close({ keep: true })
    await expect.poll(() => page.locator('.connection').innerText()).toContain('not connected')
    const detail = page.locator('.detail')
    await page.getByRole('tab', { name: 'Raw' }).click()
    await expect.poll(() => detail.innerText()).toContain('does not answer')
    await page.getByLabel(/^Position: an event/).fill('75')
    await page.keyboard.press('Enter')
    const row = page.locator('.event[aria-current]')
    await expect.poll(() => row.locator('.number').innerText()).toBe('75')
    expect(await row.locator('.said').innerText()).toBe('')
    const again = await serve({ data: folders.data, port })
    await live(page)
    await expect.poll(() => detail.innerText()).toContain('"revision": 75')
    await page.getByRole('tab', { name: 'Event', exact: true }).click()
    await expect.poll(() => detail.innerText()).toMatch(/#75 \w+/)
    await again.close()
    folders.remove()
  })
})

describe('a backup that is restored under an open page', () => {
  it('is what the page shows from then on: no event that the log does not hold', async () => {
    const folders = freshFolders()
    const port = await freePort()
    const backup = join(folders.base, 'backup')
    const first = await serve({ data: folders.data, port })
    const id = await first.driven('write hello', { workspace: first.workspace() })
    const early = (await first.ask<{ run: { revision: number } }>('GET', `/v1/runs/${id}`)).run.revision
    await first.close({ keep: true })
    cpSync(folders.data, backup, { recursive: true })
    const second = await serve({ data: folders.data, port })
    const page = await browser.page()
    const found = troubles(page)
    await second.open(page, `/runs/${id}?view=compact`)
    await live(page)
    await page.locator('.ask .patch').waitFor()
    await page.keyboard.press('a')
    await expect.poll(() => page.locator('.run-head .status').innerText()).toContain('done')
    await expect.poll(() => length(page)).toBeGreaterThan(early + 1)
    await second.close({ keep: true })
    rmSync(folders.data, { recursive: true })
    cpSync(backup, folders.data, { recursive: true })
    const third = await serve({ data: folders.data, port })
    await live(page)
    await expect.poll(() => page.locator('.run-head .status').innerText()).toContain('asks')
    await expect.poll(() => length(page)).toBe(early + 1)
    await expect.poll(() => page.locator('.event .type').allTextContents()).not.toContain('completion')
    await third.close()
    folders.remove()
    expect(found).toEqual([])
  })
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
