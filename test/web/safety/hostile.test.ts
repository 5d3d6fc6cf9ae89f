import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { type Served, serve, troubles } from '../../support/browser/served.ts'
import { freshFolders } from '../../support/folders.ts'

// Whatever a model, a file name, a tool or a person writes: it is shown as text, and stays in its box.

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

const MARK = 'globalThis.hit=1'
const ATTACKS = [
  `<script>${MARK}</script>`,
  `<img src=x onerror="${MARK}">`,
  `<svg onload="${MARK}"><script>${MARK}</script></svg>`,
  `<iframe srcdoc="<script>parent.hit=1</script>"></iframe>`,
  `[click](javascript:${MARK})`,
  `[click](JaVaScRiPt&colon;${MARK})`,
  `![x](javascript:${MARK})`,
  `![x](http://127.0.0.1:9/leak.png)`,
  `<a href="data:text/html,<script>${MARK}</script>">x</a>`,
  `[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)`,
  `<style>body{display:none}</style>`,
  `<base href="http://127.0.0.1:9/">`,
  `<form action="http://127.0.0.1:9/"><input name=a><button>go</button></form>`,
  `<meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/">`,
  '```html\n<script>globalThis.hit=1</script>\n```',
  `| a |\n|---|\n| <img src=x onerror=${MARK}> |`,
  `\u001b]8;;javascript:${MARK}\u0007link\u001b]8;;\u0007 \u001b[31mred\u001b[0m`,
  'user\u202Etxt.exe and zero\u200Bwidth',
  `${'['.repeat(3_000)}x`,
  `${'> '.repeat(2_000)}deep`,
  `${'* '.repeat(500)}list`,
  'a'.repeat(30_000),
]

