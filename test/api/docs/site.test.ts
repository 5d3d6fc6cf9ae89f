import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newApp } from '../../../api/http/new-app.ts'
import { pageFiles } from '../../../api/http/page/page-files.ts'
import { CONTENTS } from '../../../api/site/contents.ts'
import { writeSite } from '../../../api/site/main.ts'
import { rendered } from '../../../api/site/markdown.ts'
import { makeSite } from '../../../api/site/site.ts'

// The site of the documents, made from the present pages.

const DOCS = join(import.meta.dirname, '../../../api/docs')
const folder = mkdtempSync(join(tmpdir(), 'keepup-site-'))
afterAll(() => rmSync(folder, { recursive: true }))
beforeAll(() => writeSite(folder))

const html = () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'))
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const site = (text: string) => makeSite([{ title: 'All', pages: [{ path: 'a', title: 'A', text }] }], '1')

test('the menu has every Markdown file of the documents once', () => {
  const written = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
  expect(CONTENTS.flatMap(({ pages }) => pages.map((page) => `${page}.md`)).sort()).toEqual(written.sort())
})

test('every page is in the menu of every page, which marks the present one', () => {
  const menu = /<nav id="menu"[\s\S]*?<\/nav>/
  const [count] = [...new Set(html().map((name) => menu.exec(read(name))![0].match(/<a /g)!.length))]
  expect(count).toBe(html().length)
  for (const name of html()) expect(read(name).match(/aria-current="page"/g), name).toHaveLength(1)
})

test('every file that a page names exists, and none is of another host', () => {
  for (const name of html()) {
    const loaded = [...read(name).matchAll(/(?:<script[^>]* src|<link[^>]* href|<img src)="([^"]+)"/g)]
    expect(loaded.length).toBeGreaterThan(1)
    const linked = [...read(name).matchAll(/<a href="(?![a-z]+:|#)([^"#]+)/g)]
    for (const [, address] of [...loaded, ...linked])
      expect(existsSync(join(folder, name, '..', address!)), `${name}: ${address}`).toBe(true)
  }
})

test('a link to a page or a heading that does not exist is refused with its place', () => {
  expect(() => site('# A\n\n[b](#b)')).toThrow('a: a has no heading #b; correct the link')
  expect(() => site('# A\n\n[b](b.md)')).toThrow('a: b.md is no page of the site')
  expect([...site('# A\n\n[b](b.png)').files]).toEqual([['b.png', 'a']])
})

test('a link to the repository outside of the documents remains as text', () => {
  expect(site('# A\n\nsee [the `log`](../../CHANGELOG.md)').made.get('a.html')).toContain(
    '<p>see the <code>log</code></p>',
  )
})

test('HTML in a page is shown as text, except an anchor', () => {
  const { html } = rendered(
    'a <b>b</b> <a id="c"></a><img src=x onerror=alert(1)>\n\n<script>alert(1)</script>\n',
    (to) => to,
  )
  expect(html).toContain('&lt;b&gt;')
  expect(html).toContain('<a id="c"></a>')
  expect(html).not.toMatch(/<(script|img)/)
})

test('headings have the ids of GitHub, and a repeated one has a number', () => {
  const { headings } = rendered('# A `b`, c!\n\n## In use\n\n## In use\n', (to) => to)
  expect(headings.map(({ id }) => id)).toEqual(['a-b-c', 'in-use', 'in-use-1'])
})

test('the search index has each heading with the text below it', () => {
  const index = /searchIndex = (.*)/.exec(
    site('# A\n\none **two**\n\n## B\n\n| x | y |\n|---|---|\n| 1 | `2` |\n').made.get('search-index.js')!,
  )![1]!
  expect(JSON.parse(index)).toEqual([
    ['a', 'A', 'a', 'A', 'one two'],
    ['a', 'A', 'b', 'B', 'x y 1 2'],
  ])
})

test('serve shows the documents without a token, and says how to build them', async () => {
  const app = newApp()
  app.use(pageFiles())
  expect((await app.request('/docs')).headers.get('location')).toBe('/docs/')
  const answer = await app.request('/docs/')
  expect(answer.status, 'build the documents first: npm run build:docs').toBe(200)
  expect(await answer.text()).toContain('<title>keepup</title>')
  expect((await app.request('/docs/tutorial.html')).headers.get('content-security-policy')).toContain(
    "default-src 'none'",
  )
  expect((await app.request('/docs/nowhere.html')).status).toBe(404)
  const served = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  for (const { parentPath, name } of served) {
    const path = join(parentPath, name).slice(folder.length)
    expect([path, (await app.request(`/docs${path}`)).status]).toEqual([path, 200])
  }
})
