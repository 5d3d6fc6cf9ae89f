// @module-tag git
import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AgentBackend } from '../../../domain/ports/external.ts'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'

const piece = (text: string) => ({ kind: 'TextOutput', text, continues: true }) as const
const tokens = { inputTokens: 1_000, cachedInputTokens: 0, outputTokens: 100 }
const LONG = Array.from({ length: 400 }, (_, n) => `line ${n}`).join('\n')

/** An agent that streams its text, edits two files and uses two models. */
const backend: AgentBackend = {
  kind: 'fake',
  capabilities: ['agent_api.run', 'agent_api.session.resume.v1'],
  async start({ prompt }, { emit }) {
    const edit = { file_path: 'src/a.ts', old_string: 'one\n', new_string: 'two\n' }
    await emit({
      sessionId: 's1',
      events: [
        ...[piece('I change'), piece('`a.ts`'), piece('Then *all*'), piece('.')],
        { kind: 'ToolCall', data: { id: 't1', name: 'Edit', input: edit } },
        { kind: 'ToolResult', data: { id: 't1', success: true, output: 'done' } },
        { kind: 'ToolCall', data: { id: 't2', name: 'Write', input: { file_path: 'src/b.ts', content: LONG } } },
        { kind: 'ToolResult', data: { id: 't2', success: false, output: 'no' } },
      ],
      usage: {
        ...{ scope: 'run', ...tokens, cost: { nanoDollars: 3_000_000_000, scope: 'run' } },
        models: {
          scope: 'run',
          each: [
            { model: 'large-model', ...tokens, nanoDollars: 2_000_000_000 },
            { model: 'small-model', ...tokens, nanoDollars: 1_000_000_000 },
          ],
        },
      },
    })
    return { status: { code: 0, signal: null }, success: true, finalText: `did ${prompt}` }
  },
}

const browser = useBrowser()
let served: Served
beforeAll(async () => {
  // The page starts runs over the network, which the settings must allow.
  served = await serve({ agents: [backend], settings: { agents: { folders: [realpathSync(tmpdir())] } } })
})
afterAll(() => served.close())

async function ran(): Promise<string> {
  const body = { agent: 'fake', task: 'mend it', workspace: served.workspace() }
  const { runId } = await served.ask<{ runId: string }>('POST', '/v1/runs', body)
  const status = async () => (await served.ask<{ run: { status: string } }>('GET', `/v1/runs/${runId}`)).run.status
  await expect.poll(status).toBe('completed')
  return runId
}

it('the run of another agent shows its text as one, and its edits as differences', async () => {
  const page = await browser.page()
  const found = troubles(page)
  await served.open(page, `/runs/${await ran()}`)
  await expect.poll(() => page.locator('.markdown p').allInnerTexts()).toContain('I changea.tsThen all.')
  const [edit, write] = [page.locator('.reported').nth(0), page.locator('.reported').nth(1)]
  await edit.locator('summary').click()
  await expect.poll(() => edit.locator('.patch .removed').allInnerTexts()).toEqual(['-one'])
  expect(await edit.locator('.patch .added').allInnerTexts()).toEqual(['+two'])
  // The conversation loads shortened events; an opened call shows the whole.
  await write.locator('summary').click()
  await expect.poll(() => write.locator('.patch .added').count()).toBe(400)
  await page.getByRole('tab', { name: 'Files' }).click()
  await page.getByRole('button', { name: 'src/a.ts' }).click()
  await expect.poll(() => page.locator('.difference .patch .added').allInnerTexts()).toEqual(['+two'])
  await page.getByRole('button', { name: 'src/b.ts' }).click()
  await expect.poll(() => page.locator('.difference > .bad').innerText()).toContain('failed')
  expect(found).toEqual([])
})

it('an ended run is continued from the page, and the two runs link to each other', async () => {
  const page = await browser.page()
  const found = troubles(page)
  const first = await ran()
  await served.open(page, `/runs/${first}`)
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await page.getByRole('textbox', { name: 'Further task' }).fill('now the tests')
  await page.locator('form').getByRole('button', { name: 'Continue', exact: true }).click()
  await expect.poll(() => page.locator('.run-head h1').innerText()).toBe('now the tests')
  await page.getByRole('link', { name: /^continues / }).click()
  await expect.poll(() => page.url()).toContain(first)
  await expect.poll(() => page.getByRole('link', { name: /^continued by / }).count()).toBe(1)
  expect(found).toEqual([])
})

it('the numbers show the cost of each model that another agent has used', async () => {
  const runId = await ran()
  const page = await browser.page()
  const region = page.getByRole('region', { name: 'Cost by model' })
  for (const path of ['/numbers', `/numbers?run=${runId}`]) {
    await served.open(page, path)
    await expect.poll(() => region.innerText()).toMatch(/large-model[\s\S]*small-model/)
  }
})
