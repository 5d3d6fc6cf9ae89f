import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'

const browser = useBrowser()
let served: Served
let id = ''
interface View {
  frontier: string
  blocks: { id: string; hash: string }[]
}

/** Replaces the first block, as a model does. */
async function edit(requestId: string, text: string, hash?: string) {
  const { frontier, blocks } = await served.ask<View>('GET', `/v1/documents/${id}`)
  const block = blocks[0]!
  return served.ask('POST', `/v1/documents/${id}/envelopes?by=model`, {
    doc_frontier: frontier,
    client_request_id: requestId,
    ops_xml: `<replace_spans><span span_id="${block.id}">${text}</span></replace_spans>`,
    preconditions: [{ span_id: block.id, if_match_context_hash: hash ?? block.hash }],
  })
}

beforeAll(async () => {
  served = await serve()
  const content = 'The first words.\n\nA `<script>globalThis.hit=1</script>` that stays.\n'
  const body = { title: 'Plan <b>A</b>', format: 'markdown', content, by: 'ada' }
  id = (await served.ask<{ documentId: string }>('POST', '/v1/documents', body)).documentId
  await edit('r1', 'The second words.')
  await expect(edit('r2', 'Refused words.', 'f'.repeat(64))).rejects.toThrow('409')
})
afterAll(() => served.close())

describe('documents', () => {
  it('are listed, and one shows its text, its history, its writers and its proof', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, '/documents')
    await page.getByRole('link', { name: 'Plan <b>A</b>', exact: true }).click()
    const detail = page.locator('.detail')
    await expect.poll(() => detail.innerText()).toContain('The second words.')
    expect(await detail.innerText()).toContain('<script>globalThis.hit=1</script>')
    const entries = page.locator('.event .type')
    await expect
      .poll(() => entries.allTextContents())
      .toEqual(['created', 'created', 'applied', 'AI_PRECONDITION_FAILED'])
    const numbers = await page.locator('.event .mono').allTextContents()
    expect(numbers).toEqual([...new Set(numbers)])
    await page.getByRole('tab', { name: 'Who wrote this?' }).click()
    await expect.poll(() => detail.locator('.blame').innerText()).toContain('second')
    await detail.getByRole('button', { name: 'Who wrote this? model' }).first().click()
    await expect.poll(() => detail.locator('h2').innerText()).toMatch(/#\d+ applied/)
    await expect.poll(() => detail.locator('.patch .added').allTextContents()).toEqual(['+The second words.'])
    expect(await detail.locator('.patch .removed').allTextContents()).toEqual(['-The first words.'])
    await page.getByRole('tab', { name: 'Proof' }).click()
    await detail.getByRole('button', { name: 'Verify the document' }).click()
    await expect.poll(() => detail.innerText()).toContain('The proof holds')
    expect(await page.evaluate(() => 'hit' in globalThis)).toBe(false)
    expect(found).toEqual([])
  })

  it('are moved through by keys, and follow what is written', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, `/documents/${id}`)
    const detail = page.locator('.detail')
    await expect.poll(() => detail.innerText()).toContain('The second words.')
    await page.keyboard.press('Home')
    await expect.poll(() => detail.innerText()).toContain('The document is empty here.')
    await page.keyboard.press('j')
    await expect.poll(() => detail.innerText()).toContain('The first words.')
    await page.keyboard.press('j')
    await expect.poll(() => detail.innerText()).toContain('The second words.')
    await page.keyboard.press('End')
    await expect.poll(() => new URL(page.url()).searchParams.get('rev')).toBe(null)
    await expect.poll(() => page.locator('.connection').innerText()).toBe('live')
    await edit('r3', 'The third words.')
    await expect.poll(() => detail.innerText()).toContain('The third words.')
    expect(found).toEqual([])
  })

  it('that do not exist are told', async () => {
    const page = await browser.page()
    await served.open(page, '/documents/nothing')
    await expect.poll(() => page.locator('.notice').innerText()).toContain('cannot be shown')
  })
})
