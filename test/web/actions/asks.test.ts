import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'
import { freshFolders } from '../../support/folders.ts'

// What people are asked: each answer is for exactly what a person has chosen, and goes to the agent that asked.

const browser = useBrowser()
const folders = freshFolders()
let served: Served
beforeAll(async () => {
  served = await serve()
})
afterAll(async () => {
  await served.close()
  folders.remove()
})

interface Approval {
  approval: { state: string }
}
const asksToWrite = (task: string) => served.driven(`write ${task}`, { workspace: served.workspace() })
const stateOf = async (run: string) => (await served.ask<Approval>('GET', `/v1/approvals/${run}.t1.c0`)).approval.state
const statusOf = async (run: string) =>
  (await served.ask<{ run: { status: string } }>('GET', `/v1/runs/${run}`)).run.status
const card = (page: Page, run: string) => page.locator('.inbox > li', { has: page.locator(`a[href="/runs/${run}"]`) })
const decided = (page: Page, run: string) => card(page, run).locator('.decided').innerText()

describe('the inbox', () => {
  it('keeps the chosen approval where it is, whatever is decided around it', async () => {
    const page = await browser.page()
    const found = troubles(page)
    const [one, two, three] = [await asksToWrite('one'), await asksToWrite('two'), await asksToWrite('three')]
    await served.open(page, '/inbox')
    await expect.poll(() => page.locator('.inbox .patch').count()).toBe(3)
    await page.keyboard.press('j')
    await expect.poll(() => card(page, two).getAttribute('aria-current')).toBe('true')
    await served.answer(`${three}.t1.c0`, { decision: 'rejected', by: 'bob' })
    await expect.poll(() => decided(page, three)).toBe('rejected by bob')
    await page.keyboard.press('a')
    await expect.poll(() => decided(page, two)).toBe('approved by ada')
    // Once more, as a hand does that does not trust the first: no other question has come under it.
    await page.keyboard.press('a')
    await expect.poll(() => statusOf(two)).toBe('completed')
    expect(await card(page, two).getAttribute('aria-current')).toBe('true')
    expect(await stateOf(one)).toBe('pending')
    await page.keyboard.press('k')
    await page.keyboard.press('a')
    await expect.poll(() => decided(page, one)).toBe('approved by ada')
    expect(found).toEqual([])
  })

  it.each(['decided', 'asked again'])(
    'no key answers a question that has come in the place of one that was %s',
    async (how) => {
      const page = await browser.page()
      const workspace = served.workspace()
      const turn = (path: string) => ({ calls: [{ tool: 'write_file', arguments: { path, content: `${path}\n` } }] })
      const model = join(folders.base, 'two.json')
      const turns = [
        turn('one.txt'),
        turn('two.txt'),
        { calls: [{ tool: 'complete_task', arguments: { summary: 'x' } }] },
      ]
      writeFileSync(model, JSON.stringify({ script: 1, model: 'two', turns }))
      const run = await served.driven('write both', { workspace, model: `scripted:${model}` })
      await served.open(page, `/runs/${run}`)
      await expect.poll(() => page.locator('.ask').innerText()).toContain('+one.txt')
      const stateOf = async (n: number) =>
        (await served.ask<Approval>('GET', `/v1/approvals/${run}.t${n}.c0`)).approval.state
      const alert = page.locator('.ask [role=alert]')
      if (how === 'decided') {
        await served.answer(`${run}.t1.c0`, { decision: 'approved', by: 'bob' })
        await expect.poll(() => page.locator('.decided').innerText()).toContain('approved by bob')
        await expect.poll(() => page.locator('.ask', { hasText: '+two.txt' }).count()).toBe(1)
        await page.keyboard.press('a')
        await expect.poll(() => page.locator('.decided').count()).toBe(0)
      } else {
        writeFileSync(join(workspace, 'one.txt'), 'mine\n')
        await page.keyboard.press('a')
        await expect.poll(() => alert.innerText()).toContain('has changed')
        expect(await page.locator('.ask').innerText()).toContain('-mine')
        await page.keyboard.press('a')
        await expect.poll(() => alert.count()).toBe(0)
      }
      const open = how === 'decided' ? 2 : 1
      expect(await stateOf(open)).toBe('pending')
      await page.keyboard.press('a')
      await expect.poll(() => stateOf(open)).toBe('approved')
    },
  )

  it('takes a key that is held down for one decision', async () => {
    const page = await browser.page()
    const run = await asksToWrite('with a heavy hand')
    await served.open(page, `/runs/${run}`)
    await page.locator('.ask .patch').waitFor()
    await page.evaluate(() => dispatchEvent(new KeyboardEvent('keydown', { key: 'a', repeat: true })))
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => new URL(page.url()).searchParams.get('at')).not.toBeNull()
    expect(await stateOf(run)).toBe('pending')
    await page.keyboard.press('a')
    await expect.poll(() => stateOf(run)).toBe('approved')
  })

  it('says how many of several people have approved, and who', async () => {
    const page = await browser.page()
    const policy = { approvers: [{ tools: ['write_file'], count: 2 }] }
    const run = await served.driven('write twice', { workspace: served.workspace(), policy })
    await served.open(page, '/inbox')
    await expect.poll(() => card(page, run).innerText()).toContain('0 of 2 approvals')
    await card(page, run)
      .getByRole('button', { name: /Approve/ })
      .click()
    await expect.poll(() => card(page, run).innerText()).toContain('1 of 2 approvals, by ada')
    const outcome = page.locator('.outcome', { hasText: 'Approved.' })
    expect(await outcome.innerText()).toContain('1 of 2 people approved; one more is needed')
    await served.answer(`${run}.t1.c0`, { decision: 'approved', by: 'bob' })
    await expect.poll(() => decided(page, run)).toBe('approved by bob')
  })

  it('hears of a new question while other runs work without a rest', async () => {
    const page = await browser.page()
    const busy = await served.start('stall')
    await served.open(page, '/inbox')
    await expect.poll(() => page.locator('.connection').innerText()).toBe('live')
    const body = { text: 'go on', by: 'ada' }
    const noise = setInterval(() => void served.ask('POST', `/v1/runs/${busy}/input`, body).catch(() => undefined), 60)
    try {
      const run = await asksToWrite('in the midst of it')
      await expect.poll(() => card(page, run).count()).toBe(1)
    } finally {
      clearInterval(noise)
    }
    await served.ask('POST', `/v1/runs/${busy}/cancel`, { by: 'ada' })
  })

  it('gives an answer to the agent that asked, and says which one that is', async () => {
    const page = await browser.page()
    const model = join(folders.base, 'family.json')
    const turn = (tool: string, args: Record<string, unknown>) => ({ calls: [{ tool, arguments: args }] })
    writeFileSync(
      model,
      JSON.stringify({
        script: 1,
        model: 'family',
        parts: [
          {
            name: 'child',
            when: { firstInputContains: 'find the port' },
            turns: [
              turn('ask_user', { question: 'Which port?' }),
              turn('complete_task', { summary: 'it is $' + '{lastInput}' }),
            ],
          },
        ],
        turns: [
          turn('delegate_to_agent', { role: 'researcher', task: 'find the port' }),
          turn('complete_task', { summary: 'told: $' + '{lastResult}' }),
        ],
      }),
    )
    const run = await served.driven('start the server', { model: `scripted:${model}` })
    await served.open(page, '/inbox')
    const question = page.locator('.ask', { hasText: 'Which port?' })
    await expect.poll(() => question.innerText()).toMatch(/Researcher in “start the server”/)
    await question.getByLabel('Answer').fill('7433')
    await question.getByRole('button', { name: 'Send' }).click()
    await expect.poll(() => statusOf(run)).toBe('completed')
    await expect.poll(() => question.count()).toBe(0)
  })
})
