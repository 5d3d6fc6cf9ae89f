import { expect, it, onTestFinished } from 'vitest'
import { useBrowser } from '../support/browser/pages.ts'
import { serve, troubles } from '../support/browser/served.ts'
import { violations } from '../support/browser/violations.ts'

// The screen of the process's health.

const browser = useBrowser()

it('shows the worst findings first, each with its remedy, and checks again on request', async () => {
  // Nothing listens on this port, and the secret is not set.
  const served = await serve({
    settings: { webhooks: [{ name: 'chat', url: 'http://127.0.0.1:9/hook', secret: 'HOOK' }] },
  })
  onTestFinished(() => served.close())
  await served.driven('finish')
  const page = await browser.page()
  const found = troubles(page)
  await served.open(page, '/health')
  const table = page.getByRole('region', { name: 'Health' })
  const row = (name: string) => table.getByRole('row', { name })
  await row('webhook').waitFor()
  const states = async () => table.locator('tbody tr td:nth-child(2)').allInnerTexts()
  const rank = (state: string) => ['broken', 'warning', 'ok'].indexOf(state)
  const seen = await states()
  expect(seen.map(rank)).toEqual(seen.map(rank).toSorted((a, b) => a - b))
  expect(await row('log end').innerText()).toContain('the log holds all that was seen of it')
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Check again' }).click()
      return row('webhook').innerText()
    })
    .toMatch(/warning[\s\S]*HOOK[\s\S]*keepup webhooks test chat/)
  expect(await page.getByRole('status').innerText()).toMatch(/\d+ warnings?, \d+ ok/)
  expect([await violations(page), found]).toEqual([[], []])
})
