import { expect, it } from 'vitest'
import { openEmbedded } from '../bench/embedded.ts'
import { useBrowser } from '../support/browser/pages.ts'
import { serve, troubles } from '../support/browser/served.ts'
import { freshFolders } from '../support/folders.ts'

// A long run stays quick: only what is in view is in the document and in memory. A sample of 5,000 events; the figures of the
// documentation are of WEB_TURNS=14300, which are 100,000 events, or of a folder that was made before (WEB_DATA, WEB_RUN).

const TURNS = Number(process.env.WEB_TURNS ?? 700)
const MOST_NODES = 2_000

const browser = useBrowser()

it('opens, scrubs and jumps with few nodes', async () => {
  const folders = freshFolders()
  const data = process.env.WEB_DATA ?? folders.data
  let id = process.env.WEB_RUN ?? ''
  if (id === '') {
    const embedded = await openEmbedded(data)
    id = await embedded.run(TURNS)
    await embedded.shown()
    await embedded.close()
  }
  const served = await serve({ data })
  const page = await browser.page()
  const found = troubles(page)
  await served.open(page)
  const began = performance.now()
  await page.goto(`${served.url}/runs/${id}?view=compact&tab=state`)
  await page.locator('.event .said bdi:not(:empty)').first().waitFor()
  const opened = performance.now() - began
  const last = Number(await page.getByRole('slider').getAttribute('aria-valuemax'))
  await expect.poll(() => page.locator('.detail h2').innerText()).toBe(`After event ${last}`)

  // Frames while the strip is dragged from one end to the other.
  const box = (await page.getByRole('slider').boundingBox())!
  await page.evaluate(() => {
    const frames: number[] = []
    Object.assign(globalThis, { frames })
    let before = performance.now()
    const count = (now: number) => {
      frames.push(now - before)
      before = now
      requestAnimationFrame(count)
    }
    requestAnimationFrame(count)
  })
  await page.mouse.move(box.x + 2, box.y + 8)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width - 2, box.y + 8, { steps: 120 })
  await page.mouse.move(box.x + box.width / 3, box.y + 8, { steps: 120 })
  await page.mouse.up()
  const frames = await page.evaluate(() => (globalThis as never as { frames: number[] }).frames.sort((a, b) => a - b))
  const p95 = frames[Math.floor(frames.length * 0.95)]!

  const jumps: number[] = []
  for (const part of [0.1, 0.9, 0.35, 0.6, 0.02]) {
    const to = Math.round(last * part)
    jumps.push(
      await page.evaluate(async (revision) => {
        const input = document.querySelector<HTMLInputElement>('input.place')!
        const start = performance.now()
        input.value = String(revision)
        input.dispatchEvent(new Event('change', { bubbles: true }))
        const heading = () => document.querySelector('.detail h2')?.textContent
        while (heading() !== `After event ${revision}`) await new Promise((resolve) => requestAnimationFrame(resolve))
        return performance.now() - start
      }, to),
    )
    await expect.poll(() => page.locator(`.event[aria-current] .number`).innerText()).toBe(String(to))
  }
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length)
  for (const view of ['feed', 'waterfall']) {
    await page.goto(`${served.url}/runs/${id}?view=${view}&at=${Math.round(last / 2)}`)
    await page.locator('.card header .quiet, .work').first().waitFor()
    expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThanOrEqual(MOST_NODES)
  }
  const memory = await page.evaluate(
    () => (performance as never as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize,
  )
  const ms = (n: number) => `${Math.round(n)} ms`
  console.log(
    `${last + 1} events: opened in ${ms(opened)}, frame p95 ${ms(p95)}, jumps ${jumps.map(ms).join(', ')}, ` +
      `${nodes} nodes, ${Math.round(memory / 1e6)} MB of heap`,
  )
  expect(nodes).toBeLessThanOrEqual(MOST_NODES)
  expect(memory).toBeLessThan(300e6)
  expect(found).toEqual([])
  await served.close()
  folders.remove()
})
