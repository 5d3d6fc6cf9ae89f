import { expect, test } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { serve } from '../../support/browser/served.ts'
import { draws, FAULT_SEED } from '../../support/faults/seed.ts'
import { tempFolder } from '../../support/folders.ts'
import { openRacer, raceOfApprovals } from './approval-race.ts'

// Two browsers race for the approvals of a run (RACES, 1,000 without it). The page must be built: npm run build:web.

const RACES = Number(process.env.RACES ?? 1_000)
/** A machine with nothing else to do shows the second question within this time, ms. */
const LATEST = Number(process.env.LATEST ?? 600)

const browser = useBrowser()

test('no answer is for another question than the one on its screen', async () => {
  const served = await serve()
  const pages = [await browser.page(), await browser.page()] as const
  for (const page of pages) await openRacer(served, page)
  const [draw, folder] = [draws(FAULT_SEED), tempFolder()]
  let answers = 0
  for (let race = 0; race < RACES; race++) answers += await raceOfApprovals(served, pages, folder, draw, LATEST)
  console.log(`${RACES} races with seed ${FAULT_SEED}: ${answers} answers, 0 to another question`)
  expect(answers).toBeGreaterThanOrEqual(RACES)
  await served.close()
})
