import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newApp } from '../../../api/http/new-app.ts'
import { pageFiles } from '../../../api/http/page/page-files.ts'
import { CONTENTS } from '../../../api/site/contents.ts'
import { writeSite } from '../../../api/site/main.ts'
import { rendered } from '../../../api/site/markdown.ts'
import { membersIn } from '../../../api/site/schemas.ts'
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

test('the page of each example shows the files of its folder, with colours', () => {
  const examples = readdirSync(join(DOCS, 'examples'), { withFileTypes: true }).filter((one) => one.isDirectory())
  expect(examples.length).toBeGreaterThan(5)
  for (const { name } of examples) {
    const page = read(`examples/${name}/index.html`)
    const shown = page
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&')
    const files = readdirSync(join(DOCS, 'examples', name)).filter((file) => !file.endsWith('.md'))
    expect(files).toContain('main.ts')
    for (const file of files)
      expect(shown.includes(readFileSync(join(DOCS, 'examples', name, file), 'utf8').trim()), `${name}/${file}`).toBe(
        true,
      )
    expect(page.match(/<span class="hljs-/g)!.length, name).toBeGreaterThan(20)
  }
})

test('every type that an operation names has its members and a meaning, once', () => {
  const types = read('reference/types.html')
  const named = [...read('reference/operations.html').matchAll(/<a href="types\.html#(\w+)">(\w+)<\/a>/g)]
  expect(named.length).toBeGreaterThan(50)
  const ids = [...types.matchAll(/<h2 id="(\w+)">/g)].map(([, id]) => id!)
  expect(ids).toEqual([...new Set(ids)])
  const deeper = [...types.matchAll(/<a href="types\.html#(\w+)">/g)].map(([, id]) => id!)
  expect(new Set([...named.map(([, id]) => id!), ...deeper])).toEqual(new Set(ids))
  const parts = /<main[\s\S]*<\/main>/.exec(types)![0].split('<h2 ').slice(1)
  expect(parts).toHaveLength(ids.length)
  // The meaning, then the members or the values.
  for (const part of parts)
    expect(part).toMatch(/^[^\n]*\n<p>[A-Z].*\.<\/p>\n(<div class="table"|<p>(&quot;|list of ))/)
  const approval = /<h2 id="approval">[\s\S]*?<h2 /.exec(types)![0]
  for (const name of ['toolCallId', 'secrets[].name', 'supporters']) expect(approval).toContain(`<code>${name}</code>`)
})

test('members of objects without a name stand below them', () => {
  const link = (name: string) => `[${name}]`
  const found = membersIn(
    {
      type: 'object',
      properties: {
        a: {
          type: 'array',
          items: { type: 'object', properties: { b: { type: ['string', 'null'] } }, required: ['b'] },
        },
        c: { anyOf: [{ $ref: '#/$defs/C' }, { type: 'null' }] },
        d: { type: 'object', additionalProperties: { type: 'object', properties: { e: { const: 1 } } } },
      },
      required: ['a'],
      oneOf: [
        { type: 'object', properties: { f: { const: 'x' }, g: { type: 'string' } }, required: ['f', 'g'] },
        { type: 'object', properties: { f: { const: 'y' } }, required: ['f'] },
      ],
    },
    link,
  )
  expect(found.map(({ name, type, needed }) => `${name} ${needed} ${type}`)).toEqual([
    'a true list of object',
    'a[].b true string or null',
    'c false [C] or null',
    'd false object of names with object',
    'd.NAME.e false 1',
    'f true "x" or "y"',
    'g false string',
  ])
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
