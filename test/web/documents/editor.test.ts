import type { Locator, Page } from 'playwright-core'
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
  readonly revision: number
  readonly blocks: readonly {
    readonly id: string
    readonly type: string
    readonly text?: readonly { readonly text: string; readonly marks: object }[]
  }[]
}

async function create(content?: string): Promise<string> {
  const body = { title: 'Plan', by: 'ada', ...(content !== undefined && { format: 'markdown', content }) }
  return (await served.ask<{ documentId: string }>('POST', '/v1/documents', body)).documentId
}
const view = (id: string) => served.ask<View>('GET', `/v1/documents/${id}`)
const texts = async (id: string) =>
  (await view(id)).blocks.map(({ type, text = [] }) => [type, text.map((run) => run.text).join('')])

/** A window with the editor of a document. */
async function editing(id: string): Promise<{ page: Page; found: string[]; text: Locator }> {
  const page = await browser.page()
  const found = troubles(page)
  await served.open(page, `/documents/${id}?tab=edit`)
  const text = page.getByRole('textbox', { name: /Text of document/ })
  await text.waitFor()
  return { page, found, text }
}
/** Clicks before and after the text of a line. */
const [START, END] = [
  { x: 1, y: 8 },
  { x: 300, y: 8 },
]
/** What a person wrote, without the names at the cursors of others. */
const written = (text: Locator) =>
  text.evaluate((element) => {
    const copy = element.cloneNode(true) as HTMLElement
    for (const cursor of copy.querySelectorAll('.cursor')) cursor.remove()
    return copy.textContent
  })
const saved = (page: Page) => expect.poll(() => page.locator('.editor-state').innerText()).toContain('saved')

