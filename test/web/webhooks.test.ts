import { expect, it, onTestFinished } from 'vitest'
import { useBrowser } from '../support/browser/pages.ts'
import { addPerson, openAs } from '../support/browser/people.ts'
import { serve, troubles } from '../support/browser/served.ts'
import { violations } from '../support/browser/violations.ts'
import { receiver, SECRET } from '../support/webhooks/receiver.ts'

// The screen of webhooks.

const browser = useBrowser()

async function servedWith(webhooks: readonly object[]) {
  const served = await serve({ settings: { webhooks } })
  onTestFinished(() => served.close())
  return served
}

it('says what a webhook is and how to add one', async () => {
  const served = await servedWith([])
  const page = await browser.page()
  const found = troubles(page)
  await served.open(page, '/webhooks')
  await expect.poll(() => page.locator('.notice').innerText()).toContain('keepup secrets set CHAT_WEBHOOK')
  expect(await page.locator('.notice').innerText()).toContain('"webhooks": [')
  expect([await violations(page), found]).toEqual([[], []])
})

it('shows the last delivery and the fault of each webhook, and a test lets a stopped one go on', async () => {
  const it = await receiver()
  const served = await servedWith([
    { name: 'chat', url: it.url, secret: 'HOOK', types: ['run_ended'] },
    { name: 'gone', url: `${it.url}/gone`, secret: 'NONE' },
  ])
  await served.ask('PUT', '/v1/secrets/HOOK', { value: SECRET })
  const page = await browser.page()
  const found = troubles(page)
  await served.open(page, '/webhooks')
  const row = (name: string) => page.getByRole('region', { name: 'Webhooks' }).getByRole('row', { name })
  await expect.poll(() => row('chat').innerText()).toContain('none yet')
  expect(await row('chat').innerText()).toContain('run_ended')
  await expect.poll(async () => (await row('chat').locator('td').allInnerTexts())[3]).toBe('0')
  await served.driven('finish')
  await expect.poll(() => row('chat').innerText()).toMatch(/\d+s ago/)
  expect(it.got.map(({ notice }) => notice.type)).toContain('run_ended')
  // The secret of the other one was never set.
  await expect.poll(() => row('gone').locator('.bad').innerText()).toContain('NONE')
  await page.getByRole('button', { name: 'Test gone' }).click()
  await expect.poll(() => page.locator('.outcome').innerText()).toContain('gone: ')

  it.answer.with = (_, response) => void response.writeHead(410).end()
  await served.driven('finish again')
  await expect.poll(() => row('chat').locator('.bad').innerText()).toContain('stopped')
  it.answer.with = (_, response) => void response.writeHead(204).end()
  await page.getByRole('button', { name: 'Test chat' }).click()
  await expect.poll(() => page.locator('.outcome').innerText()).toContain('chat: the receiver took a test notice.')
  await expect.poll(() => row('chat').locator('.bad').count()).toBe(0)
  expect(await page.content()).not.toContain('very-secret-path')
  expect([await violations(page), found]).toEqual([[], []])
})

it('lets only people with the right send a test', async () => {
  const served = await servedWith([{ name: 'chat', url: 'http://127.0.0.1:9/hook', secret: 'HOOK' }])
  await served.ask('POST', '/v1/access', { principal: 'ann' })
  const page = await browser.page()
  await openAs(served, page, 'vera', await addPerson(served, 'vera', 'viewer'), '/webhooks')
  await page.getByText('chat', { exact: true }).waitFor()
  expect(await page.getByRole('button', { name: /^Test/ }).count()).toBe(0)
})
