import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'

const browser = useBrowser()
let served: Served
let run = ''
beforeAll(async () => {
  served = await serve()
  run = await served.driven('finish')
})
afterAll(() => served.close())

interface Status {
  readonly vkey: string
  readonly head: { readonly origin: string; readonly size: number }
}

describe('the screen of proof', () => {
  it('shows the name, the key and the last head of the log, and that new events are signed', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await served.open(page, '/proof')
    await expect.poll(() => page.locator('p.good').innerText()).toBe('✓ The log is signed, to its last event')
    const { vkey, head } = await served.ask<Status>('GET', '/v1/proof/status')
    const facts = await page.locator('.facts').innerText()
    expect(facts).toContain(head.origin)
    expect(facts).toContain(`${head.size} events, signed`)
    expect(facts).toContain('every event is signed')
    await page.getByRole('button', { name: 'Copy the key' }).click()
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(vkey)
    await served.driven('finish again')
    const size = () => page.locator('.facts').innerText()
    await expect.poll(size).not.toContain(`${head.size} events, signed`)
    await expect.poll(size).toContain('every event is signed')
    await page.keyboard.press('y')
    await expect.poll(() => page.locator('dialog').innerText()).toContain('keepup call getProofStatus')
    expect(found).toEqual([])
  })

  it('adds an anchor, leaves a head with it, says why it fails, and removes it', async () => {
    const page = await browser.page()
    const found = troubles(page)
    const folder = join(served.workspace(), 'heads')
    mkdirSync(folder)
    await served.open(page, '/proof')
    const outcome = () => page.locator('.outcome').innerText()
    const add = async (name: string, target: string) => {
      await page.getByRole('button', { name: 'Add an anchor' }).click()
      await page.getByLabel('Name').fill(name)
      await page.getByLabel('Folder on the server').fill(target)
      await page.getByRole('button', { name: 'Add', exact: true }).click()
    }
    await add('share', 'not/absolute')
    await expect.poll(outcome).toContain('expected an absolute path')
    await add('share', folder)
    await expect.poll(outcome).toContain('The anchor share is added.')
    await page.getByRole('button', { name: 'Anchor now', exact: true }).click()
    await expect.poll(outcome).toContain('The head is anchored.')
    expect(readdirSync(folder, { recursive: true }).length).toBeGreaterThan(0)
    rmSync(folder, { recursive: true })
    await page.getByRole('button', { name: 'Anchor now with share' }).click()
    await expect.poll(outcome).toContain('share: ')
    const table = page.getByRole('region', { name: 'Anchors' })
    await expect.poll(() => table.locator('.bad').innerText()).toContain(folder)
    await page.getByRole('button', { name: 'Remove share' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await expect.poll(() => page.locator('.panel').innerText()).toContain('The log has no anchor.')
    expect(found).toEqual([])
  })

  it('verifies every stream and the heads, and names what an anchor contradicts', async () => {
    const page = await browser.page()
    const found = troubles(page)
    const folder = join(served.workspace(), 'kept')
    mkdirSync(folder)
    const json = { anchor: 'kept', kind: 'folder', target: folder, by: 'ada' }
    await served.ask('POST', '/v1/anchors', json)
    await served.ask('POST', '/v1/anchors/now', { by: 'ada' })
    const { events } = await served.ask<{ events: unknown[] }>('GET', `/v1/runs/${run}/events?limit=500`)
    // All, anchored (no anchor was asked), recorded as anchored, only signed, only chained, erased.
    const counts = [events.length, 0, events.length, 0, 0, 0].map(String)
    await served.open(page, '/proof?tab=verify')
    const said = () => page.locator('main [role=status]').last().innerText()
    await page.getByRole('button', { name: 'Verify everything' }).press('Enter')
    await expect.poll(said).toMatch(/(\d+) streams of \1 ✓ The proof holds/)
    const table = page.getByRole('region', { name: 'Streams' })
    const row = table.getByRole('row', { name: `agent-${run}` })
    await expect.poll(() => row.locator('td').allInnerTexts()).toEqual([`agent-${run}`, 'holds', ...counts])
    rmSync(folder, { recursive: true })
    await page.getByRole('button', { name: 'Verify everything' }).click()
    await expect.poll(said).toContain('✓ The proof holds')
    await page.getByRole('button', { name: 'Verify with the anchors' }).click()
    await expect.poll(said).toContain('✗ The proof is broken')
    await expect.poll(() => page.locator('.panel').innerText()).toContain('ANCHOR: the anchor kept')
    expect(found).toEqual([])
  })

  it('shows the documentation of proofs', async () => {
    const page = await browser.page()
    await served.open(page, '/proof?tab=guide')
    await expect.poll(() => page.locator('.markdown').innerText()).toContain('Merkle tree')
  })
})
