import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve } from '../../support/browser/served.ts'
import { FAULT_SEED } from '../../support/faults/seed.ts'
import { LossyProxy } from '../../support/network/lossy-proxy.ts'

// Two people write in one document over a connection that loses a fifth of the requests.

const browser = useBrowser()
let served: Served
let proxy: LossyProxy
beforeAll(async () => {
  served = await serve()
  proxy = await LossyProxy.open(Number(new URL(served.url).port), FAULT_SEED)
})
afterAll(async () => {
  await proxy.close()
  await served.close()
})

/** At least so many words are written by each, and so many requests are lost. */
const WORDS = 16
const LOSSES = 8
const MOST_WORDS = 200
const PATIENCE = { timeout: 240_000, interval: 250 }

interface View {
  readonly blocks: readonly { readonly text?: readonly { readonly text: string }[] }[]
}

interface Window {
  readonly page: Page
  readonly text: Locator
}

/** A window with the editor of a document, behind the proxy. */
async function editing(id: string): Promise<Window> {
  const page = await browser.page()
  const { url: link } = await served.ask<{ url: string }>('POST', '/v1/session/codes', { by: 'ada' })
  await page.goto(link.replace(served.url, proxy.url).replace(/\/#/, `/documents/${id}?tab=edit#`))
  const text = page.getByRole('textbox', { name: /Text of document/ })
  await text.waitFor()
  return { page, text }
}

/** The paragraphs without the names at the cursors of others. */
const paragraphs = ({ text }: Window) =>
  text.evaluate((element) => {
    const copy = element.cloneNode(true) as HTMLElement
    for (const cursor of copy.querySelectorAll('.cursor')) cursor.remove()
    return [...copy.querySelectorAll('p')].map((paragraph) => paragraph.textContent)
  })

/** Writes words at the start or the end of the same paragraph. `splits`: now and then begins a new one. */
async function write({ page, text }: Window, name: string, key: 'Home' | 'End', splits: boolean): Promise<string[]> {
  const words: string[] = []
  await text.locator('p').first().click()
  await page.keyboard.press(key)
  for (let n = 0; (n < WORDS || proxy.lost < LOSSES) && n < MOST_WORDS; n++) {
    const word = `${name}${n}.`
    await page.keyboard.type(key === 'Home' ? `${word} ` : ` ${word}`, { delay: 20 })
    words.push(word)
    if (splits && n % 8 === 7) await page.keyboard.press('Enter')
  }
  return words
}

// A split at the start of the paragraph takes along only the text that has arrived. It can tear the word that the other is
// still writing, but no letter is lost.
it.each([
  { kept: 'word', bothSplit: false },
  { kept: 'letter', bothSplit: true },
])(
  `two windows agree, and keep every $kept, over a lossy connection (FAULT_SEED=${FAULT_SEED})`,
  async ({ bothSplit }) => {
    // Also for a second attempt: opening the windows is not under test.
    Object.assign(proxy, { lossy: false, lost: 0 })
    const body = { title: 'Plan', by: 'ada', format: 'markdown', content: 'middle\n\nlast' }
    const { documentId: id } = await served.ask<{ documentId: string }>('POST', '/v1/documents', body)
    const [ann, bob] = [await editing(id), await editing(id)]
    proxy.lossy = true
    const [one, two] = await Promise.all([write(ann, 'a', 'Home', bothSplit), write(bob, 'b', 'End', true)])
    for (const { page } of [ann, bob])
      await expect.poll(() => page.locator('.editor-state [role=status]').innerText(), PATIENCE).toBe('saved')
    const stored = async () => {
      const { blocks } = await served.ask<View>('GET', `/v1/documents/${id}`)
      return blocks.map(({ text = [] }) => text.map((run) => run.text).join(''))
    }
    const end = await stored()
    for (const window of [ann, bob]) await expect.poll(() => paragraphs(window), PATIENCE).toEqual(end)
    expect(await stored()).toEqual(end)
    const found = end
      .join(' ')
      .split(/\s+/)
      .filter((word) => word !== '')
    const parts = (words: readonly string[]) => (bothSplit ? [...words.join('')] : [...words]).sort()
    expect(parts(found)).toEqual(parts(['middle', 'last', ...one, ...two]))
    expect(proxy.lost).toBeGreaterThanOrEqual(LOSSES)
  },
)
