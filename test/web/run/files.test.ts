import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'
import { freshFolders } from '../../support/folders.ts'

const browser = useBrowser()
const folders = freshFolders()
let served: Served
let runId = ''
let workspace = ''
const FIRST = 'one\ntwo\nthree\n'
const SECOND = 'one\n<b>TWO</b>\nthree\n'
beforeAll(async () => {
  served = await serve()
  workspace = served.workspace()
  writeFileSync(join(workspace, 'old.txt'), 'as it was\n')
  const model = join(folders.base, 'writer.json')
  const write = (path: string, content: string) => ({ calls: [{ tool: 'write_file', arguments: { path, content } }] })
  const done = { calls: [{ tool: 'complete_task', arguments: { summary: 'written' } }] }
  const turns = [write('new.txt', FIRST), write('new.txt', SECOND), write('old.txt', 'as it was\nand more\n'), done]
  writeFileSync(model, JSON.stringify({ script: 1, model: 'writer', turns }))
  const more = { model: `scripted:${model}`, workspace, approve: ['write_file'] }
  runId = await served.driven('write twice', more)
})
afterAll(async () => {
  await served.close()
  folders.remove()
})

interface Blame {
  content: string
  parts: { text: string; source: number | null }[]
  sources: { step: number; calls: { toolCallId: string; revision: number }[] }[]
}
const blame = (path: string, step: number) =>
  served.ask<Blame>('GET', `/v1/runs/${runId}/blame?path=${encodeURIComponent(path)}&step=${step}`)

it('a line of a file has the call that wrote it last, at any step', async () => {
  expect(readFileSync(join(workspace, 'new.txt'), 'utf8')).toBe(SECOND)
  const { parts, sources } = await blame('new.txt', 8)
  const callOf = (text: string) => {
    const { source } = parts.find((part) => part.text.includes(text))!
    return sources[source!]!.calls.map(({ toolCallId }) => toolCallId)
  }
  expect(parts.map(({ text }) => text).join('')).toBe(SECOND)
  expect(callOf('one')).toEqual([`${runId}.t1.c0`])
  expect(callOf('TWO')).toEqual([`${runId}.t2.c0`])
  const old = await blame('old.txt', 8)
  expect(old.sources.map(({ step, calls }) => [step, calls.map((c) => c.toolCallId)])).toEqual([
    [0, []],
    [5, [`${runId}.t3.c0`]],
  ])
  const before = await blame('new.txt', 1)
  expect(before.parts).toEqual([{ text: FIRST, source: 0 }])
  expect((await blame('new.txt', 0)).content).toBe('none')
  for (const path of ['../new.txt', '/etc/passwd', 'a/../../new.txt'])
    await expect(blame(path, 8), path).rejects.toThrow('400')
  for (const path of [':(top)new.txt', '.', '--help']) expect((await blame(path, 8)).content, path).toBe('none')
})

it('files are shown at the position, and a line leads to the event that wrote it', async () => {
  const page = await browser.page()
  const found = troubles(page)
  await served.open(page, `/runs/${runId}?tab=files`)
  const detail = page.locator('.detail')
  await expect
    .poll(() => detail.locator('.files li').allInnerTexts())
    .toEqual(['+ new.txt added', '± old.txt modified'])
  await detail.getByRole('button', { name: 'new.txt' }).click()
  await expect.poll(() => detail.locator('.blame pre').allInnerTexts()).toEqual(['one\n', '<b>TWO</b>\n', 'three\n'])
  await detail.getByRole('button', { name: 'Who wrote this?' }).nth(1).click()
  await expect.poll(() => detail.innerText()).toMatch(/Input of write_file[\s\S]*<b>TWO<\/b>/)
  await expect.poll(() => new URL(page.url()).searchParams.get('file')).toBe('new.txt')
  // The same file, earlier.
  await page.goto(`${served.url}/runs/${runId}?tab=files&file=new.txt`)
  await page.locator('.blame').waitFor()
  await page.keyboard.press('Home')
  await expect.poll(() => detail.innerText()).toContain('There is no such file here')
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => detail.locator('.blame pre').allInnerTexts()).toEqual([FIRST])
  expect(found).toEqual([])
})
