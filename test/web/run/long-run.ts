import type { Page } from 'playwright-core'

/** What a person waits for who looks at a long run, ms; `frame`: the 95th percentile while the strip is dragged. */
export interface LongRunSeen {
  readonly events: number
  readonly opened: number
  readonly frame: number
  readonly jumps: readonly number[]
  readonly nodes: number
  /** Bytes of the page's heap. */
  readonly memory: number
}

/** Opens a run in a page that has a session, drags through it and jumps in it, and checks that what is shown is the position. */
export async function lookAtLongRun(page: Page, url: string, runId: string): Promise<LongRunSeen> {
  const began = performance.now()
  await page.goto(`${url}/runs/${runId}?view=compact&tab=state`)
  await page.locator('.event .said bdi:not(:empty)').first().waitFor()
  const opened = performance.now() - began
  const last = Number(await page.getByRole('slider').getAttribute('aria-valuemax'))
  await page.locator('.detail h2', { hasText: `After event ${last}` }).waitFor()
  const frame = await dragged(page)
  const jumps: number[] = []
  for (const part of [0.1, 0.9, 0.35, 0.6, 0.02]) {
    const to = Math.round(last * part)
    jumps.push(await jump(page, to))
    await page.locator('.event[aria-current] .number', { hasText: new RegExp(`^${to}$`) }).waitFor()
  }
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length)
  const memory = await page.evaluate(
    () => (performance as never as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize,
  )
  return { events: last + 1, opened, frame, jumps, nodes, memory }
}

/** Until the state at the position is shown. */
const jump = (page: Page, to: number): Promise<number> =>
  page.evaluate(async (revision) => {
    const input = document.querySelector<HTMLInputElement>('input.place')!
    const start = performance.now()
    input.value = String(revision)
    input.dispatchEvent(new Event('change', { bubbles: true }))
    const heading = () => document.querySelector('.detail h2')?.textContent
    while (heading() !== `After event ${revision}`) await new Promise((resolve) => requestAnimationFrame(resolve))
    return performance.now() - start
  }, to)

/** The 95th percentile of the frames while the strip is dragged from one end to the other and back. */
async function dragged(page: Page): Promise<number> {
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
  return frames[Math.floor(frames.length * 0.95)]!
}
