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
  const webhook = async () => {
    const { findings } = await served.ask<{ findings: { check: string; state: string }[] }>('GET', '/v1/doctor')
    return findings.find(({ check }) => check === 'webhook')?.state
  }
  await expect.poll(webhook).toBe('warning')
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
  expect(await row('webhook').innerText()).toMatch(/warning[\s\S]*HOOK[\s\S]*keepup webhooks test chat/)
  expect(await page.locator('main').getByRole('status').innerText()).toMatch(/\d+ warnings?, \d+ ok/)
  // A fault that comes up later is shown after the next check, and not before.
  await served.ask('POST', '/v1/anchors', { anchor: 'gone', kind: 'folder', target: '/nowhere/at/all', by: 'ada' })
  await served.ask('POST', '/v1/anchors/now', { by: 'ada' })
  expect(await row('keepup anchor now gone').count()).toBe(0)
  const answer = Promise.withResolvers<void>()
  await page.route('**/v1/doctor*', async (route) => {
    await answer.promise
    await route.continue()
  })
  await page.getByRole('button', { name: 'Check again' }).click()
  expect(await page.getByRole('button', { name: 'Checking …' }).isDisabled()).toBe(true)
  answer.resolve()
  await row('keepup anchor now gone').waitFor()
  expect(await page.getByRole('button', { name: 'Check again' }).isEnabled()).toBe(true)
  expect([await violations(page), found]).toEqual([[], []])
})
