import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import type { Served } from '../../support/browser/served.ts'
import { COLOURS, violations } from '../../support/browser/violations.ts'
import { type Furnished, furnish } from './screens.ts'

// The rules of axe on every screen, and screens at 200 % and 400 %. The themes differ in colours only, so the dark theme runs only
// the rules about colours.

const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]
/** A window of 1280 × 1024 at 200 % and at 400 % (WCAG 2.2, 1.4.10 Reflow). */
const ZOOMED = [
  { width: 640, height: 512 },
  { width: 320, height: 256 },
]

/** Resolves when the page has drawn itself at its current size. */
const frames = (page: Page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))

const browser = useBrowser()
let furnished: Furnished
let served: Served
let done = ''
beforeAll(async () => {
  furnished = await furnish()
  ;({ served, done } = furnished)
})
afterAll(() => served.close())

/** Opens a screen, and waits until it is drawn. */
async function visit(page: Page, path: string, ready: string): Promise<void> {
  await page.goto(served.url + path)
  await page.locator(ready).first().waitFor()
  await expect.poll(() => page.getByText('loading …').count()).toBe(0)
}

/** Changes the size of the window, and waits until the screen is drawn in it. */
async function resize(page: Page, size: (typeof SIZES)[number], ready: string): Promise<void> {
  await page.setViewportSize(size)
  await frames(page)
  await page.locator(ready).first().waitFor()
}

it('no screen breaks a rule of axe at the size of a desk and of a phone, in the light and the dark theme, and no tab is left out', async () => {
  const page = await browser.page()
  // A transition would show axe a colour between the two themes.
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await served.open(page)
  const found: [string, string[]][] = []
  const [tabs, chosen] = [new Set<string>(), new Set<string>()]
  for (const [name, path, ready] of furnished.screens) {
    await visit(page, path, ready)
    for (const size of SIZES) {
      await page.emulateMedia({ colorScheme: 'light' })
      await resize(page, size, ready)
      found.push([`${name}, ${size.width} px, light`, await violations(page)])
      await page.emulateMedia({ colorScheme: 'dark' })
      found.push([`${name}, ${size.width} px, dark`, await violations(page, COLOURS)])
    }
    const shown = await page.getByRole('tab').evaluateAll((all) =>
      all.map((tab) => ({
        name: `${tab.parentElement!.getAttribute('aria-label')}: ${tab.textContent}`,
        isChosen: tab.getAttribute('aria-selected') === 'true',
      })),
    )
    for (const tab of shown) {
      tabs.add(tab.name)
      if (tab.isChosen) chosen.add(tab.name)
    }
  }
  expect(found.filter(([, all]) => all.length > 0)).toEqual([])
  // The access screen has tabs only when access is on; overlays.campaign.ts visits them.
  expect([...tabs].filter((tab) => !chosen.has(tab))).toEqual([])
})

it('every path of the page is among the screens that are checked', () => {
  const source = readFileSync(new URL('../../../api/web/start.tsx', import.meta.url), 'utf8')
  const paths = [...source.matchAll(/path\.value === '([^']+)'|'(\/\w+)': \w+Screen|\/\^(\\\/\w+)\\\//g)]
    .map(([, exact, viewer, pattern]) => exact ?? viewer ?? pattern!.replaceAll('\\', ''))
    .sort()
  expect(paths.length).toBeGreaterThan(12)
  const visited = furnished.screens.map(([, path]) => path)
  const isVisited = (path: string) =>
    visited.some((one) => one === path || (/^[?/]/.test(one.slice(path.length)) && one.startsWith(path)))
  expect(paths.filter((path) => !isVisited(path))).toEqual([])
})

/** Boxes that may scroll sideways: tables, code, rows of tabs and the toolbar of the editor. */
const MAY_SCROLL = '.data-box, pre, .code, .patch, .tabs, .terminal, .ansi, .markdown table, .blame'

it('no screen at 200 % or 400 % runs out of the page or hides a control', async () => {
  const page = await browser.page()
  await served.open(page)
  const found: [string, string[]][] = []
  for (const [name, path, ready] of furnished.screens) {
    await visit(page, path, ready)
    for (const size of ZOOMED) {
      await resize(page, size, ready)
      const faults = await page.evaluate((mayScroll) => {
        const nameOf = (one: Element) => `${one.tagName.toLowerCase()}.${[...one.classList].join('.')}`
        const all = [...document.querySelectorAll('*')].filter((one) => one.closest(mayScroll) === null)
        const wide = all
          .filter((one) => /auto|scroll/.test(getComputedStyle(one).overflowX) || one === document.documentElement)
          .filter((one) => one.scrollWidth > one.clientWidth + 1)
          .map((one) => `${nameOf(one)} is ${one.scrollWidth - one.clientWidth} px too wide`)
        const controls = all.filter((one) => one.matches('button, a, input, select, textarea, summary'))
        const outside = controls
          .filter((one) => one.checkVisibility() && !one.matches('.skip, .unseen'))
          .filter((one) => {
            const { left, right, width } = one.getBoundingClientRect()
            return width > 0 && (left < -1 || right > innerWidth + 1)
          })
          .map((one) => `${nameOf(one)} “${one.textContent?.slice(0, 20)}” is outside`)
        return [...wide, ...outside]
      }, MAY_SCROLL)
      found.push([`${name}, ${size.width} px`, faults])
    }
  }
  expect(found.filter(([, all]) => all.length > 0)).toEqual([])
})

it('a browser without a session is told what to do, within the rules', async () => {
  const page = await browser.page()
  await page.goto(served.url)
  await page.locator('pre').waitFor()
  expect(await violations(page)).toEqual([])
})

it('nothing moves where less motion is wanted', async () => {
  const page = await browser.page()
  await page.emulateMedia({ reducedMotion: 'reduce' })
  const id = await served.start('wait', { workspace: served.workspace() })
  await served.open(page, `/runs/${id}`)
  await page.locator('.status.works').waitFor()
  expect(await page.evaluate(() => document.getAnimations().length)).toBe(0)
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await expect.poll(() => page.evaluate(() => document.getAnimations().length)).toBeGreaterThan(0)
  await served.ask('POST', `/v1/runs/${id}/cancel`, {})
})

it('every control of a run is reached by the tabulator', async () => {
  const page = await browser.page()
  await served.open(page, `/runs/${done}`)
  await page.locator('.card header .quiet').first().waitFor()
  const names = new Set<string>()
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press('Tab')
    names.add(
      await page.evaluate(
        () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '',
      ),
    )
  }
  for (const name of ['Runs', 'Inbox', 'Fork (f)', 'Play', 'Position', 'Turns', 'Feed', 'Event'])
    expect(
      [...names].some((one) => one.startsWith(name)),
      name,
    ).toBe(true)
})
