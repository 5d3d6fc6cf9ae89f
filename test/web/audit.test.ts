import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useBrowser } from '../support/browser/pages.ts'
import { type Served, serve, troubles } from '../support/browser/served.ts'
import { freshFolders } from '../support/folders.ts'

const browser = useBrowser()
let served: Served
let run = ''
const EVIL = '<img src=x onerror="globalThis.hit=1"><script>globalThis.hit=1</script>\u202e=cmd|calc'
beforeAll(async () => {
  served = await serve()
  run = await served.driven(`write hello ${EVIL}`, { workspace: served.workspace(), approve: ['write_file'] })
  const body = { title: 'Plan', format: 'markdown', content: 'words', by: 'ada' }
  await served.ask('POST', '/v1/documents', body)
})
afterAll(() => served.close())

describe('questions', () => {
  it('are chosen, filled in and asked by keyboard; answers lead to runs', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, '/audit')
    await page.getByRole('button', { name: 'Runs that touched a file' }).press('Enter')
    await expect.poll(() => page.getByRole('button', { name: /^Ask/ }).isDisabled()).toBe(true)
    await page.getByLabel('File').fill('hello.txt')
    await page.getByLabel('File').press('Enter')
    const text = page.getByLabel('One SELECT over the tables and the log')
    await expect.poll(() => text.inputValue()).toContain("f.path = 'hello.txt'")
    await text.press('Control+Enter')
    await expect.poll(() => page.locator('[role=status]').last().innerText()).toMatch(/^1 row in/)
    // The question stands in the address: another tab asks the same.
    const tab = await page.context().newPage()
    await tab.goto(page.url())
    await tab.getByRole('button', { name: /^Ask/ }).click()
    await tab.getByRole('link', { name: run, exact: true }).click()
    await expect.poll(() => new URL(tab.url()).pathname).toBe(`/runs/${run}`)
    expect(found).toEqual([])
  })

  it('that write are refused and said so; what is foreign stays text in its cell', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, '/audit?sql=delete+from+runs')
    await page.getByRole('button', { name: /^Ask/ }).click()
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('SELECT')
    const text = page.getByLabel('One SELECT over the tables and the log')
    await text.fill(`select preview, '<b>' as "<i>name</i>" from inputs`)
    await text.press('Control+Enter')
    const box = page.getByRole('region', { name: 'Answer' })
    await expect.poll(() => box.innerText()).toContain('<script>globalThis.hit=1</script>‹U+202E›')
    expect(await box.locator('img, script, b, i').count()).toBe(0)
    expect(await page.evaluate(() => 'hit' in globalThis)).toBe(false)
    await text.fill('with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n')
    await page.getByLabel('Seconds at most').selectOption('2')
    await page.getByRole('button', { name: /^Ask/ }).click()
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('2000 ms')
    expect(found).toEqual([])
  })
})

describe('the proof', () => {
  it('goes through all runs and documents, and says what it has proved', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, '/audit?tab=proof')
    await page.getByLabel('Run').press('Enter')
    await expect.poll(() => page.locator('.panel').innerText()).toContain('2 of 2')
    const { agents } = await served.ask<{ agents: { events: number }[] }>('GET', `/v1/runs/${run}/verify`)
    const said = await page.locator('p.good').innerText()
    expect(said).toMatch(/^✓ The proof holds: \d+ events of 2 streams chained, \d+ states folded again and equal/)
    const row = page.getByRole('region', { name: 'Proofs' }).getByRole('row').filter({ hasText: run })
    expect(await row.innerText()).toContain(String(agents[0]!.events))
    // One that cannot even be read keeps none of the others from being proved.
    await page.route(`**/v1/runs/${run}/verify`, (route) =>
      route.fulfill({ status: 409, json: { code: 'PARKED', status: 409, detail: 'it cannot be read' } }),
    )
    await page.getByRole('button', { name: 'Verify' }).click()
    await expect.poll(() => page.locator('p.bad').allTextContents()).toContain(`${run}: it cannot be read`)
    await expect.poll(() => page.locator('.panel').innerText()).toContain('2 of 2')
    await page.unroute(`**/v1/runs/${run}/verify`)
    await page.getByLabel('Run').fill('nothing')
    await page.getByRole('button', { name: 'Verify' }).click()
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('nothing')
    expect(found).toEqual([])
  })
})

