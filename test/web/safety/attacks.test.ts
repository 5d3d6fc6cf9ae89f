import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve } from '../../support/browser/served.ts'
import { type Attack, READS, WRITES } from './page-attacks.ts'

// A person has a session with keepup, and opens a page of another program of this host, to which the browser sends the same
// cookies: only the port differs. That page must read nothing and change nothing.

const browser = useBrowser()
let served: Served
let id = ''
const TYPES: Readonly<Record<string, [type: string, text: string]>> = {
  script: ['text/javascript', 'globalThis.loaded = 1'],
  style: ['text/css', 'body { color: red }'],
  image: ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'],
}
const server = createServer((request, answer) => {
  heard.push({ cookie: request.headers.cookie ?? '' })
  const stream = request.headers.accept === 'text/event-stream'
  const page: [string, string] = stream
    ? ['text/event-stream', 'data: x\n\n']
    : ['text/html', '<!doctype html><title>evil</title><body><p id=page>x</p></body>']
  const [type, text] = TYPES[String(request.headers['sec-fetch-dest'])] ?? page
  answer.setHeader('content-type', type)
  answer.end(text)
})
const heard: { cookie: string }[] = []
let evil = ''
beforeAll(async () => {
  served = await serve()
  id = await served.driven('write hello', { workspace: served.workspace() })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  evil = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.close()
  await served.close()
})

/** A page of the other program, in a browser that has a session with keepup. */
async function opened(): Promise<Page> {
  const page = await browser.page()
  await served.open(page)
  await page.goto(`${evil}/`)
  return page
}

/** `patience`: after so many ms an attack that has got nothing has failed. */
function tried(page: Page, attack: Attack[1], url: string, patience = 5_000): Promise<unknown> {
  return page
    .evaluate(
      ([text, target, run, limit]) => {
        const act = new Function(`return (${text})`)() as (url: string, id: string) => unknown
        const timer = new Promise((resolve) => setTimeout(() => resolve(''), Number(limit)))
        return Promise.race([Promise.resolve(act(target!, run!)).catch(() => ''), timer])
      },
      [attack.toString(), url, id, String(patience)],
    )
    .catch(() => '')
}

/** The answers of attacks that a page makes at once. */
const all = async (page: Page, attacks: readonly Attack[], url: string, patience?: number) =>
  Object.fromEntries(
    await Promise.all(attacks.map(async ([name, attack]) => [name, await tried(page, attack, url, patience)] as const)),
  )

describe('a page of another port of this host', () => {
  it('reads nothing', async () => {
    const got = await all(await opened(), READS, served.url)
    expect(got).toEqual(Object.fromEntries(READS.map(([name]) => [name, ''])))
  })

  // Of its own origin it may do the same: so the attacks are none that could not succeed anywhere.
  it('reads its own', async () => {
    const possible = READS.filter(([name]) => !/storage|own script|worker|redirect/.test(name))
    const page = await opened()
    await page.evaluate(() => {
      // biome-ignore lint/suspicious/noDocumentCookie: as such a page does it
      document.cookie = 'own=1'
    })
    const got = await all(page, possible, evil, 60_000)
    expect(possible.filter(([name]) => !got[name]).map(([name]) => name)).toEqual([])
  })

  // An attack on the cookie or the session could end the session, and later attacks would fail for lack of one.
  const onSession = ([name]: Attack) => /cookie|session/.test(name)
  it.each([
    ['requests', WRITES.filter((attack) => !onSession(attack))] as const,
    ...WRITES.filter(onSession).map((attack) => [attack[0], [attack]] as const),
  ])('changes nothing by %s', async (_, attacks) => {
    expect(attacks.length).toBeGreaterThan(0)
    const page = await opened()
    const standing = async () => {
      const { run } = await served.ask<{ run: { revision: number } }>('GET', `/v1/runs/${id}`)
      return run.revision
    }
    const before = await standing()
    const [sent, ended]: [string[], string[]] = [[], []]
    page.on('request', (request) => sent.push(request.url()))
    for (const end of ['requestfinished', 'requestfailed'] as const)
      page.on(end as 'requestfinished', (request) => ended.push(request.url()))
    const toUs = (urls: readonly string[]) => urls.filter((url) => url.startsWith(served.url)).length
    for (const [name, attack] of attacks) {
      sent.length = 0
      ended.length = 0
      await tried(page, attack, served.url)
      await expect.poll(() => toUs(sent) > 0 && toUs(sent) === toUs(ended), { message: name }).toBe(true)
      expect([name, await standing()]).toEqual([name, before])
      await page.goto(`${evil}/`)
    }
    // The person's own page works as before.
    await page.goto(served.url)
    await page.locator('.run-row').first().waitFor()
  })
})

it('shows the page in no frame, though the browser would', async () => {
  const page = await opened()
  for (const [url, inside] of [
    [`${evil}/`, 1],
    [`${served.url}/`, 0],
    [`${served.url}/runs/${id}`, 0],
  ] as const) {
    await page.evaluate((src) => {
      document.body.replaceChildren(Object.assign(document.createElement('iframe'), { src }))
      return new Promise((resolve) => document.querySelector('iframe')!.addEventListener('load', resolve))
    }, url)
    expect([url, await page.frameLocator('iframe').locator('#page').count()]).toEqual([url, inside])
  }
})

it('gets a cookie that is worth nothing to it, as all programs of the host do', async () => {
  heard.length = 0
  await opened()
  const cookie = heard.map((one) => one.cookie).find((one) => one.includes('keepup_')) ?? 'none'
  const answer = await fetch(`${served.url}/v1/runs`, { headers: { cookie } })
  expect(answer.status).toBe(401)
})
