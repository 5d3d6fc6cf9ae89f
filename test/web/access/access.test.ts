import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { addPerson, linkOf, openAs as openPageAs } from '../../support/browser/people.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'
import { violations } from '../../support/browser/violations.ts'

// The screen of access: people and services, keys, roles and rules.

const browser = useBrowser()
let served: Served
const keys: Record<string, string> = {}

beforeAll(async () => {
  served = await serve()
})
afterAll(() => served.close())

const openAs = (page: Page, who: string, path: string) => openPageAs(served, page, who, keys[who]!, path)
const outcome = (page: Page) => page.locator('.outcome').innerText()

describe('the screen of access', () => {
  it('says how access is turned on while it is off', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, '/access')
    await expect.poll(() => page.locator('.notice').innerText()).toContain('keepup access init')
    expect([await violations(page), found]).toEqual([[], []])
  })

  it('adds a person, changes roles, creates a key that opens the page, and revokes it', async () => {
    keys.ann = (await served.ask<{ key: string }>('POST', '/v1/access', { principal: 'ann', name: 'Ann' })).key
    const page = await browser.page()
    const found = troubles(page)
    await openAs(page, 'ann', '/access')
    await page.getByText('You are ann').waitFor()
    await page.getByRole('button', { name: 'Add a person or service' }).click()
    await page.getByLabel('Id, which facts record').fill('bob')
    await page.getByLabel('Name, for people').fill('<b>Bob</b>')
    await page.getByRole('dialog').getByLabel('approver').check()
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await expect.poll(() => outcome(page)).toContain('bob is added.')
    const table = page.getByRole('region', { name: 'People and services' })
    await expect.poll(() => table.innerText()).toContain('viewer, approver')
    expect(await table.innerText()).toContain('<b>Bob</b>')

    await page.getByRole('button', { name: 'Roles of bob' }).click()
    await page.getByRole('dialog').getByLabel('approver').uncheck()
    await page.getByRole('dialog').getByLabel('auditor').check()
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await expect.poll(() => table.innerText()).toContain('viewer, auditor')

    await page.getByRole('button', { name: 'Keys of bob' }).click()
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByLabel('Days until it expires').fill('30')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    keys.bob = await page.locator('dialog pre').innerText()
    expect(keys.bob).toMatch(/^ku_key_/)
    await page.getByRole('button', { name: 'Done' }).click()
    await expect.poll(() => page.content()).not.toContain(keys.bob)
    expect(await violations(page)).toEqual([])

    await served.ask('PUT', '/v1/secrets/PORTAL', { value: 'a-long-value' })
    const other = await browser.page()
    await openAs(other, 'bob', '/access?tab=uses')
    await expect.poll(() => other.locator('.data-table').innerText()).toContain('setSecret')

    await page.getByRole('button', { name: /^Revoke/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await expect.poll(() => page.locator('.data-table').innerText()).toContain('revoked')
    await other.reload()
    await other.getByText('keepup open').first().waitFor()
    expect(found).toEqual([])
  })

  it('asks before a link signs in another person, and keeps the session of the person who refuses', async () => {
    const page = await browser.page()
    await openAs(page, 'ann', '/access')
    keys.mallory = await addPerson(served, 'mallory', 'viewer')
    await page.goto('about:blank')
    await page.goto(await linkOf(served, keys.mallory))
    await page.getByRole('heading', { name: 'Sign in as mallory?' }).waitFor()
    expect([await violations(page), await page.locator('main').innerText()]).toEqual([
      [],
      expect.stringContaining('in place of ann'),
    ])
    await page.getByRole('button', { name: 'Do not sign in' }).click()
    await expect.poll(() => page.locator('.person').innerText()).toBe('ann')
    await page.goto('about:blank')
    await page.goto(await linkOf(served, keys.ann!))
    await expect.poll(() => page.locator('.person').innerText()).toBe('ann')
  })

  it('shows what is refused: the last admin keeps the role, and a viewer sees no people', async () => {
    const page = await browser.page()
    await openAs(page, 'ann', '/access')
    await page.getByRole('button', { name: 'Roles of ann' }).click()
    await page.getByRole('dialog').getByLabel('admin').uncheck()
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await expect.poll(() => outcome(page)).toContain('the only admin')
    keys.vera = await addPerson(served, 'vera', 'viewer')
    const viewer = await browser.page()
    await openAs(viewer, 'vera', '/access')
    await expect.poll(() => viewer.locator('.fault').innerText()).toContain('access.read')
  })

  it('turns separation of duties off and on', async () => {
    const page = await browser.page()
    await openAs(page, 'ann', '/access?tab=rules')
    await page.getByRole('button', { name: 'Turn it off' }).click()
    await expect.poll(() => outcome(page)).toContain('Separation of duties is off.')
    await page.getByRole('button', { name: 'Turn it on' }).click()
    await expect.poll(() => outcome(page)).toContain('Separation of duties is on.')
    expect(await violations(page)).toEqual([])
  })

  it('lets a person with a key sign in, and shows an operator what happens', async () => {
    const page = await browser.page()
    const found = troubles(page)
    keys.olga = await addPerson(served, 'olga', 'operator')
    await page.goto(`${served.url}/`)
    await page.getByLabel('Key').fill('ku_key_wrong')
    await page.getByRole('button', { name: 'Sign in with a key' }).click()
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('this key is not known here')
    expect(await violations(page)).toEqual([])
    await page.getByLabel('Key').fill(keys.olga)
    await page.getByRole('button', { name: 'Sign in with a key' }).click()
    await expect.poll(() => page.locator('.person').innerText()).toContain('olga')
    await expect.poll(() => page.locator('.connection').innerText()).toContain('live')
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('ku_key_')
    const body = { task: 'finish what olga sees', model: served.model }
    const { runId: id } = await served.ask<{ runId: string }>('POST', '/v1/runs', body)
    await expect.poll(() => page.locator('main').innerText()).toContain('finish what olga sees')
    await page.goto(`${served.url}/runs/${id}`)
    await expect.poll(() => page.locator('.turn-card').count()).toBe(1)
    expect(found).toEqual([])
  })
})
