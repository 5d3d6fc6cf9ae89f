import type { BrowserContext, Page } from 'playwright-core'
import { type Figure, megabytes, most, ms } from '../../bench/figure.ts'
import { median } from '../../bench/measure.ts'
import { lookAtLongRun } from '../run/long-run.ts'
import type { BenchServer } from './start-server.ts'

const NONE = { floor: '' } as const

/** From the link to the first rows, by a server that has answered no question before but for the link. */
export async function firstView(page: Page, link: string): Promise<Figure> {
  const began = performance.now()
  await page.goto(link)
  await page.locator('.run-row').first().waitFor()
  const value = performance.now() - began
  return { name: 'first view of a cold server', ours: ms(value), ...NONE, value, goal: most(1_000, ' ms') }
}

/** From the click to the rows, of a page that is open. */
export async function runsList(page: Page, runs: number): Promise<Figure> {
  const rounds: number[] = []
  for (let round = 0; round < 5; round++) {
    await page.locator('header.top a[href="/inbox"]').click()
    await page.locator('.run-row').first().waitFor({ state: 'detached' })
    const began = performance.now()
    await page.locator('header.top a[href="/"]').first().click()
    await page.locator('.run-row').first().waitFor()
    rounds.push(performance.now() - began)
  }
  const value = median(rounds)
  const name = `a list of ${runs.toLocaleString('en')} runs`
  return { name, ours: ms(value), ...NONE, value, goal: most(300, ' ms') }
}

/** Streams of the server when three tabs of one browser are open. */
export async function tabs(context: BrowserContext, server: BenchServer): Promise<Figure> {
  for (let tab = 0; tab < 2; tab++) {
    const page = await context.newPage()
    await page.goto(server.url)
    await page.locator('.run-row').first().waitFor()
  }
  const value = await server.ask<number>({ ask: 'streams' })
  for (const page of context.pages().slice(1)) await page.close()
  return { name: 'connections of three tabs', ours: String(value), ...NONE, value, goal: most(1, '') }
}

/** A long run, of a server that has not read it before. */
export async function longRun(page: Page, url: string, runId: string): Promise<Figure[]> {
  const { events, opened, frame, jumps, nodes, memory } = await lookAtLongRun(page, url, runId)
  const jump = Math.max(...jumps)
  return [
    {
      name: `a run of ${events.toLocaleString('en')} events opens`,
      ours: ms(opened),
      ...NONE,
      value: opened,
      goal: most(2_000, ' ms'),
    },
    { name: 'the slowest of five jumps in it', ours: ms(jump), ...NONE, value: jump, goal: most(100, ' ms') },
    { name: 'frames while it is dragged, p95', ours: ms(frame), ...NONE, value: frame, goal: most(33, ' ms') },
    { name: 'nodes of its page', ours: String(nodes), ...NONE, value: nodes, goal: most(2_000, '') },
    { name: 'memory of its page', ours: megabytes(memory), ...NONE, value: memory / 1e6, goal: most(300, ' MB') },
  ]
}