describe('the tables', () => {
  it('tell their position, lag and parked streams, and are made anew after a question', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, '/audit?tab=tables')
    const { position } = await served.ask<{ position: string }>('GET', '/v1/projections')
    await expect.poll(() => page.locator('.facts').innerText()).toContain(position)
    expect(await page.locator('.facts').innerText()).toMatch(/lag\s+none/)
    expect(await page.locator('.facts').innerText()).toContain('none: the tables read every stream')
    await page.getByRole('button', { name: 'Rebuild' }).press('Enter')
    await page.getByRole('button', { name: 'No' }).press('Enter')
    await page.getByRole('button', { name: 'Rebuild' }).press('Enter')
    await page.getByRole('button', { name: /^Yes/ }).press('Enter')
    await expect.poll(() => page.locator('.panel').innerText()).toMatch(/Made anew from \d+ events: they are equal/)
    expect(found).toEqual([])
  })
})

describe('the log', () => {
  it('is read from its beginning and grows without a gap while a person looks', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, '/audit?tab=log')
    await expect.poll(() => page.locator('.connection').innerText()).toBe('live')
    await page.getByRole('button', { name: 'From the beginning' }).click()
    const said = () => page.locator('main [role=status]').innerText()
    await expect.poll(said).toMatch(/^\d+ events; live$/)
    const before = Number.parseInt(await said(), 10)
    const next = await served.driven('finish while a person looks')
    const { run: made } = await served.ask<{ run: { revision: number } }>('GET', `/v1/runs/${next}`)
    await expect.poll(said).toBe(`${before + made.revision + 1} events; live`)
    await page.getByLabel('Type').fill('completion')
    await expect.poll(said).toMatch(/^2 events/)
    await page.keyboard.press('Tab')
    await page.locator('h1').click()
    await page.keyboard.press('Home')
    await expect.poll(() => page.locator('.pane h2').innerText()).toContain(`agent-${run}@`)
    await page.keyboard.press('j')
    await expect.poll(() => page.locator('.pane h2').innerText()).toContain(`agent-${next}@`)
    expect(found).toEqual([])
  })

  it('goes on where it stood when the server was away: nothing is missing and nothing is there twice', async () => {
    const folders = freshFolders()
    const before = await serve({ data: folders.data })
    const { port } = new URL(before.url)
    const page = await browser.page()
    await before.open(page, '/audit?tab=log')
    await expect.poll(() => page.locator('.connection').innerText()).toBe('live')
    await before.driven('finish before')
    const said = () => page.locator('main [role=status]').innerText()
    await expect.poll(() => page.locator('.event').count()).toBeGreaterThan(3)
    await before.close({ keep: true })
    await expect.poll(() => page.locator('.connection').innerText()).toContain('not connected')
    const again = await serve({ data: folders.data, port: Number(port) })
    await again.driven('finish after')
    await expect.poll(() => page.locator('.connection').innerText()).toBe('live')
    const events = async (stream: string) =>
      (await again.ask<{ events: unknown[] }>('GET', `/v1/streams/${stream}/events?limit=500`)).events.length
    const { runs } = await again.ask<{ runs: { runId: string }[] }>('GET', '/v1/runs')
    const streams = [...runs.map(({ runId }) => `agent-${runId}`), 'proof-log']
    const total = (await Promise.all(streams.map(events))).reduce((a, b) => a + b)
    await expect.poll(said).toBe(`${total} events since this page listens`)
    await again.close()
    folders.remove()
  })

  it('shows any stream by its name, and follows it', async () => {
    const page = await browser.page()
    const found = troubles(page)
    await served.open(page, '/audit?tab=log&stream=log-meta')
    await expect.poll(() => page.locator('.pane h2').innerText()).toContain('log-meta@0')
    await page.getByRole('button', { name: 'The whole log' }).click()
    await page.getByRole('link', { name: `agent-${run}` }).click()
    await expect.poll(() => page.locator('.pane h2').innerText()).toContain('completion')
    await page.keyboard.press('k')
    await expect.poll(() => new URL(page.url()).searchParams.get('at')).not.toBe(null)
    const going = await served.start('ask me')
    await page.goto(`${served.url}/audit?tab=log&stream=agent-${going}`)
    await expect.poll(() => page.locator('.event').count()).toBeGreaterThan(3)
    await expect.poll(() => page.locator('.connection').innerText()).toBe('live')
    await served.ask('POST', `/v1/runs/${going}/input`, { text: 'a word to follow', by: 'ada' })
    await expect.poll(() => page.locator('.pane').first().innerText()).toContain('a word to follow')
    await page.goto(`${served.url}/audit?tab=log&stream=agent-none`)
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('no such stream')
    expect(found).toEqual([])
  })
})
