import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

interface Violation {
  id: string
  nodes: { html: string; failureSummary?: string }[]
}

/** The axe rules whose result depends on colours. */
export const COLOURS = ['color-contrast', 'link-in-text-block']

/** The violations of axe rules on a page: of all rules, or of those that are named. */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Use the debugger: the page's own policy blocks evaluated text.
  await page.evaluate(readFileSync(axe, 'utf8'))
  const found = await page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } }
    const options = { resultTypes: ['violations'], ...(runOnly === undefined ? {} : { runOnly }) }
    return (await axe.run(options)).violations
  }, rules)
  return found.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
  )
}
