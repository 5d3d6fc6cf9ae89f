import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'

const SCRIPT = fileURLToPath(new URL('./markup-judge.js', import.meta.url))
const ORIGIN = 'http://page.test'

/** Reports everything that the page would run or load, without blocking it. */
const POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; object-src 'none'; frame-src 'none'"

const BATCH = 500

/** The faults that a browser finds in an HTML text. */
export interface Judged {
  readonly html: string
  readonly faults: readonly string[]
}

interface Told {
  readonly faults: readonly (readonly string[])[]
  readonly seen: readonly string[]
}

/** Judges HTML in a browser: as a parsed document, as a part of a running page, and as a loaded page. */
export class MarkupJudge {
  readonly #page: Page
  #requests: string[] = []
  #served = ''

  private constructor(page: Page) {
    this.#page = page
  }

  static async open(page: Page): Promise<MarkupJudge> {
    const judge = new MarkupJudge(page)
    await page.addInitScript({ path: SCRIPT })
    page.on('dialog', (dialog) => dialog.dismiss())
    page.on('framenavigated', (frame) => {
      if (!frame.url().startsWith(ORIGIN)) judge.#requests.push(`went to ${frame.url()}`)
    })
    await page.route('**/*', async (route) => {
      const url = route.request().url()
      const isOwn = url === `${ORIGIN}/` && route.request().isNavigationRequest()
      if (!isOwn) judge.#requests.push(`asked for ${url}`)
      const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy-report-only': POLICY }
      return isOwn ? route.fulfill({ headers, body: judge.#served }) : route.abort()
    })
    await judge.#load([])
    return judge
  }

  /** HTML texts with faults, the first ones found; none: there are none. */
  async faults(htmls: readonly string[]): Promise<Judged[]> {
    const found: Judged[] = []
    for (let at = 0; at < htmls.length && found.length === 0; at += BATCH)
      found.push(...(await this.#batch(htmls.slice(at, at + BATCH))))
    return found
  }

  /** Faults of each text in the parsed tree. Runs nothing. */
  parsed(htmls: readonly string[]): Promise<readonly (readonly string[])[]> {
    const ask = (texts: readonly string[]) => inThePage.parseAll(texts)
    return this.#page.evaluate(ask, htmls)
  }

  async #batch(htmls: readonly string[]): Promise<Judged[]> {
    const { faults, happened } = await this.#look(htmls)
    if (happened.length === 0)
      return htmls.flatMap((html, n) => (faults[n]?.length ? [{ html, faults: faults[n] }] : []))
    if (htmls.length === 1) return [{ html: htmls[0]!, faults: [...(faults[0] ?? []), ...happened] }]
    // An event in a page does not identify its text, so search the halves.
    const middle = htmls.length >> 1
    const first = await this.#batch(htmls.slice(0, middle))
    return first.length > 0 ? first : this.#batch(htmls.slice(middle))
  }

  async #look(htmls: readonly string[]): Promise<{ faults: Told['faults']; happened: readonly string[] }> {
    const loaded = await this.#load(htmls)
    const ask = (texts: readonly string[]) => inThePage.judgeAll(texts)
    const { faults, seen } = await this.#page.evaluate(ask, htmls).catch(ended)
    return { faults, happened: [...loaded, ...seen, ...this.#requests.splice(0)] }
  }

  /** Loads a page that contains the texts in its source. */
  async #load(htmls: readonly string[]): Promise<readonly string[]> {
    const parts = htmls.map((html, n) => `<div data-n="${n}">${html}</div>`)
    this.#served = `<!doctype html><html><head><title>t</title></head><body>${parts.join('')}</body></html>`
    this.#requests = []
    // A refused navigation of the page before may still be on its way to the browser's page of errors.
    const visit = () => this.#page.goto(`${ORIGIN}/`)
    await visit().catch((error: Error) => {
      if (!error.message.includes('interrupted by another navigation')) throw error
      return visit()
    })
    const ask = (count: number) => inThePage.judgePage(count)
    return this.#page.evaluate(ask, htmls.length).catch((error: unknown) => ended(error).seen)
  }
}

/** A text that ends its own page counts as a fault. */
const ended = (error: unknown): Told => ({ faults: [], seen: [`the page ended: ${(error as Error).message}`] })

// Functions of markup-judge.js. Functions here that refer to it run in the page.
declare const inThePage: {
  parseAll(htmls: readonly string[]): Promise<readonly (readonly string[])[]>
  judgeAll(htmls: readonly string[]): Promise<Told>
  judgePage(count: number): Promise<readonly string[]>
}
