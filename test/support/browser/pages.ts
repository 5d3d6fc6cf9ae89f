import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { startBrowser } from './chromium.ts'

/** Pages of one browser per test file. Call this at the top of the file or of a `describe`. */
export function useBrowser(): { page(): Promise<Page> } {
  let browser: Browser | null = null
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser?.close())
  return {
    /** A page with separate cookies and storage, open until the test has finished. */
    async page() {
      const context: BrowserContext = await browser!.newContext()
      onTestFinished(() => context.close())
      return context.newPage()
    },
  }
}
