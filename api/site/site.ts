import { posix } from 'node:path'
import { CONTENTS, type Part, type SitePage } from './contents.ts'
import { escaped } from './highlight.js'
import { type RenderedPage, rendered } from './markdown.ts'

export interface MadePart {
  readonly title: string
  readonly pages: readonly SitePage[]
}

/** The pages of a part. `read` gives the text of a Markdown file below `api/docs`. */
export const readPart = ({ title, pages }: Part, read: (path: string) => string): MadePart => ({
  title,
  pages: pages.map((path) => {
    const text = read(`${path}.md`)
    return { path: addressOf(path), title: /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? path, text }
  }),
})

/** The menu with the written pages, and the made ones behind the written reference. `list` gives the files of a folder. */
export const partsOf = (
  read: (path: string) => string,
  list: (folder: string) => readonly string[],
  made: readonly SitePage[],
): readonly MadePart[] =>
  CONTENTS.map((part) => {
    const written = readPart(part, read)
    if (part.title === 'Reference') return { ...written, pages: [...written.pages, ...made] }
    if (part.title === 'Examples')
      return { ...written, pages: written.pages.map((page) => withFiles(page, read, list)) }
    return written
  })

/** The page of an example with the files of its folder. */
function withFiles(
  page: SitePage,
  read: (path: string) => string,
  list: (folder: string) => readonly string[],
): SitePage {
  const folder = posix.dirname(page.path)
  const files = list(folder).filter((name) => !name.endsWith('.md'))
  const text = files.toSorted(byProgram).map((name) => {
    const content = read(`${folder}/${name}`)
    const longest = Math.max(2, ...[...content.matchAll(/`+/g)].map(([run]) => run.length))
    const fence = '`'.repeat(longest + 1)
    return `## ${name}\n\n${fence}${posix.extname(name).slice(1)}\n${content.trimEnd()}\n${fence}\n`
  })
  return { ...page, text: [page.text.trimEnd(), ...text].join('\n\n') }
}

/** The program itself comes first. */
const byProgram = (a: string, b: string): number =>
  Number(b === 'main.ts') - Number(a === 'main.ts') || (a < b ? -1 : 1)

/** A README is the first page of its folder. */
const addressOf = (path: string): string => path.replace(/(^|\/)README$/, '$1index')

/** The path from one page to another place of the site. */
const between = (from: string, to: string): string => posix.relative(posix.dirname(from), to)

/**
 * The address of a link in the site. Links to Markdown files become links to pages; `files` are copied beside them. Null: a
 * place of the repository outside of the documents, whose link remains as text.
 */
function hrefIn(page: SitePage, pages: ReadonlySet<string>, files: Map<string, string>) {
  return (address: string): string | null => {
    if (/^([a-z]+:|#)/.test(address)) return address
    const [path = '', anchor] = address.split('#')
    const target = posix.join(posix.dirname(page.path), path)
    if (target.startsWith('..')) return null
    const end = anchor === undefined ? '' : `#${anchor}`
    if (!path.endsWith('.md')) files.set(target, page.path)
    else if (pages.has(addressOf(target.slice(0, -3))))
      return `${between(page.path, addressOf(target.slice(0, -3)))}.html${end}`
    else
      throw new Error(`${page.path}: ${address} is no page of the site; correct the link, or add the page to CONTENTS`)
    return between(page.path, target)
  }
}

function menu(parts: readonly MadePart[], page: SitePage): string {
  const entry = ({ path, title }: SitePage) =>
    `<li><a href="${between(page.path, path)}.html"${path === page.path ? ' aria-current="page"' : ''}>${escaped(title)}</a></li>`
  return parts
    .map(({ title, pages }) => `<h2 class="part">${escaped(title)}</h2>\n<ul>\n${pages.map(entry).join('\n')}\n</ul>`)
    .join('\n')
}

const outline = ({ headings }: RenderedPage): string => {
  const found = headings.filter(({ depth }) => depth === 2 || depth === 3)
  if (found.length < 3) return ''
  const entries = found.map(({ id, depth, text }) => `<li class="d${depth}"><a href="#${id}">${escaped(text)}</a></li>`)
  return `<nav class="outline" aria-label="On this page"><h2 class="part">On this page</h2><ul>\n${entries.join('\n')}\n</ul></nav>`
}

function neighbours(pages: readonly SitePage[], page: SitePage): string {
  const at = pages.indexOf(page)
  const link = (to: SitePage | undefined, rel: string, words: string) =>
    to === undefined
      ? ''
      : `<a rel="${rel}" href="${between(page.path, to.path)}.html"><small>${words}</small> ${escaped(to.title)}</a>`
  return `<nav class="neighbours" aria-label="Neighbouring pages">${link(pages[at - 1], 'prev', 'Previous')}${link(pages[at + 1], 'next', 'Next')}</nav>`
}

function wholePage(parts: readonly MadePart[], page: SitePage, version: string, content: RenderedPage): string {
  const root = between(page.path, '.') || '.'
  const pages = parts.flatMap((part) => part.pages)
  return `<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(page.title === 'keepup' ? 'keepup' : `${page.title} · keepup`)}</title>
<link rel="icon" href="${root}/icon.svg">
<link rel="stylesheet" href="${root}/site.css">
<script defer src="${root}/site.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header>
<button class="menu-button" type="button" aria-expanded="false" aria-controls="menu">Menu</button>
<a class="name" href="${root}/index.html">keepup</a> <span class="version">${escaped(version)}</span>
<form role="search" class="search"><input type="search" placeholder="Search (press /)" aria-label="Search the documents" autocomplete="off"><ol class="found" hidden></ol></form>
</header>
<nav id="menu" class="menu" aria-label="All pages">
${menu(parts, page)}
</nav>
<main id="content">
${content.html}
${neighbours(pages, page)}
</main>
${outline(content)}
</body>
</html>
`
}

/** The maximum length of a text in the search index. A reference is found by its headings; its tables repeat names. */
const searched = (path: string): number => (path.startsWith('reference/') ? 100 : 800)

export interface Site {
  /** The pages and the search index, by path. */
  readonly made: ReadonlyMap<string, string>
  /** Files below `api/docs` that pages link to or show, each with one of these pages. */
  readonly files: ReadonlyMap<string, string>
}

/**
 * Makes the site from its pages. Every link is checked: a page or heading that does not exist is an error, which names the
 * page with the link.
 */
export function makeSite(parts: readonly MadePart[], version: string): Site {
  const pages = parts.flatMap((part) => part.pages)
  const known = new Set(pages.map(({ path }) => path))
  const files = new Map<string, string>()
  const contents = new Map(pages.map((page) => [page.path, rendered(page.text, hrefIn(page, known, files))]))
  const anchors = new Map(
    [...contents].map(([path, { html }]) => [path, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  )
  for (const [path, { html }] of contents)
    for (const [, address] of html.matchAll(/<a href="([^":]*)"/g)) {
      const [to = '', anchor] = address!.split('#')
      const target = to === '' ? path : posix.join(posix.dirname(path), to).replace(/\.html$/, '')
      if (anchor !== undefined && anchors.get(target)?.has(anchor) === false)
        throw new Error(`${path}: ${target} has no heading #${anchor}; correct the link`)
    }
  const index = pages.flatMap(({ path, title }) =>
    contents
      .get(path)!
      .stretches.map(({ id, heading, text }) => [path, title, id, heading, text.slice(0, searched(path))]),
  )
  return {
    files,
    made: new Map([
      ...pages.map((page) => [`${page.path}.html`, wholePage(parts, page, version, contents.get(page.path)!)] as const),
      ['search-index.js', `globalThis.searchIndex = ${JSON.stringify(index)}\n`] as const,
    ]),
  }
}
