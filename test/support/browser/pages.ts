import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { startBrowser } from './chromium.ts'

/** Cookies and storage, with the protocol session that empties the storage of every origin. */
interface Profile {
  readonly context: BrowserContext
  readonly protocol: CDPSession
  readonly keeper: Page
}

/** Pages of one browser per test file. Call this at the top of the file or of a `describe`. */
export function useBrowser(): { page(options?: BrowserContextOptions): Promise<Page> } {
  let browser: Browser | null = null
  // Starting a context takes Chromium most of a second of CPU time, so tests use the contexts of earlier tests again.
  const free: Profile[] = []
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser?.close())
  return {
    /** A page with separate cookies and storage, open until the test has finished. `options`: of a context of its own. */
    async page(options) {
      if (options !== undefined) {
        const context = await browser!.newContext(options)
        onTestFinished(() => context.close())
        return context.newPage()
      }
      const profile = free.pop() ?? (await openProfile(browser!))
      onTestFinished(async () => {
        await empty(profile)
        free.push(profile)
      })
      return profile.context.newPage()
    },
  }
}

async function openProfile(browser: Browser): Promise<Profile> {
  const context = await browser.newContext()
  const keeper = await context.newPage()
  return { context, keeper, protocol: await context.newCDPSession(keeper) }
}

/** Closes every page of a test and removes what the test left in the browser. */
async function empty({ context, protocol, keeper }: Profile): Promise<void> {
  for (const page of context.pages()) if (page !== keeper) await page.close()
  await Promise.all([context.clearCookies(), context.clearPermissions()])
  await protocol.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' })
}
