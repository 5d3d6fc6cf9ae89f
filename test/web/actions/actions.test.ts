import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'

const browser = useBrowser()
let served: Served
beforeAll(async () => {
  served = await serve()
})
afterAll(() => served.close())

const status = (page: Page) => page.locator('.run-head .status').innerText()
const idOf = (page: Page) => new URL(page.url()).pathname.slice('/runs/'.length)
interface Approval {
  approval: { state: string; by: string | null }
}

describe('an approval', () => {
  it('shows the difference that it would make, and is given by a key', async () => {
    const page = await browser.page()
    const found = troubles(page)
    const id = await served.driven('write hello', { workspace: served.workspace() })
    await served.open(page, `/runs/${id}`)
    await expect.poll(() => page.locator('.ask').innerText()).toMatch(/Allow\s+write_file[\s\S]*\+hello/)
    // Only the person's answer lets the run go on, so there is nothing to resume.
    expect(await page.getByRole('button', { name: 'Pause', exact: true }).count()).toBe(1)
    expect(await page.getByRole('button', { name: 'Resume', exact: true }).count()).toBe(0)
    expect(await page.locator('nav [aria-current="true"]').innerText()).toBe('Runs')
    await page.keyboard.press('a')
    await expect.poll(() => status(page)).toContain('done')
    const { approval } = await served.ask<Approval>('GET', `/v1/approvals/${id}.t1.c0`)
    expect(approval).toMatchObject({ state: 'approved', by: 'approver:ada' })
    expect(found).toEqual([])
  })

  it('is refused with a reason, by the keyboard, in the inbox', async () => {
    const page = await browser.page()
    const [first, second] = [served.workspace(), served.workspace()]
    const one = await served.driven('write one', { workspace: first })
    const two = await served.driven('write two', { workspace: second })
    await served.open(page, '/inbox')
    // The keys are for what is shown: they are worth nothing before that.
    await expect.poll(() => page.locator('.inbox .ask .patch').count()).toBe(2)
    await expect.poll(() => page.locator('.badge').innerText()).toBe('2')
    await page.keyboard.press('j')
    await page.keyboard.press('r')
    await page.keyboard.type('not in this folder')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.decided').allTextContents()).toEqual(['rejected by ada'])
    const { events } = await served.ask<{ events: { type: string; payload: { reason?: string } }[] }>(
      'GET',
      `/v1/runs/${two}/events?type=approval_decided`,
    )
    expect(events[0]!.payload.reason).toBe('not in this folder')
    const { run } = await served.ask<{ run: { waiting: { for: string }[] } }>('GET', `/v1/runs/${one}`)
    expect(run.waiting[0]!.for).toBe('approval')
    await served.answer(`${one}.t1.c0`, { decision: 'approved', by: 'bob' })
    await expect.poll(() => page.locator('.decided').allTextContents()).toContain('approved by bob')
  })

  it('that another person decided first is told to the second', async () => {
    const [ada, bob] = [await browser.page(), await browser.page()]
    const id = await served.driven('write hello', { workspace: served.workspace() })
    await served.open(ada, '/inbox')
    await served.open(bob, '/inbox')
    for (const page of [ada, bob]) await page.locator('.inbox .ask .patch').first().waitFor()
    await ada.keyboard.press('a')
    await expect.poll(() => bob.locator('.decided').allTextContents()).toEqual(['approved by ada'])
    // Also where the page did not know of it yet.
    const again = await served.answer(`${id}.t1.c0`, { decision: 'approved' }).catch(String)
    expect(again).toContain(': 409 ')
  })
})

describe('a person', () => {
  it('answers a question in the page', async () => {
    const page = await browser.page()
    const id = await served.driven('ask me')
    await served.open(page, `/runs/${id}`)
    await expect.poll(() => page.locator('.ask').innerText()).toContain('Which?')
    await page.getByLabel('Answer').fill('the second one')
    await page.getByLabel('Answer').press('Enter')
    await expect.poll(() => status(page)).toContain('done')
    await expect.poll(() => page.locator('.timeline').innerText()).toContain('the second one')
  })

  it('pauses, steps, resumes and cancels a run', async () => {
    const page = await browser.page()
    const workspace = served.workspace()
    const id = await served.start('wait for ever', { workspace })
    await served.open(page, `/runs/${id}`)
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
    await press('Pause')
    await expect.poll(() => status(page)).toContain('paused')
    const step = async () => (await served.ask<{ run: { step: number } }>('GET', `/v1/runs/${id}`)).run.step
    const before = await step()
    await press('Step')
    await expect.poll(step).toBeGreaterThan(before)
    await expect.poll(() => status(page)).toContain('paused')
    await press('Resume')
    await expect.poll(() => status(page)).toContain('works')
    await page.keyboard.press('i')
    await page.keyboard.type('hurry up')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.outcome').innerText()).toContain('said')
    await press('Cancel')
    await press('End the run')
    await expect.poll(() => status(page)).toContain('cancelled')
  })

  it('forks a run at the position, and restores files after seeing what changes', async () => {
    const page = await browser.page()
    const id = await served.driven('write hello', { workspace: served.workspace(), approve: ['write_file'] })
    await served.open(page, `/runs/${id}?at=6`)
    await page.getByRole('button', { name: 'Fork (f)' }).waitFor()
    await page.keyboard.press('f')
    // The closed form of a note is in the page too.
    const form = page.locator('.form:visible')
    await expect.poll(() => form.innerText()).toContain('event 6')
    await page.getByLabel('let it go on').uncheck()
    await form.getByRole('button', { name: 'Fork' }).click()
    await expect.poll(() => idOf(page)).not.toBe(id)
    const { events } = await served.ask<{ events: { payload: { revision: number } }[] }>(
      'GET',
      `/v1/runs/${idOf(page)}/events?type=forked`,
    )
    expect(events[0]!.payload.revision).toBe(6)
    await page.goto(`${served.url}/runs/${id}`)
    await page.getByRole('button', { name: 'Restore' }).click()
    await page.getByLabel('Files of step').fill('0')
    await page.getByLabel('Files of step').press('Enter')
    await expect.poll(() => page.locator('.form .files').innerText()).toMatch(/deleted\s+hello\.txt/)
    await page.getByRole('button', { name: 'Restore them' }).click()
    await expect.poll(() => page.locator('.outcome').innerText()).toContain('files of step 0 are back')
    const asked = await served.ask<{ events: { actor: { id: string } }[] }>(
      'GET',
      `/v1/runs/${id}/events?type=restore_requested`,
    )
    expect(asked.events.map(({ actor }) => actor.id)).toEqual(['ada'])
  })
})

