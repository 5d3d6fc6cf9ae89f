import { afterAll, beforeAll, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'
import { violations } from '../../support/browser/violations.ts'

// Tags and notes of runs, the search in their texts, and the palette that finds them.

const browser = useBrowser()
let served: Served
let run = ''
let file = ''
beforeAll(async () => {
  served = await serve()
  run = await served.driven('finish the first')
  file = await served.driven('both files', { workspace: served.workspace(), approve: ['write_file'] })
})
afterAll(() => served.close())

it('a person tags a run and writes a note, finds the run by the tag, and erases the note', async () => {
  const page = await browser.page()
  const found = troubles(page)
  await served.open(page, `/runs/${run}`)
  const section = page.getByRole('region', { name: 'Tags and notes' })
  await section.getByLabel('New tag').fill('to <b>check</b>')
  await page.keyboard.press('Enter')
  const chip = section.getByRole('link', { name: 'to <b>check</b>' })
  await chip.waitFor()
  await section.locator('summary').click()
  await section.getByLabel('New note').fill('Anna will look at it')
  await section.getByRole('button', { name: 'Write the note' }).click()
  await section.getByText('Anna will look at it').waitFor()
  expect(await section.locator('summary').innerText()).toBe('1 note')
  expect(await violations(page)).toEqual([])
  await section.getByRole('button', { name: 'Remove and erase' }).click()
  await expect.poll(() => section.getByText('Anna will look at it').count()).toBe(0)
  await chip.click()
  await expect.poll(() => page.locator('.run-row').count()).toBe(1)
  expect(await page.locator('.run-row .tag').allInnerTexts()).toEqual(['to <b>check</b>'])
  await page.goBack()
  await section.getByRole('button', { name: /^Remove the tag/ }).click()
  await expect.poll(() => section.locator('.tag').count()).toBe(0)
  expect(found).toEqual([])
})

it('a change of another person is shown at once', async () => {
  const page = await browser.page()
  await served.open(page, `/runs/${run}`)
  const section = page.getByRole('region', { name: 'Tags and notes' })
  await section.waitFor()
  await expect.poll(() => page.locator('.connection').innerText()).toBe('live')
  await served.ask('POST', `/v1/runs/${run}/tags`, { tag: 'theirs' })
  await served.ask('POST', `/v1/runs/${run}/notes`, { text: 'their note' })
  await section.getByRole('link', { name: 'theirs' }).waitFor()
  await section.getByText('1 note').waitFor()
})

it('the list finds a text in an output, shows the passage, and leads to the event', async () => {
  const page = await browser.page()
  const found = troubles(page)
  await served.open(page, '/?text=one.txt')
  const row = page.locator('.run-row')
  await row.locator('mark').waitFor()
  expect(await row.count()).toBe(1)
  expect(await row.locator('mark').innerText()).toBe('one.txt')
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  await row.click()
  await expect.poll(() => page.url()).toMatch(new RegExp(`/runs/${file}\\?at=\\d+$`))
  expect(found).toEqual([])
})

it('the palette finds events, files, documents and people by kind, with the keyboard alone', async () => {
  await served.ask('POST', '/v1/documents', { title: 'Plan of one.txt' })
  const page = await browser.page()
  const found = troubles(page)
  await served.open(page)
  await page.locator('.run-row').first().waitFor()
  const field = page.getByRole('combobox', { name: /^A screen/ })
  const look = async (text: string, kind: string) => {
    await page.keyboard.press('Control+k')
    await field.waitFor()
    await page.keyboard.type(text)
    const group = page.getByRole('group', { name: kind })
    const option = group.getByRole('option').first()
    await option.waitFor()
    while ((await option.getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    return new URL(page.url())
  }
  expect((await look('one.txt', 'Events')).href).toMatch(new RegExp(`/runs/${file}\\?at=\\d+$`))
  expect((await look('one.', 'Files')).searchParams.get('file')).toBe('one.txt')
  expect((await look('plan of', 'Documents')).pathname).toMatch(/^\/documents\/./)
  expect((await look('ada', 'People')).searchParams.get('person')).toBe('ada')
  expect(found).toEqual([])
})
