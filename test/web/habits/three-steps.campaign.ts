import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { troubles } from '../../support/browser/served.ts'
import { playStory, type Story } from '../pictures/story.ts'
import { Hand, MOST_STEPS, SIZES, TASKS, THEMES } from '../pictures/tasks.ts'

// Each of the tasks that the page is made for takes at most three steps from the list of runs. PICTURES=FOLDER also writes a
// picture of the end of each task.

const { PICTURES } = process.env
/** The limit of each wait for the page, long enough for a busy machine. */
const TIMEOUT_MS = 120_000
const VARIANTS = THEMES.flatMap((theme) =>
  (Object.keys(SIZES) as (keyof typeof SIZES)[]).map((size) => ({ theme, size })),
)

const browser = useBrowser()
let story: Story
beforeAll(async () => {
  story = await playStory()
}, 600_000)
afterAll(() => story.close())

it.each(VARIANTS)('each task takes at most three steps, in the $theme theme$size', async ({ theme, size }) => {
  const page = await browser.page()
  page.setDefaultTimeout(TIMEOUT_MS)
  const found = troubles(page)
  await page.setViewportSize(SIZES[size])
  await page.emulateMedia({ colorScheme: theme })
  await story.served.open(page)
  const friend = async (path: string) => {
    const other = await browser.page()
    await story.served.open(other, path)
    return other
  }
  for (const [nth, task] of TASKS.entries()) {
    const run = (await task.before?.(story)) ?? ''
    await page.goto(story.served.url)
    await page.locator('.run-row').first().waitFor()
    const hand = new Hand(page)
    await task.does({ hand, page, story, friend }, run).catch((error: unknown) => {
      throw new Error(`${task.name}: step ${hand.steps}`, { cause: error })
    })
    expect(hand.steps, task.name).toBeLessThanOrEqual(MOST_STEPS)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(wide, `${task.name}: the page is wider than its window`).toBeLessThanOrEqual(0)
    if (PICTURES === undefined) continue
    mkdirSync(PICTURES, { recursive: true })
    const name = `task-${String(nth + 1).padStart(2, '0')}-${task.name.replaceAll(' ', '-')}-${theme}${size}.png`
    await page.screenshot({ path: join(PICTURES, name) })
  }
  expect(found).toEqual([])
})
