import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { useBrowser } from '../support/browser/pages.ts'
import { type Served, serve, troubles } from '../support/browser/served.ts'

const browser = useBrowser()
let served: Served
let [wrote, refused] = ['', '']
beforeAll(async () => {
  served = await serve()
  wrote = await served.driven('write hello', { workspace: served.workspace(), approve: ['write_file'] })
  refused = await served.driven('write hello', { workspace: served.workspace() })
  await served.answer(`${refused}.t1.c0`, { decision: 'rejected', by: 'bob' })
  await vi.waitFor(
    async () => {
      const { run } = await served.ask<{ run: { status: string } }>('GET', `/v1/runs/${refused}`)
      expect(run.status).toBe('completed')
    },
    { timeout: 30_000 },
  )
})
afterAll(() => served.close())

interface Compared {
  common: number
  first: { path: string[] }
  places: { path: string[]; same: boolean }[]
}

describe('two runs', () => {
  it('are chosen in the list, aligned by cause, and lead to both events', async () => {
    const page = await browser.page()
    const found = troubles(page)
    const compared = await served.ask<Compared>('GET', `/v1/runs/${refused}/compare?with=${wrote}`)
    await served.open(page, `/?run=${refused}`)
    await page.locator('.run-row.selected').waitFor()
    await page.keyboard.press('c')
    await expect.poll(() => page.locator('.bar').innerText()).toContain('press c')
    await page.keyboard.press('j')
    await page.keyboard.press('c')
    await expect.poll(() => new URL(page.url()).search).toBe(`?a=${refused}&b=${wrote}`)
    const different = compared.places.filter(({ same }) => !same)
    await expect.poll(() => page.locator('.about').innerText()).toContain(`${different.length} differ`)
    expect(await page.locator('.place-row bdi').allTextContents()).toEqual(
      different.map(({ path }) => path.join(' / ')),
    )
    await expect.poll(() => page.locator('.detail h2').innerText()).toBe(compared.first.path.join(' / '))
    await page.keyboard.press('j')
    await expect.poll(() => page.locator('.detail h2').innerText()).toBe(different[1]!.path.join(' / '))
    await page.keyboard.press('k')
    await expect.poll(() => page.locator('.detail h2').innerText()).toBe(different[0]!.path.join(' / '))
    await page.getByLabel('also what is the same').check()
    await expect.poll(() => page.locator('.place-row .quiet.mono').first().innerText()).toBe('=')
    const result = page.locator('.place-row', { hasText: 'turn 1 / call 0 / result' })
    await result.click()
    const detail = page.locator('.detail')
    await expect.poll(() => detail.innerText()).toContain('APPROVAL_REJECTED')
    await page.getByLabel('as text').check()
    await expect.poll(() => detail.locator('.patch .removed').allTextContents()).toContain('-  "success": false,')
    await expect.poll(() => detail.locator('.patch .added').allTextContents()).toContain('+  "success": true,')
    await detail.getByRole('link', { name: 'second run' }).click()
    await expect.poll(() => page.locator('.detail h2').innerText()).toMatch(/tool_call_end/)
    expect(new URL(page.url()).pathname).toBe(`/runs/${wrote}`)
    expect(found).toEqual([])
  })

  it('that are the same, or not there, are told', async () => {
    const page = await browser.page()
    const { runId } = await served.ask<{ runId: string }>('POST', `/v1/runs/${wrote}/fork`, { drive: false })
    await served.open(page, `/runs/${runId}`)
    await page.locator('.run-head').getByRole('link', { name: 'Compare' }).click()
    await expect.poll(() => page.locator('.compare .good').innerText()).toContain('are the same in all')
    await page.getByLabel('Second').fill('nothing')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.fault').innerText()).toContain('nothing')
    await page.getByLabel('Second').fill('nothing:3')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.fault').innerText()).toContain('cannot be compared with a step')
  })
})

it('two steps show what differs in state, messages and files', async () => {
  const page = await browser.page()
  const found = troubles(page)
  await served.open(page, `/runs/${wrote}?tab=diff`)
  await page.getByRole('link', { name: 'with another one' }).click()
  await page.getByLabel('Second').fill(`${wrote}:0`)
  await page.keyboard.press('Enter')
  const screen = page.locator('.compare')
  await expect.poll(() => screen.innerText()).toMatch(/State[\s\S]*Messages[\s\S]*Files[\s\S]*-hello/)
  await page.getByRole('button', { name: 'Swap' }).click()
  await expect.poll(() => screen.innerText()).toMatch(/Files[\s\S]*\+hello/)
  expect(found).toEqual([])
})