it('no attack runs, loads, leads elsewhere or hides', async () => {
  const model = join(folders.base, 'hostile.json')
  const name = 'a\u202Egpj.<img src=x onerror=globalThis.hit=1>.txt'
  const text = ATTACKS.join('\n\n')
  writeFileSync(
    model,
    JSON.stringify({
      script: 1,
      model: 'hostile',
      turns: [
        { text, calls: [{ tool: 'write_file', arguments: { path: name, content: text } }] },
        { text, calls: [{ tool: 'read_file', arguments: { path: name } }] },
        { text: ATTACKS[1], calls: [{ tool: 'complete_task', arguments: { summary: text.slice(0, 9_000) } }] },
      ],
    }),
  )
  const page = await browser.page()
  const found = troubles(page)
  const elsewhere: string[] = []
  const context = page.context()
  context.on('request', (request) => {
    if (!request.url().startsWith(served.url)) elsewhere.push(request.url())
  })
  page.on('dialog', (dialog) => elsewhere.push(`dialog ${dialog.message()}`))
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.blockedURI}`))
  })
  const id = await served.driven(`hostile ${ATTACKS[1]} \u202Eeman`, {
    model: `scripted:${model}`,
    workspace: served.workspace(),
    contextVariables: { '<img src=x onerror=globalThis.hit=1>': ATTACKS[0] },
  })
  const other = await served.driven('finish it')
  await served.open(page)
  const asked = page.locator('.run-task', { hasText: 'hostile' })
  await expect.poll(() => asked.innerText()).toContain('<img src=x')
  expect(await asked.innerText()).toContain('‹U+202E›')
  await page.goto(`${served.url}/inbox`)
  await expect.poll(() => page.locator('.ask').innerText()).toContain('onerror')
  await page.keyboard.press('a')
  const status = async () => (await served.ask<{ run: { status: string } }>('GET', `/v1/runs/${id}`)).run.status
  await expect.poll(status).toBe('completed')
  const { run } = await served.ask<{ run: { revision: number } }>('GET', `/v1/runs/${id}`)
  const tabs = ['event', 'state', 'diff', 'files', 'raw', 'request', 'proof']
  for (const [i, tab] of tabs.entries()) {
    const view = ['feed', 'compact', 'waterfall'][i % 3]
    const at = [run.revision, 8][i % 2]
    await page.goto(`${served.url}/runs/${id}?view=${view}&tab=${tab}&at=${at}`)
    await page.locator('.timeline .virtual-row').first().waitFor()
    await expect.poll(() => page.getByText('loading …').count()).toBe(0)
  }
  await page.goto(`${served.url}/runs/${id}?tab=files&file=${encodeURIComponent(name)}`)
  await expect.poll(() => page.locator('.blame').innerText()).toContain('<script>globalThis.hit=1</script>')
  for (const pair of [`a=${id}&b=${other}`, `a=${id}:0&b=${id}:1`]) {
    await page.goto(`${served.url}/compare?${pair}`)
    await page.locator('.compare .difference, .compare .patch').first().waitFor()
  }
  await page.goto(`${served.url}/runs/${id}?at=8`)
  await expect.poll(() => page.title()).toContain('hostile <img src=x')
  expect(await page.title()).not.toMatch(/[\u001b\u202E]/)
  const timeline = page.locator('.timeline')
  await expect.poll(() => timeline.innerText()).toContain('<script>globalThis.hit=1</script>')
  expect(await timeline.innerText()).not.toMatch(/\u001b|\u202E|\u200B/)
  const links = await page
    .locator('.timeline a, .detail a')
    .evaluateAll((all) => all.map((a) => a.getAttribute('href')))
  expect(links.filter((href) => href !== null && !/^(?:https?:|\/)/.test(href))).toEqual([])
  expect(await page.locator('.timeline :is(script, img, iframe, form, style, base, svg)').count()).toBe(0)
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(wide).toBe(0)
  expect(await page.evaluate(() => 'hit' in globalThis)).toBe(false)
  expect(elsewhere).toEqual([])
  expect(found).toEqual([])
})

it('names of models and tools are text in the numbers', async () => {
  const image = '<img src=x onerror=globalThis.hit=1>'
  const path = join(folders.base, `${image}.json`)
  const turns = [
    { calls: [{ tool: `${image}\u202E\u001b[31m`, arguments: {} }] },
    { calls: [{ tool: 'complete_task', arguments: { summary: 'done' } }] },
  ]
  writeFileSync(path, JSON.stringify({ script: 1, model: `${image}\u202E${'m'.repeat(3_000)}`, turns }))
  const page = await browser.page()
  const found = troubles(page)
  await served.driven(`budget ${image}`, { model: `scripted:${path}`, budget: { tokens: 1_000_000 } })
  await served.open(page)
  const shown: string[] = []
  for (const tab of ['cost', 'calls', 'routing', 'runs', 'budgets']) {
    await page.goto(`${served.url}/numbers?tab=${tab}`)
    await page.locator('.data-table').first().waitFor()
    await expect.poll(() => page.getByText('loading …').count()).toBe(0)
    const text = await page.locator('.numbers').innerText()
    expect([tab, /[\u001b\u202E]/.test(text)]).toEqual([tab, false])
    if (text.includes(image)) shown.push(tab)
    expect(await page.locator('.numbers :is(script, img, iframe, svg)').count()).toBe(0)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    expect([tab, wide]).toEqual([tab, 0])
  }
  expect(shown).toEqual(['cost', 'calls', 'routing'])
  expect(await page.evaluate(() => 'hit' in globalThis)).toBe(false)
  expect(found).toEqual([])
})

it('the policy stops what a page would run or load all the same', async () => {
  const page = await browser.page()
  await served.open(page)
  const stopped = await page.evaluate(async () => {
    const told: string[] = []
    document.addEventListener('securitypolicyviolation', (event) => told.push(event.effectiveDirective))
    const script = document.createElement('script')
    try {
      script.text = 'globalThis.hit = 1'
      document.body.append(script)
    } catch {
      told.push('refused')
    }
    const image = document.createElement('img')
    image.src = 'http://127.0.0.1:9/x.png'
    document.body.append(image)
    try {
      document.body.innerHTML = '<b>x</b>'
    } catch {
      told.push('refused')
    }
    await fetch('http://127.0.0.1:9/').catch(() => told.push('refused'))
    while (['img-src', 'connect-src'].some((one) => !told.includes(one)))
      await new Promise((resolve) => requestAnimationFrame(resolve))
    return told
  })
  expect(stopped).toEqual(expect.arrayContaining(['require-trusted-types-for', 'img-src', 'connect-src']))
  expect(await page.evaluate(() => 'hit' in globalThis)).toBe(false)
})
