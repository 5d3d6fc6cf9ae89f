import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'

const browser = useBrowser()
let served: Served
beforeAll(async () => {
  served = await serve()
})
afterAll(() => served.close())

interface View {
  readonly blocks: readonly { readonly id: string; readonly text: readonly { readonly text: string }[] }[]
}

const view = (id: string) => served.ask<View>('GET', `/v1/documents/${id}`)
const texts = async (id: string) => (await view(id)).blocks.map(({ text }) => text.map((run) => run.text).join(''))

async function create(content: string) {
  const body = { title: 'Plan for spring', by: 'ada', format: 'markdown', content }
  const { documentId } = await served.ask<{ documentId: string }>('POST', '/v1/documents', body)
  const spans = (await view(documentId)).blocks.map((block) => block.id)
  const suggest = (span_id: string, quote: string, replacement: string) =>
    served.ask<{ id: string }>('POST', `/v1/documents/${documentId}/suggestions`, {
      ...{ span_id, quote, replacement, reason: 'clearer', by: 'model' },
    })
  return { id: documentId, spans, suggest }
}

async function editing(id: string, page?: Page) {
  const window = page ?? (await browser.page())
  const found = troubles(window)
  await served.open(window, `/documents/${id}?tab=edit`)
  const text = window.getByRole('textbox', { name: /Text of document/ })
  await text.waitFor()
  return { page: window, found, text, beside: window.getByRole('complementary', { name: 'Comments and suggestions' }) }
}

/** Selects the last letters of the first line by keys. */
async function selectEnd(page: Page, letters: number) {
  await page.locator('.ProseMirror p').first().click()
  await page.keyboard.press('End')
  for (let n = 0; n < letters; n++) await page.keyboard.press('Shift+ArrowLeft')
}

describe('comments and suggestions on the page', () => {
  it('a suggestion of an agent is marked on the text, and accepted beside it', async () => {
    const { id, spans, suggest } = await create('The quick fox.\n\nSecond.')
    const { page, found, beside } = await editing(id)
    await suggest(spans[0]!, 'quick', 'slow')
    await expect.poll(() => beside.innerText()).toContain('1 open')
    await expect.poll(() => page.locator('.marked.on-suggestion').allTextContents()).toEqual(['quick'])
    await page.locator('.marked').click()
    await expect.poll(() => beside.locator('.comment[aria-current]').count()).toBe(1)
    expect(await page.locator('h1').innerText()).toContain('Plan for spring')
    await beside.getByRole('button', { name: 'Accept' }).click()
    await expect.poll(() => texts(id)).toEqual(['The slow fox.', 'Second.'])
    await expect.poll(() => page.locator('.ProseMirror p').first().innerText()).toBe('The slow fox.')
    await expect.poll(() => page.locator('.marked').count()).toBe(0)
    await beside.getByRole('button', { name: 'Show 1 settled' }).click()
    await expect.poll(() => beside.innerText()).toContain('accepted by ada')
    expect(found).toEqual([])
  })

  it('a person comments by keys on what was just typed; another window shows, answers and resolves it', async () => {
    const { id } = await create('First line')
    const ann = await editing(id)
    const bob = await editing(id)
    await ann.page.locator('.ProseMirror p').first().click()
    await ann.page.keyboard.press('End')
    await ann.page.keyboard.type(' tail 🦊')
    await selectEnd(ann.page, 7)
    await ann.page.keyboard.press('Control+Alt+m')
    await ann.page.getByLabel('Comment', { exact: true }).fill('Which tail?')
    await ann.page.keyboard.press('Tab')
    await ann.page.keyboard.press('Enter')
    await expect.poll(() => bob.beside.innerText()).toContain('Which tail?')
    await expect.poll(() => bob.page.locator('.marked').allTextContents()).toEqual([' tail 🦊'])
    await bob.beside.getByRole('button', { name: 'Reply …' }).click()
    await bob.page.getByLabel('Reply').fill('The red one.')
    await bob.page.keyboard.press('Enter')
    await expect.poll(() => ann.beside.innerText()).toContain('The red one.')
    await ann.beside.getByRole('button', { name: 'Resolve' }).click()
    await expect.poll(() => bob.beside.innerText()).toContain('No open comments')
    expect([...ann.found, ...bob.found]).toEqual([])
  })

  it('a suggestion whose text a person changes is outdated, cannot be accepted, and is refused with a reason', async () => {
    const { id, spans, suggest } = await create('The quick fox')
    const { id: suggestion } = await suggest(spans[0]!, 'fox', 'hen')
    const { page, found, beside } = await editing(id)
    await expect.poll(() => beside.innerText()).toContain('1 open')
    await selectEnd(page, 2)
    await page.keyboard.type('ur')
    await expect.poll(() => beside.innerText()).toContain('outdated')
    expect(await beside.getByRole('button', { name: 'Accept' }).isDisabled()).toBe(true)
    const path = `/v1/documents/${id}/suggestions/${suggestion}/accept`
    await expect(served.ask('POST', path, { by: 'ada' })).rejects.toThrow('SUGGESTION_OUTDATED')
    await beside.getByRole('button', { name: 'Refuse …' }).click()
    await page.getByLabel('Reason').fill('it is a fur now')
    await page.keyboard.press('Enter')
    await expect.poll(() => beside.innerText()).toContain('No open comments')
    expect(await texts(id)).toEqual(['The quick fur'])
    expect(found).toEqual([])
  })

  it('the colours of authors are on the text itself, with their names', async () => {
    const { id, spans, suggest } = await create('The quick fox.\n\nSecond.')
    const { id: suggestion } = await suggest(spans[0]!, 'quick', 'slow')
    await served.ask('POST', `/v1/documents/${id}/suggestions/${suggestion}/accept`, { by: 'bob' })
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, `/documents/${id}`)
    await page.getByLabel('Colours of authors').check()
    await expect.poll(() => page.getByRole('list', { name: 'Authors' }).allInnerTexts()).toEqual(['ada\nbob'])
    await expect.poll(() => page.locator('.markdown .written[title=bob]').allTextContents()).toEqual(['slow'])
    expect(await page.locator('.markdown .written[title=ada]').allTextContents()).toEqual(['The ', ' fox.', 'Second.'])
    expect(found).toEqual([])
  })
})