describe('the form of a new run', () => {
  it('refuses an empty task, shows the price of a model, and starts what was asked for', async () => {
    const page = await browser.page()
    const found = troubles(page)
    const workspace = served.workspace()
    await served.open(page, '/start')
    await page.getByLabel('Task').fill('   ')
    await page.getByRole('button', { name: 'Start' }).click()
    const fault = () => page.getByLabel('Task').evaluate((one: HTMLTextAreaElement) => one.validationMessage)
    await expect.poll(fault).toContain('what the agent is to do')
    expect(new URL(page.url()).pathname).toBe('/start')
    await page.getByLabel('Task').fill('write from a form')
    await page.getByLabel('Folder').fill(workspace)
    await page.getByLabel('Tokens', { exact: true }).fill('0')
    await page.getByRole('button', { name: 'Start' }).click()
    expect(new URL(page.url()).pathname).toBe('/start')
    await page.getByLabel('Tokens', { exact: true }).fill('70000')
    await page.getByLabel('Turns').fill('9')
    await page.getByText('Tools and approvals').click()
    await page.getByLabel('write_file').selectOption('approved')
    await page.getByLabel('run_command').selectOption('withheld')
    await page.getByText('Templates').click()
    await page.getByLabel('Name', { exact: true }).fill('writes')
    await page.getByLabel('Name', { exact: true }).press('Enter')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Start' }).click()
    await expect.poll(() => status(page)).toContain('done')
    const id = idOf(page)
    const { run } = await served.ask<{ run: { workspace: string; task: string } }>('GET', `/v1/runs/${id}`)
    expect(run).toMatchObject({ workspace, task: 'write from a form' })
    // Run again: the form has the settings of the run, and no standing approval.
    await page.getByRole('link', { name: 'Run again' }).click()
    await expect.poll(() => page.getByLabel('Task').inputValue()).toBe('write from a form')
    expect(await page.getByLabel('Tokens', { exact: true }).inputValue()).toBe('70000')
    expect(await page.getByLabel('Turns').inputValue()).toBe('9')
    expect(await page.getByLabel('Folder').inputValue()).toBe(workspace)
    await page.getByText('Tools and approvals').click()
    expect(await page.getByLabel('write_file').inputValue()).toBe('')
    expect(await page.getByLabel('run_command').inputValue()).toBe('withheld')
    expect(await page.getByLabel('read_file').inputValue()).toBe('')
    await page.getByText('further settings as in that run').click()
    expect(await page.locator('.kept-settings').innerText()).toContain('policy.sandboxed')
    await page.getByText('Templates').click()
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await page.getByLabel('Task').fill('finish with changes')
    await page.getByRole('button', { name: 'Start' }).click()
    await expect.poll(() => page.locator('.run-head h1').innerText()).toBe('finish with changes')
    // The template outlives the page, without the task.
    await page.goto(`${served.url}/start`)
    await page.getByText('Templates').click()
    await page.getByRole('button', { name: 'writes', exact: true }).click()
    await expect.poll(() => page.getByLabel('Turns').inputValue()).toBe('9')
    expect(await page.getByLabel('Task').inputValue()).toBe('')
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('write from a form')
    await page.getByText('Tools and approvals').click()
    expect(await page.getByLabel('write_file').inputValue()).toBe('approved')
    const [model] = (await served.ask<{ models: { id: string; price: object | null }[] }>('GET', '/v1/models')).models
    await page.getByLabel('Model').fill(model!.id)
    await expect.poll(() => page.locator('.form.start').innerText()).toMatch(/per million tokens|price unknown/)
    expect(found).toEqual([])
  })
})
