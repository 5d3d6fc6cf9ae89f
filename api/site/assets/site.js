// The menu on small screens, and the search.

const root = document.documentElement.dataset.root
const indexUrl = new URL('search-index.js', document.currentScript.src).href
const field = document.querySelector('.search input')
const list = document.querySelector('.found')
const button = document.querySelector('.menu-button')

button.addEventListener('click', () => {
  const open = document.body.classList.toggle('menu-open')
  button.setAttribute('aria-expanded', String(open))
})

/** A browser imports no module from a folder of files, and `serve` allows no script element that a script makes. */
const loadIndex = () =>
  location.protocol === 'file:'
    ? new Promise((resolve, reject) => {
        const script = document.createElement('script')
        script.addEventListener('load', resolve)
        script.addEventListener('error', reject)
        script.src = indexUrl
        document.head.append(script)
      })
    : import(indexUrl)

let loading = null
/** The search index, loaded at the first use. */
const index = async () => {
  loading ??= loadIndex().catch((error) => {
    loading = null
    throw error
  })
  await loading
  return globalThis.searchIndex
}

/** The entries that have all words; words in titles and headings count more than words in the text. */
function search(entries, words) {
  const scored = []
  for (const entry of entries) {
    const [, title, , heading, text] = entry
    const places = [
      [heading.toLowerCase(), 8],
      [title.toLowerCase(), 4],
      [text.toLowerCase(), 1],
    ]
    let score = 0
    for (const word of words) {
      const best = Math.max(
        ...places.map(([place, weight]) => (place.includes(word) ? weight + (place === word ? 8 : 0) : 0)),
      )
      if (best === 0) {
        score = 0
        break
      }
      score += best
    }
    if (score > 0) scored.push([score, entry])
  }
  return scored
    .sort(([a], [b]) => b - a)
    .slice(0, 20)
    .map(([, entry]) => entry)
}

/** The part of a text around the first word that was found. */
function around(text, words) {
  const at = Math.max(
    0,
    Math.min(...words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0)),
  )
  const from = Number.isFinite(at) ? Math.max(0, at - 50) : 0
  return `${from > 0 ? '…' : ''}${text.slice(from, from + 140)}`
}

async function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) {
    list.hidden = true
    return
  }
  const found = search(await index(), words)
  list.replaceChildren(
    ...found.map(([path, title, id, heading, text]) => {
      const link = document.createElement('a')
      link.href = `${root}/${path}.html#${id}`
      const name = document.createElement('b')
      name.textContent = heading === title ? title : `${title} › ${heading}`
      const some = document.createElement('small')
      some.textContent = around(text, words)
      link.append(name, some)
      const item = document.createElement('li')
      item.append(link)
      return item
    }),
  )
  if (found.length === 0) {
    const item = document.createElement('li')
    item.textContent = 'Nothing found. Try fewer or other words.'
    list.append(item)
  }
  list.hidden = false
}

field.addEventListener('focus', () => void index())
field.addEventListener('input', () => void show())
document.querySelector('.search').addEventListener('submit', (event) => {
  event.preventDefault()
  list.querySelector('a')?.click()
})
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && event.target !== field) {
    event.preventDefault()
    field.focus()
  }
  if (event.key === 'Escape') list.hidden = true
  if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !list.hidden) {
    const links = [...list.querySelectorAll('a')]
    const at = links.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1)
    event.preventDefault()
    ;(links[at] ?? field).focus()
  }
})
document.addEventListener('click', (event) => {
  if (!event.target.closest('.search')) list.hidden = true
})
