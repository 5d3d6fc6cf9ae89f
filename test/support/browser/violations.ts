import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

interface Violation {
  id: string
  nodes: { html: string; failureSummary?: string }[]
}

/** The violations of axe rules on a page. */
export async function violations(page: Page): Promise<string[]> {
  // Use the debugger: the page's own policy blocks evaluated text.
  await page.evaluate(readFileSync(axe, 'utf8'))
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }
    return (await axe.run()).violations
  })
  return found.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
  )
}
