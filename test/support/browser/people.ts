import type { Page } from 'playwright-core'
import type { Served } from './served.ts'

/** A link that signs in the owner of a key. */
export async function linkOf({ url }: Served, key: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/session/codes`, { method: 'POST', headers, body: '{}' })
  return ((await answer.json()) as { url: string }).url
}

/** Adds a person with roles. Answers with the person's key. */
export async function addPerson({ ask }: Served, principal: string, ...roles: string[]): Promise<string> {
  await ask('POST', '/v1/access/principals', { principal, roles })
  return (await ask<{ key: string }>('POST', `/v1/access/principals/${principal}/keys`, {})).key
}

/** Opens the page as the owner of a key. */
export async function openAs(served: Served, page: Page, who: string, key: string, path: string): Promise<void> {
  await page.goto(await linkOf(served, key))
  await page.getByRole('button', { name: `Sign in as ${who}` }).click()
  await page.locator('.person').waitFor()
  await page.goto(served.url + path)
}
