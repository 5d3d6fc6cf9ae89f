import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { tarFiles } from '../../../api/operations/pack/tar.ts'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'
import { violations } from '../../support/browser/violations.ts'
import { tarOf } from '../../support/packs.ts'

const browser = useBrowser()
let served: Served
let [run, vkey] = ['', '']
let pack = Buffer.alloc(0)
const packed = async (query: string) =>
  Buffer.from(await (await served.backend.fetch(new Request(`http://localhost/v1/packs?${query}`))).arrayBuffer())
beforeAll(async () => {
  served = await serve()
  run = await served.driven('write hello', { workspace: served.workspace(), approve: ['write_file'] })
  pack = await packed(`run=${run}`)
  vkey = (await served.ask<{ vkey: string }>('GET', '/v1/proof/head')).vkey
})
afterAll(() => served.close())

/** Drops a file on the page as the file manager does. */
const drop = (page: Page, name: string, content: Buffer) =>
  page.evaluate(
    ([called, base64]) => {
      const files = new DataTransfer()
      files.items.add(new File([Uint8Array.from(atob(base64!), (c) => c.charCodeAt(0))], called!))
      document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: files }))
    },
    [name, content.toString('base64')],
  )

/** The pack with one file changed. */
async function changed(name: string, change: (text: string) => string): Promise<Buffer> {
  const files: Record<string, string> = {}
  async function* source() {
    yield new Uint8Array(pack)
  }
  for await (const file of tarFiles(source()))
    files[file.name] = Buffer.concat(await Array.fromAsync(file.bytes)).toString()
  expect(files[name]).toBeDefined()
  return Buffer.concat(await Array.fromAsync(tarOf({ ...files, [name]: change(files[name]!) })))
}

const verdict = (page: Page) => page.locator('main [role=status]').innerText()

describe('a pack that is dropped on the page', () => {
  it('is checked without a session and without a word to the server, and its story is shown', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await page.goto(`${served.url}/pack`)
    await page.getByText('nothing of it is sent anywhere').waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(`${request.method()} ${request.url()} ${request.postData() ?? ''}`))
    await drop(page, 'review.pack', pack)
    await expect.poll(() => verdict(page)).toContain('✓ The parts of the pack belong together')
    expect(await verdict(page)).toContain('Only the keys in the pack itself were used.')
    expect(await page.locator('.facts').innerText()).toContain(vkey)
    const { events } = await served.ask<{ events: unknown[] }>('GET', `/v1/runs/${run}/events?limit=500`)
    const streams = page.getByRole('region', { name: 'Streams of the pack' })
    expect((await streams.locator('tbody td').allInnerTexts()).slice(0, 3)).toEqual([
      ...[run, `agent-${run}`, String(events.length)],
    ])
    const story = page.frameLocator('.story')
    await expect.poll(() => story.locator('h1').innerText()).toBe(`Run ${run}`)
    // The style of the story is allowed.
    const family = await story.locator('body').evaluate((body) => getComputedStyle(body).fontFamily)
    expect(family).toContain('system-ui')
    expect(await violations(page)).toEqual([])
    expect(asked.filter((one) => !/^GET (?:blob:\S+|\S+\/(?:assets\/[\w.-]+|icon\.svg)) $/.test(one))).toEqual([])
    expect(found).toEqual([])
  })

  it('is compared with the key that a person got in another way', async () => {
    const page = await browser.page()
    await served.open(page, '/proof')
    await page.getByRole('link', { name: 'Check a pack' }).click()
    const file = { name: 'review.pack', mimeType: 'application/x-tar', buffer: pack }
    await page.getByLabel('File').setInputFiles(file)
    await expect.poll(() => verdict(page)).toContain('✓ The parts')
    const key = page.getByLabel('The key that you got from another source')
    await key.fill(vkey)
    await key.press('Enter')
    await expect.poll(() => verdict(page)).toBe('✓ The pack holds, and the key that you gave signed it')
    const other = 'log.example+c6e8a1f1+AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    await key.fill(other)
    await page.getByRole('button', { name: 'Check with this key' }).click()
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('does not match its id')
  })

  it('is told to be broken where an event was changed, with the place', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page)
    const forged = await changed('events.ndjson', (text) => text.replace(/"actor":\{"claimed":\w+,"id":"\w/, '$&x'))
    await drop(page, 'review.pack', forged)
    await expect.poll(() => verdict(page)).toContain('✗ The pack is broken')
    await expect.poll(() => page.locator('main').innerText()).toContain('its hash does not follow from it')
    expect(new URL(page.url()).pathname).toBe('/pack')
    expect(await violations(page)).toEqual([])
    expect(found).toEqual([])
  })

  it('says why bodies are absent', async () => {
    const page = await browser.page()
    await page.goto(`${served.url}/pack`)
    await page.locator('.notice').waitFor()
    await drop(page, 'review.pack', await packed(`run=${run}&bodies=false`))
    await expect.poll(() => page.locator('.facts').innerText()).toMatch(/0 of (\d+) events\s+\1 withheld/)
  })

  it('with a hostile story runs nothing and loads nothing', async () => {
    const page = await browser.page()
    await page.goto(`${served.url}/pack`)
    await page.locator('.notice').waitFor()
    // The browser also announces requests that the policy then blocks, so a server counts those that arrive.
    const hits: string[] = []
    const elsewhere = createServer((request, response) => {
      hits.push(request.url!)
      response.end()
    })
    onTestFinished(() => void elsewhere.close())
    elsewhere.listen(0, '127.0.0.1')
    await once(elsewhere, 'listening')
    const other = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
    const evil = `<!doctype html><meta http-equiv="refresh" content="0;url=${other}/frame"><h1>evil</h1>
<script>top.hit = 1; fetch('${other}/fetch')</script><img src="${other}/img" onerror="top.hit = 1">
<link rel="stylesheet" href="${other}/link"><style>h1 { background: url(${other}/style) }</style>
<form action="${other}/form"><button>send</button></form><a href="${other}/link" target="_top">go</a>`
    await drop(page, 'review.pack', await changed('story.html', () => evil))
    await expect.poll(() => verdict(page)).toContain('✓ The parts of the pack belong together')
    const story = page.frameLocator('.story')
    await story.locator('h1').waitFor()
    await story.getByRole('button').click()
    await story.getByRole('link').click()
    await page.waitForTimeout(500)
    expect(new URL(page.url()).pathname).toBe('/pack')
    expect(await page.evaluate(() => 'hit' in globalThis)).toBe(false)
    expect(hits).toEqual([])
  })
})

it('a tar that is no pack, and a cut pack, are named as such', async () => {
  const page = await browser.page()
  const found = troubles(page)
  await page.goto(`${served.url}/pack`)
  await page.locator('.notice').waitFor()
  await drop(page, 'cut.pack', pack.subarray(0, pack.length / 2))
  await expect.poll(() => page.getByRole('alert').innerText()).toContain('it ends within a file')
  await drop(page, 'other.tar', Buffer.concat(await Array.fromAsync(tarOf({ 'a.txt': 'a' }))))
  await expect.poll(() => page.locator('main').innerText()).toContain('events.ndjson: the file is missing')
  expect(found).toEqual([])
})
