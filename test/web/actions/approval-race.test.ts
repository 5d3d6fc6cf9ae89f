import { afterAll, beforeAll, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve } from '../../support/browser/served.ts'
import { draws, FAULT_SEED } from '../../support/faults/seed.ts'
import { tempFolder } from '../../support/folders.ts'
import { openRacer, raceOfApprovals } from './approval-race.ts'

// A sample; approvals.campaign.ts races 1,000 times.

const RACES = 4
/** On a busy machine, the second question can take this long, ms. */
const LATEST = 2_500

const browser = useBrowser()
let served: Served
beforeAll(async () => {
  served = await serve()
})
afterAll(() => served.close())

it('a key that two people press at the same time answers only the question on its screen', async () => {
  const pages = [await browser.page(), await browser.page()] as const
  for (const page of pages) await openRacer(served, page)
  const draw = draws(FAULT_SEED)
  let answers = 0
  for (let race = 0; race < RACES; race++) answers += await raceOfApprovals(served, pages, tempFolder(), draw, LATEST)
  // Some races reach the second question.
  expect(answers).toBeGreaterThan(RACES)
})
