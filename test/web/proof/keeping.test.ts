import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { addPerson, openAs } from '../../support/browser/people.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'
import { violations } from '../../support/browser/violations.ts'

// The screen of retention and holds, and holds on the screens of runs and documents.

const browser = useBrowser()
let served: Served
beforeAll(async () => {
  served = await serve()
})
afterAll(() => served.close())

interface Holds {
  readonly holds: readonly { hold: string; of: string; reason: string; lifted: { reason: string } | null }[]
}
interface Rules {
  readonly retention: readonly { of: string; days: number | null }[]
}
const holds = async () => (await served.ask<Holds>('GET', '/v1/holds?all=true')).holds
const daysOf = async (of: string) =>
  (await served.ask<Rules>('GET', '/v1/retention')).retention.find((one) => one.of === of)!.days
const outcome = (page: Page) => page.locator('.outcome').innerText()
const dialog = (page: Page) => page.getByRole('dialog')
const table = (page: Page, name: string) => page.getByRole('region', { name })

const give = async (page: Page, reason: string, button: string) => {
  await dialog(page).getByLabel('Reason').fill(reason)
  await dialog(page).getByRole('button', { name: button, exact: true }).click()
}

describe('the screen of holds', () => {
  it('says what a hold is, sets one, shows why, and lifts it with a reason', async () => {
    const page = await browser.page()
    const found = troubles(page)
    const run = await served.driven('finish what is kept')
    await served.open(page, '/retention?tab=holds')
    await expect.poll(() => page.locator('.panel').innerText()).toContain('Nothing is held.')
    await page.getByRole('button', { name: 'Set a hold' }).click()
    await page.getByLabel('Run, or the name of a stream').fill('nowhere')
    await give(page, 'none', 'Hold')
    await expect.poll(() => outcome(page)).toContain('nowhere')
    await page.getByRole('button', { name: 'Set a hold' }).click()
    await page.getByLabel('Run, or the name of a stream').fill(run)
    expect(await violations(page)).toEqual([])
    await give(page, 'the matter of <b>Smith</b>', 'Hold')
    const row = table(page, 'Holds').getByRole('row', { name: run })
    await expect.poll(() => row.innerText()).toContain('the matter of <b>Smith</b>')
    expect(await row.innerText()).toContain('user:ada')
    expect(await row.getByRole('link').getAttribute('href')).toBe(`/runs/${run}`)

    await page.getByRole('button', { name: /^Lift / }).click()
    // Spaces are no reason.
    await give(page, '  ', 'Lift')
    expect((await holds()).map(({ lifted }) => lifted)).toEqual([null])
    await give(page, 'settled', 'Lift')
    await expect.poll(() => page.locator('.panel').innerText()).toContain('Nothing is held.')
    await page.getByLabel('also those that were lifted').check()
    await expect.poll(() => row.innerText()).toContain('settled')
    expect(await page.getByRole('button', { name: /^Lift / }).count()).toBe(0)
    expect(found).toEqual([])
  })
})

describe('a held', () => {
  it('run says so on its screen, where a hold can be set', async () => {
    const page = await browser.page()
    const found = troubles(page)
    const run = await served.driven('finish what is held')
    await served.open(page, `/runs/${run}`)
    await page.getByRole('button', { name: 'Hold' }).click()
    await give(page, 'an audit', 'Hold')
    await expect.poll(() => outcome(page)).toContain(`${run} is held.`)
    const said = page.getByRole('list', { name: 'Holds' })
    await expect.poll(() => said.innerText()).toMatch(/^This run is held by user:ada, .* ago: an audit/)
    const { hold } = (await holds()).find(({ of }) => of.endsWith(run))!
    await served.ask('POST', `/v1/holds/${hold}/lift`, { reason: 'done', by: 'bob' })
    await expect.poll(() => said.count()).toBe(0)
    expect(found).toEqual([])
  })

  it('document says so on its screen, where a hold can be set', async () => {
    const page = await browser.page()
    const found = troubles(page)
    const { documentId } = await served.ask<{ documentId: string }>('POST', '/v1/documents', {
      title: 'Plan',
      by: 'ada',
    })
    await served.open(page, `/documents/${documentId}`)
    await page.getByRole('button', { name: 'Hold' }).click()
    await give(page, 'a patent', 'Hold')
    const said = page.getByRole('list', { name: 'Holds' })
    await expect.poll(() => said.innerText()).toMatch(/^This document is held by user:ada, .* ago: a patent/)
    expect((await holds()).at(-1)).toMatchObject({ of: `document-${documentId}`, lifted: null })
    expect([await violations(page), found]).toEqual([[], []])
  })
})

