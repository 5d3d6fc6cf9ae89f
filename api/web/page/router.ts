import { computed, signal } from '@preact/signals'

/** The address, which is the state of the page that a person can share. */
const place = signal(new URL(location.href))
addEventListener('popstate', () => {
  place.value = new URL(location.href)
})

export const path = computed(() => place.value.pathname)
export const query = computed(() => place.value.searchParams)

export type Change = Readonly<Record<string, string | null>>

/** An address with other members of its query; null takes one away. */
export function withQuery(base: URL, change: Change): URL {
  const url = new URL(base)
  for (const [name, value] of Object.entries(change)) {
    if (value === null || value === '') url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  }
  return url
}

/** Goes to another screen. */
export function go(to: string): void {
  history.pushState(null, '', to)
  place.value = new URL(location.href)
  scrollTo(0, 0)
}

/** Changes the query as a step that the browser's Back takes back: for jumps to another place. */
export function jump(change: Change): void {
  const url = withQuery(place.value, change)
  if (url.href === place.value.href) return
  if (waiting !== 0) write()
  go(url.href)
}

const PAUSE = 120
let waiting = 0
let written = 0

function write(): void {
  clearTimeout(waiting)
  waiting = 0
  written = performance.now()
  const { href, pathname } = place.value
  if (location.pathname === pathname && location.href !== href) history.replaceState(null, '', href)
}
addEventListener('pagehide', write)

/** Members that change with every move of a hand. */
const OFTEN: ReadonlySet<string> = new Set(['at', 'run'])

/**
 * Changes the query in place. Browsers refuse an address that changes too often, so that of many moves the last is written.
 */
export function setQuery(change: Change): void {
  const url = withQuery(place.value, change)
  if (url.href === place.value.href) return
  place.value = url
  const isMove = Object.keys(change).every((name) => OFTEN.has(name))
  if (!isMove || performance.now() - written > PAUSE) write()
  else if (waiting === 0) waiting = window.setTimeout(write, PAUSE)
}

/** Follows a link of this page without loading it anew. */
export function followLink(event: MouseEvent): void {
  const { ctrlKey, metaKey, shiftKey, button } = event
  const link = (event.target as Element | null)?.closest('a')
  if (!link || ctrlKey || metaKey || shiftKey || button !== 0 || link.origin !== location.origin || link.target) return
  event.preventDefault()
  // A place on this screen, such as its content, behind the links of every screen.
  if (link.hash !== '' && link.pathname === location.pathname) document.getElementById(link.hash.slice(1))?.focus()
  else go(link.href)
}
