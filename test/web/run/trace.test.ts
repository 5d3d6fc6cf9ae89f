import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { parseProofFile } from '../../../domain/log/proof/proof-file.ts'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'
import { violations } from '../../support/browser/violations.ts'
import { freshFolders } from '../../support/folders.ts'

const EVIL = '<img src=x onerror=globalThis.hit=1>\u202E'

const browser = useBrowser()
const folders = freshFolders()
let served: Served
let runId = ''
beforeAll(async () => {
  served = await serve()
  const model = join(folders.base, 'writer.json')
  const turn = (tool: string, args: object) => ({ calls: [{ tool, arguments: args }] })
  const turns = [
    turn('remember', { text: EVIL, scope: 'global' }),
    turn('recall', {}),
    turn('write_file', { path: 'new.txt', content: 'one\ntwo\n' }),
    turn('complete_task', { summary: 'written' }),
  ]
  writeFileSync(model, JSON.stringify({ script: 1, model: 'writer', turns }))
  const workspace = served.workspace()
  runId = await served.start('write it', { model: `scripted:${model}`, workspace })
  const call = `${runId}.t3.c0`
  const asked = () => served.ask('GET', `/v1/approvals/${call}`)
  await vi.waitFor(asked, { timeout: 20_000, interval: 100 })
  await served.answer(call, { decision: 'approved', by: 'bob', reason: EVIL })
  const ended = async () => {
    const { run } = await served.ask<{ run: { status: string } }>('GET', `/v1/runs/${runId}`)
    expect(run.status).toBe('completed')
  }
  await vi.waitFor(ended, { timeout: 20_000, interval: 100 })
})
afterAll(async () => {
  await served.close()
  folders.remove()
})

it('a call, its events and a line lead to the person behind them, and each event has its proof', async () => {
  const page = await browser.page()
  const found = troubles(page)
  await served.open(page, `/runs/${runId}?call=${runId}.t3.c0`)
  const detail = page.locator('.detail')
  await detail.getByRole('button', { name: 'Where did this come from?' }).click()
  const kinds = () => detail.locator('ol.trace .badge').allInnerTexts()
  const chain = ['effect', 'call', 'approval', 'question', 'rule', 'answer', 'input', 'start']
  await expect.poll(kinds).toEqual(chain)
  expect(await detail.innerText()).toContain('approved by bob')
  expect(await detail.innerText()).toContain('On the authority of ada')
  expect(await violations(page)).toEqual([])

  // The memory is untrusted text, shown as text.
  expect(await detail.locator('li.untrusted').allInnerTexts()).toEqual([expect.stringContaining('recall memory')])
  await detail.getByRole('checkbox').check()
  await expect.poll(() => detail.locator('ul.trace li').count()).toBe(1)
  expect(await page.evaluate('globalThis.hit')).toBeUndefined()

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    detail.locator('ol.trace').getByRole('button', { name: 'proof' }).first().click(),
  ])
  expect(download.suggestedFilename()).toMatch(new RegExp(`^agent-${runId}@\\d+\\.tlog-proof$`))
  expect(parseProofFile(readFileSync(await download.path(), 'utf8')).extra).not.toBeNull()

  // A step leads to its event, and a line of a file to the same chain.
  await detail.locator('ol.trace a').last().click()
  await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe('0')
  await page.goto(`${served.url}/runs/${runId}?tab=files&file=new.txt`)
  await detail.getByRole('button', { name: 'Where did line 1 come from?' }).click()
  await expect.poll(kinds).toEqual(['line', ...chain])
  expect(found).toEqual([])
})