describe('the screen of retention', () => {
  it('sets days and takes them back, and asks before 0 days', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, '/retention')
    await expect.poll(() => page.locator('.panel').innerText()).toContain('Nothing is erased by policy')
    const change = async (of: string, days: string) => {
      await page.getByRole('button', { name: `Change the retention of ${of}` }).click()
      await page.getByLabel('Days; empty: never').fill(days)
      await dialog(page).getByRole('button', { name: 'Set', exact: true }).click()
    }
    await change('memory', '180')
    const row = table(page, 'Retention').getByRole('row', { name: 'memory' })
    await expect.poll(() => row.innerText()).toContain('180 days')
    expect(await row.innerText()).toContain('user:ada')
    await change('memory', '0')
    await expect
      .poll(() => dialog(page).innerText())
      .toContain('the next sweep empties every memory that no hold keeps')
    expect(await violations(page)).toEqual([])
    await dialog(page).getByRole('button', { name: 'Cancel' }).click()
    expect(await daysOf('memory')).toBe(180)
    await change('memory', '0')
    await dialog(page).getByRole('button', { name: 'Set 0 days' }).click()
    await expect.poll(() => row.innerText()).toContain('0 days')
    expect(await daysOf('memory')).toBe(0)
    await change('memory', '')
    await expect.poll(() => row.innerText()).toContain('never')
    expect(await daysOf('memory')).toBe(null)
    expect(found).toEqual([])
  })

  it('shows what the next sweep empties and what is spared and why, and empties it now', async () => {
    const page = await browser.page()
    const found = troubles(page)
    const [kept, old] = [await served.driven('finish this one'), await served.driven('finish that one')]
    await served.ask('POST', '/v1/holds', { of: kept, reason: 'an audit', by: 'ada' })
    await served.ask('PUT', '/v1/retention', { of: 'run', days: 0, by: 'ada' })
    await served.open(page, '/retention')
    await page.getByRole('button', { name: 'Show what the next sweep empties' }).click()
    const row = (run: string) => table(page, 'Old enough').getByRole('row', { name: run })
    await expect.poll(() => row(kept).innerText()).toContain('an audit')
    expect(await row(old).innerText()).toMatch(/ B\b|KiB/)
    await page.getByRole('button', { name: 'Empty them now' }).click()
    expect(await violations(page)).toEqual([])
    await dialog(page).getByRole('button', { name: 'Empty them' }).click()
    await expect.poll(() => outcome(page)).toBe('What was old enough is emptied. ok')
    await expect.poll(() => row(old).count()).toBe(0)
    expect(await row(kept).count()).toBe(1)
    const task = async (run: string) =>
      (await served.ask<{ run: { task: string | null } }>('GET', `/v1/runs/${run}`)).run.task
    expect([await task(kept), await task(old)]).toEqual(['finish this one', expect.not.stringContaining('that one')])
    await served.ask('PUT', '/v1/retention', { of: 'run', days: null, by: 'ada' })
    expect(found).toEqual([])
  })
})

it('only people with the right see the controls and the holds, and the page asks for nothing that is refused', async () => {
  const run = await served.driven('finish for others')
  await served.ask('POST', '/v1/access', { principal: 'ann' })
  await served.ask('POST', '/v1/holds', { of: run, reason: 'an audit' })
  const [viewer, auditor] = [await browser.page(), await browser.page()]
  const found = troubles(viewer)
  const refused: string[] = []
  for (const page of [viewer, auditor])
    page.on('response', (answer) => answer.status() === 403 && refused.push(new URL(answer.url()).pathname))
  await openAs(served, viewer, 'vera', await addPerson(served, 'vera', 'viewer'), '/retention')
  await openAs(served, auditor, 'otto', await addPerson(served, 'otto', 'auditor'), '/retention?tab=holds')
  await expect.poll(() => auditor.locator('.panel').innerText()).toContain('an audit')
  expect(await auditor.getByRole('button', { name: /^(?:Set|Lift)/ }).count()).toBe(0)
  await auditor.goto(`${served.url}/runs/${run}`)
  await expect.poll(() => auditor.getByRole('list', { name: 'Holds' }).innerText()).toContain('an audit')
  expect(await auditor.getByRole('button', { name: 'Hold' }).count()).toBe(0)
  await expect.poll(() => table(viewer, 'Retention').innerText()).toContain('never')
  expect(await viewer.getByRole('button', { name: /^(?:Change the|Show)/ }).count()).toBe(0)
  await viewer.getByRole('tab', { name: 'Holds' }).click()
  await expect.poll(() => viewer.locator('.panel').innerText()).toContain('Your roles do not show holds')
  expect([refused.filter((path) => /holds|retention/.test(path)), found]).toEqual([[], []])
})
