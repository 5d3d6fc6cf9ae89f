import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'
import { violations } from '../../support/browser/violations.ts'

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

interface Places {
  places: { same: boolean; a: { revision: number } | null }[]
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

  it('stand side by side, with what differs marked, and are walked from the first difference', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, `/compare?a=${refused}&b=${wrote}`)
    const row = (title: string) => page.locator('.summary tr', { has: page.getByRole('rowheader', { name: title }) })
    await expect.poll(() => row('Files').locator('td').allInnerTexts()).toEqual(['none changed', '+ hello.txt'])
    expect(await row('Files').getAttribute('class')).toBe('differs')
    expect(await row('Task').locator('td').allInnerTexts()).toEqual(['write hello', 'write hello'])
    expect(await row('Task').getAttribute('class')).toBe('same')
    for (const title of ['Model', 'Cost', 'Time', 'Turns, calls', 'Result'])
      expect(await row(title).locator('td').nth(1).innerText()).not.toBe('')
    const { first, places } = await served.ask<Compared>('GET', `/v1/runs/${refused}/compare?with=${wrote}`)
    const different = places.filter(({ same }) => !same)
    const heading = () => page.locator('.detail h2').innerText()
    await page.getByRole('button', { name: 'Next (j)' }).click()
    await expect.poll(heading).toBe(different[1]!.path.join(' / '))
    await page.getByRole('button', { name: 'First difference' }).click()
    await expect.poll(heading).toBe(first.path.join(' / '))
    expect(await page.getByRole('button', { name: 'Previous (k)' }).isDisabled()).toBe(true)
    expect(await violations(page)).toEqual([])
    expect(found).toEqual([])
  })

  it('of which one is a fork at a step differ only after that step', async () => {
    const page = await browser.page()
    const { runId } = await served.ask<{ runId: string }>('POST', `/v1/runs/${wrote}/fork`, { step: 1 })
    await vi.waitFor(
      async () => {
        const { run } = await served.ask<{ run: { status: string } }>('GET', `/v1/runs/${runId}`)
        expect(run.status).toBe('completed')
      },
      { timeout: 30_000 },
    )
    await served.open(page, `/compare?a=${wrote}&b=${runId}`)
    await expect
      .poll(() => page.locator('.summary .badge').allInnerTexts())
      .toEqual(['source', 'fork of the other run at step 1'])
    const { events } = await served.ask<{ events: { revision: number; type: string }[] }>(
      ...(['GET', `/v1/runs/${wrote}/events?type=tool_call_end,turn_end`] as const),
    )
    const { places } = await served.ask<Places>('GET', `/v1/runs/${wrote}/compare?with=${runId}`)
    const before = places.filter(({ a }) => a !== null && a.revision <= events[0]!.revision)
    expect(before.length).toBeGreaterThan(2)
    expect(before.filter(({ same }) => !same)).toEqual([])
    await page.goto(`${served.url}/runs/${runId}`)
    await page.locator('.run-head').getByRole('link', { name: 'fork at step 1' }).click()
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/runs/${wrote}`)
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
