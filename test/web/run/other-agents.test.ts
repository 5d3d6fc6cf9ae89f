// @module-tag git
import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'
import { editingAgent, runEditingAgent } from '../../support/external/editing-agent.ts'

const browser = useBrowser()
let served: Served
beforeAll(async () => {
  // The page starts runs over the network, which the settings must allow.
  served = await serve({ agents: [editingAgent], settings: { agents: { folders: [realpathSync(tmpdir())] } } })
})
afterAll(() => served.close())

const ran = () => runEditingAgent(served, 'mend it')

it('the run of another agent shows its text as one, and its edits as differences', async () => {
  const page = await browser.page()
  const found = troubles(page)
  await served.open(page, `/runs/${await ran()}`)
  await expect.poll(() => page.locator('.markdown p').allInnerTexts()).toContain('I changea.tsThen all.')
  const [edit, write] = [page.locator('.reported').nth(0), page.locator('.reported').nth(1)]
  await edit.locator('summary').click()
  await expect.poll(() => edit.locator('.patch .removed').allInnerTexts()).toEqual(['-one'])
  expect(await edit.locator('.patch .added').allInnerTexts()).toEqual(['+two'])
  // The conversation loads shortened events; an opened call shows the whole.
  await write.locator('summary').click()
  await expect.poll(() => write.locator('.patch .added').count()).toBe(400)
  await page.getByRole('tab', { name: 'Files' }).click()
  await page.getByRole('button', { name: 'src/a.ts' }).click()
  await expect.poll(() => page.locator('.difference .patch .added').allInnerTexts()).toEqual(['+two'])
  await page.getByRole('button', { name: 'src/b.ts' }).click()
  await expect.poll(() => page.locator('.difference > .bad').innerText()).toContain('failed')
  expect(found).toEqual([])
})

it('an ended run is continued from the page, and the two runs link to each other', async () => {
  const page = await browser.page()
  const found = troubles(page)
  const first = await ran()
  await served.open(page, `/runs/${first}`)
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await page.getByRole('textbox', { name: 'Further task' }).fill('now the tests')
  await page.locator('form').getByRole('button', { name: 'Continue', exact: true }).click()
  await expect.poll(() => page.locator('.run-head h1').innerText()).toBe('now the tests')
  await page.getByRole('link', { name: /^continues / }).click()
  await expect.poll(() => page.url()).toContain(first)
  await expect.poll(() => page.getByRole('link', { name: /^continued by / }).count()).toBe(1)
  expect(found).toEqual([])
})

it('the numbers show the cost of each model that another agent has used', async () => {
  const runId = await ran()
  const page = await browser.page()
  const region = page.getByRole('region', { name: 'Cost by model' })
  for (const path of ['/numbers', `/numbers?run=${runId}`]) {
    await served.open(page, path)
    await expect.poll(() => region.innerText()).toMatch(/large-model[\s\S]*small-model/)
  }
})
