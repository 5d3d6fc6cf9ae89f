import { expect, it } from 'vitest'
import { openEmbedded } from '../../bench/embedded.ts'
import { useBrowser } from '../../support/browser/pages.ts'
import { serve, troubles } from '../../support/browser/served.ts'
import { freshFolders } from '../../support/folders.ts'
import { lookAtLongRun } from './long-run.ts'

// A long run stays quick: only what is in view is in the document and in memory. A sample of 5,000 events; `npm run bench:web`
// measures the figures of the documentation; WEB_TURNS=14300, which are 100,000 events, or a folder that was made before (WEB_DATA, WEB_RUN), shows them here.

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
  const { events, opened, frame, jumps, nodes, memory } = await lookAtLongRun(page, served.url, id)
  const last = events - 1
  for (const view of ['feed', 'waterfall']) {
    await page.goto(`${served.url}/runs/${id}?view=${view}&at=${Math.round(last / 2)}`)
    await page.locator('.card header .quiet, .work').first().waitFor()
    expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThanOrEqual(MOST_NODES)
  }
  const ms = (n: number) => `${Math.round(n)} ms`
  console.log(
    `${events} events: opened in ${ms(opened)}, frame p95 ${ms(frame)}, jumps ${jumps.map(ms).join(', ')}, ` +
      `${nodes} nodes, ${Math.round(memory / 1e6)} MB of heap`,
  )
  expect(nodes).toBeLessThanOrEqual(MOST_NODES)
  expect(memory).toBeLessThan(300e6)
  expect(found).toEqual([])
  await served.close()
  folders.remove()
})
