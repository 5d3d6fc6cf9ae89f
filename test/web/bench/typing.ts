import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BrowserContext, Page } from 'playwright-core'
import { build } from 'vite'
import { sentence } from '../../bench/documents/history.ts'
import { type Figure, most, ms } from '../../bench/figure.ts'
import { median } from '../../bench/measure.ts'
import type { BenchServer } from './start-server.ts'

const LONG = 5_000
const SHORT = 50
const KEYS = 60
const ROUNDS = 5

/** The time from a key to its paint in long and short documents, beside an editor without a document behind it. */
export async function typing(context: BrowserContext, server: BenchServer, data: string): Promise<Figure[]> {
  const script = await plainEditor()
  const editors = {
    long: await editorOf(context, server, data, LONG),
    short: await editorOf(context, server, data, SHORT),
    plain: await plainPage(context, script, LONG),
  }
  const rounds: Record<keyof typeof editors, number>[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const found = { long: 0, short: 0, plain: 0 }
    for (const name of ['long', 'plain', 'short'] as const) found[name] = await p95(editors[name])
    // The first round compiles.
    if (round > 0) rounds.push(found)
  }
  for (const page of Object.values(editors)) await page.close()
  const middle = (of: (round: (typeof rounds)[0]) => number) => median(rounds.map(of))
  const long = middle((round) => round.long)
  const figure = (name: string, floor: 'plain' | 'short'): Figure => {
    const ratio = middle((round) => round.long / round[floor])
    return {
      ...{ name, ours: ms(long), floor: `${ms(middle((round) => round[floor]))}, ratio ${ratio.toFixed(2)}` },
      ...{ value: long, goal: most(50, ' ms') },
    }
  }
  return [
    figure(`key to paint in ${LONG} paragraphs, p95; floor: a plain editor of the same text`, 'plain'),
    figure(`key to paint in ${LONG} paragraphs, p95; floor: ${SHORT} paragraphs`, 'short'),
  ]
}

/** The 95th percentile of the times from a key to the task after its frame, in ms. */
async function p95(page: Page): Promise<number> {
  await page.bringToFront()
  await page.evaluate(() => {
    const times: number[] = []
    const seen = () => {
      const pressed = performance.now()
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = () => times.push(performance.now() - pressed)
        port2.postMessage(null)
      })
    }
    addEventListener('keydown', seen, { capture: true })
    Object.assign(globalThis, {
      keyTimes: () => {
        removeEventListener('keydown', seen, { capture: true })
        return times
      },
    })
  })
  const line = page.locator('.ProseMirror p').nth(20)
  await line.click()
  for (let n = 0; n < KEYS; n++) {
    await page.keyboard.press('abcdefgh '[n % 9]!)
    await page.waitForTimeout(30)
  }
  const times = await page.evaluate(() => (globalThis as never as { keyTimes(): number[] }).keyTimes())
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)]!
}

const paragraphsOf = (count: number): string[] => Array.from({ length: count }, (_, n) => sentence(n))

async function editorOf(
  context: BrowserContext,
  { url, ask }: BenchServer,
  data: string,
  count: number,
): Promise<Page> {
  const authorization = `Bearer ${readFileSync(join(data, 'token'), 'utf8').trim()}`
  const body = JSON.stringify({
    title: 'Plan',
    by: 'bench',
    format: 'markdown',
    content: paragraphsOf(count).join('\n\n'),
  })
  const headers = { authorization, 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/documents`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`no document: ${answer.status} ${await answer.text()}`)
  const { documentId } = (await answer.json()) as { documentId: string }
  const page = await context.newPage()
  const link = await ask<string>({ ask: 'link' })
  await page.goto(link.replace(/\/#/, `/documents/${documentId}?tab=edit#`))
  await page
    .locator('.ProseMirror p')
    .nth(count - 1)
    .waitFor()
  return page
}

async function plainPage(context: BrowserContext, script: string, count: number): Promise<Page> {
  const page = await context.newPage()
  await page.addScriptTag({ content: script })
  await page.evaluate(
    (texts) => (globalThis as never as { openPlainEditor(texts: string[]): void }).openPlainEditor(texts),
    paragraphsOf(count),
  )
  return page
}

/** The script of the plain editor. */
async function plainEditor(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'keepup-plain-editor-'))
  try {
    const entry = fileURLToPath(new URL('./plain-editor.ts', import.meta.url))
    const lib = { entry, formats: ['iife' as const], name: 'plainEditor', fileName: 'plain' }
    await build({ configFile: false, logLevel: 'warn', build: { outDir: folder, emptyOutDir: true, lib } })
    return readFileSync(join(folder, readdirSync(folder).find((name) => name.endsWith('.js'))!), 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
