import { computed, signal } from '@preact/signals'

/** The URL contains the page's state, so a person can share it. */
const place = signal(new URL(location.href))
addEventListener('popstate', () => {
  place.value = new URL(location.href)
})

export const path = computed(() => place.value.pathname)
export const query = computed(() => place.value.searchParams)

type Change = Readonly<Record<string, string | null>>

/** Returns a URL with changed query parameters. Null removes a parameter. */
export function withQuery(base: URL, change: Change): URL {
  const url = new URL(base)
  for (const [name, value] of Object.entries(change)) {
    if (value === null || value === '') url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  }
  return url
}

/** Opens another screen. */
export function go(to: string): void {
  history.pushState(null, '', to)
  place.value = new URL(location.href)
  scrollTo(0, 0)
}

/**
 * Changes the query and adds a history entry, so the browser's Back button returns. Use it for jumps to another
 * position.
 */
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

/** Parameters that change continuously while a person drags or scrolls. */
const OFTEN: ReadonlySet<string> = new Set(['at', 'run'])

/**
 * Changes the query without a history entry. Browsers limit the rate of URL changes, so only the last of many changes
 * is written.
 */
export function setQuery(change: Change): void {
  const url = withQuery(place.value, change)
  if (url.href === place.value.href) return
  place.value = url
  const isMove = Object.keys(change).every((name) => OFTEN.has(name))
  if (!isMove || performance.now() - written > PAUSE) write()
  else if (waiting === 0) waiting = window.setTimeout(write, PAUSE)
}

/** Opens a link to this page without a reload. */
export function followLink(event: MouseEvent): void {
  const { ctrlKey, metaKey, shiftKey, button } = event
  const link = (event.target as Element | null)?.closest('a')
  if (!link || ctrlKey || metaKey || shiftKey || button !== 0 || link.origin !== location.origin || link.target) return
  event.preventDefault()
  // A target on this screen, such as the content for skip links.
  if (link.hash !== '' && link.pathname === location.pathname) document.getElementById(link.hash.slice(1))?.focus()
  else go(link.href)
}
