import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Served } from '../../support/browser/served.ts'

/** What had the keys when a key was pressed: an open question, or one that was decided. Null: nothing. */
type Shown = 'one' | 'two' | 'decided' | null

/** The key presses of one browser. `sent`: the call that the press answered; null: none. */
type Presses = readonly { readonly shown: Shown; readonly sent: string | null }[]

const PRESSES = 12

/** Records in the page what has the keys at each key press, and the answer that the press sends. */
function record(): void {
  const presses: { shown: Shown; sent: string | null }[] = []
  Object.assign(globalThis, { presses })
  const shown = (): Shown => {
    const asks = [...document.querySelectorAll('article.ask')]
    if (asks.some((ask) => ask.querySelector('.decided')?.textContent?.includes('press a'))) return 'decided'
    const open = asks.find((ask) => ask.querySelector('button.main')?.textContent?.includes('(a)'))
    return (/\+(one|two)\.txt/.exec(open?.textContent ?? '')?.[1] ?? null) as Shown
  }
  addEventListener('keydown', () => presses.push({ shown: shown(), sent: null }), true)
  const { fetch } = globalThis
  globalThis.fetch = (input, init) => {
    const [url, method] = input instanceof Request ? [input.url, input.method] : [String(input), init?.method]
    const call = /\/v1\/approvals\/[^/]+\.(t\d)\.c0$/.exec(new URL(url, location.href).pathname)?.[1]
    if (method === 'POST' && call !== undefined) presses.at(-1)!.sent = call
    return fetch(input, init)
  }
}

/**
 * Two browsers show the same run, which asks twice in a row, and press `a` several times at times of a plan. Returns the
 * number of answers. Throws if an answer was for another question than the one on its screen, or for a question that came
 * in the place of a decided one before the person moved on to it. `latest`: the most ms between the first question and a
 * key press; the second question must come within this time.
 */
export async function raceOfApprovals(
  served: Served,
  pages: readonly [Page, Page],
  folder: string,
  draw: (below: number) => number,
  latest: number,
): Promise<number> {
  const model = join(folder, 'race.json')
  const turn = (path: string) => ({ calls: [{ tool: 'write_file', arguments: { path, content: `${path}\n` } }] })
  const turns = [turn('one.txt'), turn('two.txt'), { calls: [{ tool: 'complete_task', arguments: { summary: 'x' } }] }]
  writeFileSync(model, JSON.stringify({ script: 1, model: 'race', turns }))
  const run = await served.driven('write both', { workspace: served.workspace(), model: `scripted:${model}` })
  await Promise.all(
    pages.map(async (page) => {
      await page.goto(`${served.url}/runs/${run}`)
      await expect.poll(() => page.locator('.ask').allInnerTexts()).toEqual([expect.stringContaining('+one.txt')])
    }),
  )
  const found = await Promise.all(
    pages.map(async (page) => {
      const times = Array.from({ length: PRESSES }, () => draw(latest)).sort((a, b) => a - b)
      return page.evaluate(async (times) => {
        const began = performance.now()
        for (const time of times) {
          await new Promise((resolve) => setTimeout(resolve, began + time - performance.now()))
          document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true, cancelable: true }))
        }
        return (globalThis as never as { presses: Presses }).presses
      }, times)
    }),
  )
  for (const presses of found) {
    for (const [nth, { shown, sent }] of presses.entries()) {
      if (sent === null) continue
      expect(sent, `pressed on question ${shown}`).toBe(shown === 'one' ? 't1' : 't2')
      expect(['one', 'two']).toContain(shown)
      // The first press after a decision moves on; only a later one answers.
      if (shown === 'two') expect(presses.slice(0, nth).map((press) => press.shown)).toContain('decided')
    }
  }
  return found.flat().filter(({ sent }) => sent !== null).length
}

/** Prepares a page for the races: it has a session, and records what is pressed and sent. */
export async function openRacer(served: Served, page: Page): Promise<void> {
  await served.open(page)
  await page.addInitScript(record)
}
