import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'

const browser = useBrowser()
let served: Served
let [run, text] = ['', '']
beforeAll(async () => {
  served = await serve()
  run = await served.driven('write hello <img src=x onerror="globalThis.hit=1">', {
    ...{ workspace: served.workspace(), approve: ['write_file'] },
  })
  text = await (await served.backend.fetch(new Request(`http://localhost/v1/runs/${run}/export`))).text()
})
afterAll(() => served.close())

/** Drops a file on the page as the file manager does. */
const drop = (page: Page, name: string, content: string) =>
  page.evaluate(
    ([called, said]) => {
      const files = new DataTransfer()
      files.items.add(new File([said!], called!))
      const options = { bubbles: true, cancelable: true, dataTransfer: files }
      const over = new DragEvent('dragover', options)
      document.body.dispatchEvent(over)
      document.body.dispatchEvent(new DragEvent('drop', options))
      return over.defaultPrevented
    },
    [name, content],
  )

describe('an exported run', () => {
  it('is saved on the page of the run, byte for byte', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, `/runs/${run}`)
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    const file = await saved
    expect(file.suggestedFilename()).toBe(`${run}.ndjson`)
    expect(readFileSync(await file.path(), 'utf8')).toBe(text)
    expect(found).toEqual([])
  })

  it('is viewed and checked without a session, and without a word to the server', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await page.goto(served.url)
    await page.getByText('drop its file on this page').waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    expect(await drop(page, 'run.ndjson', text)).toBe(true)
    await expect.poll(() => page.locator('.about').innerText()).toContain('The proof holds')
    expect(await page.locator('.about').innerText()).toContain(run)
    await page.keyboard.press('Home')
    await expect.poll(() => page.locator('.pane h2').innerText()).toContain('agent_started')
    await page.keyboard.press('j')
    await expect.poll(() => page.locator('.pane h2').innerText()).toContain('user_input')
    await expect.poll(() => page.locator('.pane').last().innerText()).toContain('<img src=x onerror=')
    // A call has its arguments beside it.
    await page
      .getByRole('button', { name: /tool_call_start/ })
      .first()
      .click()
    await expect.poll(() => page.locator('.pane').last().innerText()).toContain('hello.txt')
    expect(await page.evaluate(() => 'hit' in globalThis)).toBe(false)
    // The browser looks for the icon of each address by itself.
    expect(asked.filter((url) => url.startsWith('http') && !url.endsWith('/icon.svg'))).toEqual([])
    expect(found).toEqual([])
  })

  it.each<[string, (lines: string[]) => string[], string]>([
    [
      'a body that was changed',
      (l) => with_(l, 1, (line) => ({ ...line, body: btoa('{"text":"other"}') })),
      'its body is not',
    ],
    [
      'a header that was changed',
      (l) => with_(l, 2, (line) => ({ ...line, header: { ...(line.header as object), turn: 9 } })),
      'its hash is not',
    ],
    ['an event that is missing', (l) => l.toSpliced(3, 1), 'are missing'],
    ['an end that is missing', (l) => l.slice(0, -3), 'does not end where'],
  ])('with %s is told to be broken', async (_, change, said) => {
    const page = await browser.page()
    await page.goto(`${served.url}/exported`)
    await page.locator('.notice').waitFor()
    await drop(page, 'run.ndjson', `${change(text.trimEnd().split('\n')).join('\n')}\n`)
    await expect.poll(() => page.locator('.about').innerText()).toContain('The proof is broken')
    expect(await page.locator('.about').innerText()).toContain(said)
  })

  it.each([
    ['nothing', '', 'it is empty'],
    ['no JSON', '<script>globalThis.hit=1</script>', 'line 1 is no JSON'],
    ['other JSON', '{"a":1}\n', 'first line'],
    ['null', 'null\n', 'first line'],
  ])('that holds %s is refused with a reason', async (_, content, said) => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, '/exported')
    const file = { name: '<b>x</b>.ndjson', mimeType: 'text/plain', buffer: Buffer.from(content) }
    await page.getByLabel('File').setInputFiles(file)
    await expect.poll(() => page.getByRole('alert').innerText()).toContain(`<b>x</b>.ndjson is no exported run: `)
    expect(await page.getByRole('alert').innerText()).toContain(said)
    expect(found).toEqual([])
  })
})

/** The event of a line, changed. */
function with_(lines: string[], at: number, change: (line: Record<string, unknown>) => object): string[] {
  return lines.with(at, JSON.stringify(change(JSON.parse(lines[at]!))))
}