describe('the editor of a document', () => {
  it('writes an empty document: headings, lists, marks, line feeds', async () => {
    const id = await create()
    const { page, found, text } = await editing(id)
    await text.click()
    await page.keyboard.type('# Plan')
    await page.keyboard.press('Enter')
    await page.keyboard.type('First ')
    await page.keyboard.press('Control+b')
    await page.keyboard.type('bold')
    await page.keyboard.press('Control+b')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('second line')
    await page.keyboard.press('Enter')
    await page.keyboard.type('- one')
    await page.keyboard.press('Enter')
    await page.keyboard.type('two')
    await expect
      .poll(() => texts(id))
      .toEqual([
        ['heading', 'Plan'],
        ['paragraph', 'First bold\nsecond line'],
        ['list_item', 'one'],
        ['list_item', 'two'],
      ])
    const marks = (await view(id)).blocks[1]!.text!
    expect(marks.map((run) => [run.text, run.marks])).toEqual([
      ['First ', {}],
      ['bold', { bold: true }],
      ['\nsecond line', {}],
    ])
    await saved(page)
    expect(found).toEqual([])
  })

  it('is shared: two people type in one paragraph, and each sees the other with a name', async () => {
    const id = await create('one two three\n\nlast')
    const [ann, bob] = [await editing(id), await editing(id)]
    await ann.text.locator('p').first().click({ position: START })
    await bob.text.locator('p').first().click({ position: END })
    await expect.poll(() => ann.page.locator('.cursor .name').allTextContents()).toEqual(['ada'])
    await Promise.all([
      ann.page.keyboard.type('alpha alpha ', { delay: 30 }),
      bob.page.keyboard.type(' omega omega', { delay: 30 }),
    ])
    const both = 'alpha alpha one two three omega omega'
    for (const { text } of [ann, bob]) await expect.poll(() => written(text)).toContain('omega omega')
    await expect
      .poll(() => texts(id))
      .toEqual([
        ['paragraph', both],
        ['paragraph', 'last'],
      ])
    // The cursor of each stayed where that person types.
    await ann.page.keyboard.type('!')
    await expect.poll(async () => (await texts(id))[0]![1]).toBe('alpha alpha !one two three omega omega')
    await bob.page.close()
    await expect.poll(() => ann.page.locator('.cursor').count()).toBe(0)
    expect([...ann.found, ...bob.found]).toEqual([])
  })

  it('undoes only what this person wrote, and restores an id to no block', async () => {
    const id = await create('keep\n\nremove me')
    const { page, found, text } = await editing(id)
    await text.locator('p').nth(1).click({ position: END })
    for (let n = 0; n < 'remove me'.length + 1; n++) await page.keyboard.press('Backspace')
    await expect.poll(() => texts(id)).toEqual([['paragraph', 'keep']])
    const { blocks } = await served.ask<{ blocks: { id: string }[] }>('GET', `/v1/documents/${id}`)
    const other = await editing(id)
    await other.text.locator('p').first().click({ position: START })
    await other.page.keyboard.type('please ')
    await expect.poll(() => written(text)).toContain('please keep')
    const undo = page.getByRole('button', { name: 'undo' })
    // Letters that are deleted quickly are undone together.
    while (await undo.isEnabled()) await undo.click()
    await expect.poll(async () => (await texts(id))[0]).toEqual(['paragraph', 'please keep'])
    await expect.poll(async () => (await texts(id)).length).toBe(2)
    const after = await served.ask<{ blocks: { id: string }[] }>('GET', `/v1/documents/${id}`)
    expect(after.blocks[0]!.id).toBe(blocks[0]!.id)
    expect([...found, ...other.found]).toEqual([])
  })

  it('makes a document, and restores what it was by new changes', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, '/documents')
    await page.getByLabel('Title of a new document').fill('Notes')
    await page.getByRole('button', { name: 'New document' }).click()
    const text = page.getByRole('textbox', { name: /Text of document/ })
    await text.click()
    await page.keyboard.type('first')
    const id = new URL(page.url()).pathname.split('/').at(-1)!
    await expect.poll(() => texts(id)).toEqual([['paragraph', 'first']])
    const { revision } = await view(id)
    await page.keyboard.type(' and more')
    await expect.poll(() => texts(id)).toEqual([['paragraph', 'first and more']])
    await page.goto(`${served.url}/documents/${id}?rev=${revision}`)
    await page.getByRole('button', { name: 'Restore this version' }).click()
    await expect.poll(() => texts(id)).toEqual([['paragraph', 'first']])
    expect((await view(id)).revision).toBeGreaterThan(revision + 1)
    expect(found).toEqual([])
  })

  it('keeps what the server refuses on the screen, and says why', async () => {
    const id = await create('text')
    const { page, text } = await editing(id)
    await page.route(/\/updates\?by=/, (route) =>
      route.fulfill({ status: 422, json: { code: 'UPDATE_HOLDS_SECRET', status: 422, detail: 'it holds a secret' } }),
    )
    await text.locator('p').first().click({ position: END })
    await page.keyboard.type(' secret')
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('it holds a secret')
    expect(await text.innerText()).toContain('text secret')
    await page.getByRole('button', { name: 'Read it again' }).click()
    await expect.poll(() => text.innerText()).toBe('text')
  })

  it('sends again what a server that is away did not take', async () => {
    const id = await create('text')
    const { page, text } = await editing(id)
    await page.route(/\/updates\?by=/, (route) => route.abort())
    await text.locator('p').first().click({ position: END })
    await page.keyboard.type(' and more')
    await expect.poll(() => page.locator('.editor-state').innerText()).toContain('not saved')
    // What is not saved yet outlives the screen.
    await page.getByRole('tab', { name: 'Text' }).click()
    await page.getByRole('tab', { name: 'Edit' }).click()
    await expect.poll(() => text.innerText()).toBe('text and more')
    await page.unroute(/\/updates\?by=/)
    await expect.poll(() => texts(id)).toEqual([['paragraph', 'text and more']])
    await saved(page)
    const [before] = (await view(id)).blocks
    await text.locator('p').first().click({ position: START })
    await page.keyboard.type('# ')
    await expect.poll(() => texts(id)).toEqual([['heading', 'text and more']])
    expect((await view(id)).blocks[0]!.id).toBe(before!.id)
  })
})
