import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { CLIENT_SECRET, startProvider } from '../../support/browser/provider.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'
import { violations } from '../../support/browser/violations.ts'

// Login at a real issuer, in a real browser.

const browser = useBrowser()
let provider: Awaited<ReturnType<typeof startProvider>>
let served: Served

/** A port that nobody uses. The issuer must know the address of the page before it is served. */
const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })

beforeAll(async () => {
  const port = await freePort()
  provider = await startProvider(`http://127.0.0.1:${port}/v1/session/oidc/callback`)
  const roles = [{ claim: 'groups', value: 'operators', role: 'operator' }]
  const access = { oidc: { issuer: provider.issuer, clientId: 'keepup', roles } }
  served = await serve({ port, settings: { access, oidcSecret: CLIENT_SECRET } })
  await served.driven('finish')
  await served.ask('POST', '/v1/access', { principal: 'ada' })
})
afterAll(async () => {
  await served.close()
  await provider.close()
})

async function throughIssuer(page: Awaited<ReturnType<typeof browser.page>>, name: string): Promise<void> {
  await page.goto(served.url)
  await page.getByRole('link', { name: `Sign in with ${new URL(provider.issuer).host}` }).click()
  await page.locator('input[name=login]').fill(name)
  await page.locator('input[name=password]').fill('any')
  await page.locator('button[type=submit]').click()
  // The issuer asks whether keepup may know the person.
  await page.locator('button[type=submit]').click()
}

it('a person signs in at the issuer, sees the runs, and signs out on the server', async () => {
  const page = await browser.page()
  const found = troubles(page)
  await page.goto(served.url)
  await page.getByRole('link', { name: /^Sign in with/ }).waitFor()
  expect(await violations(page)).toEqual([])
  await throughIssuer(page, 'operator')
  await page.locator('.run-row').first().waitFor()
  expect(page.url()).toBe(`${served.url}/`)
  expect(await page.locator('.person').innerText()).toBe('operator')
  const all = await page.context().cookies(`${served.url}/v1/session/oidc`)
  // The issuer has the same host, so its cookies are among them.
  const cookies = all.filter(({ name }) => /^keepup_\d+$/.test(name))
  expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict' }])
  const key = await page.evaluate(() => JSON.parse(localStorage.getItem('keepup-session')!).key as string)
  const old = { cookie: `${cookies[0]!.name}=${cookies[0]!.value}`, 'keepup-session': key }
  const status = async () => (await fetch(`${served.url}/v1/runs`, { headers: old })).status
  expect(await status()).toBe(200)
  await page.locator('summary', { hasText: 'operator' }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('link', { name: /^Sign in with/ }).waitFor()
  expect(await status()).toBe(401)
  expect(await page.evaluate(() => localStorage.getItem('keepup-session'))).toBeNull()
  expect(found).toEqual([])
})

it('a person without a role is told so', async () => {
  const page = await browser.page()
  await throughIssuer(page, 'stranger')
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('alert').innerText()).toContain('You have no role here')
  expect(page.url()).toBe(`${served.url}/`)
})

it('words of a link that are none of ours are not shown', async () => {
  const page = await browser.page()
  await page.goto(`${served.url}/#refused=call_this_number`)
  await page.getByRole('alert').waitFor()
  expect(await page.locator('main').innerText()).not.toContain('call_this_number')
})
