import { effect, signal } from '@preact/signals'
import type { AskRow } from '../../operations/read-model.ts'
import { askKey } from '../actions/open-questions.ts'
import { shown } from '../parts/shown.ts'
import { stored } from '../parts/stored.ts'
import { go } from './router.ts'
import { taskOf, waitingAsks } from './waiting.ts'

/** The most characters of a task in a notice. */
const MOST = 120

/** True: the person wants notices of new questions while the page is hidden. The browser asks for its own permission. */
export const wantsNotices = stored('keepup-notices', (found) => found === true)

/** Why the browser could not show a notice. Empty: it could. */
const failure = signal('')
/** The most notices at once; more new questions are one notice with their number. */
const MOST_NOTICES = 3

/** Why the browser shows no notices although the person wants them. Empty: it shows them. */
export const noticesRefused = (): string =>
  typeof Notification === 'undefined'
    ? 'this browser has none'
    : Notification.permission === 'denied'
      ? 'the browser refuses them for this site'
      : failure.value

/** Turns notices on or off. Asks the browser for permission, which it grants only after an act of the person. */
export async function toggleNotices(): Promise<void> {
  if (wantsNotices.value) wantsNotices.value = false
  else if (typeof Notification !== 'undefined' && (await Notification.requestPermission()) === 'granted')
    wantsNotices.value = true
}

/** Shows a notice for each new question while the page is hidden. The questions of the first look are not new. */
export function followNotices(): void {
  let known: ReadonlySet<string> | null = null
  effect(() => {
    const asks = waitingAsks.value
    if (asks === null) return
    const fresh = known === null ? [] : asks.filter((ask) => !known!.has(askKey(ask)))
    known = new Set(asks.map(askKey))
    if (!wantsNotices.peek() || !document.hidden || noticesRefused() !== '') return
    failure.value = showNotices(fresh, (ask) => taskOf.peek().get(ask.runId) ?? ask.runId)
  })
}

/** Shows notices of new questions. Returns why the browser shows none; empty: it shows them. */
export function showNotices(fresh: readonly AskRow[], taskOfAsk: (ask: AskRow) => string): string {
  try {
    if (fresh.length > MOST_NOTICES) {
      notify(`keepup: ${fresh.length} new questions wait for you`, '', `keepup ${fresh.map(askKey)}`, '/')
      return ''
    }
    for (const ask of fresh) {
      const body = shown(taskOfAsk(ask).slice(0, MOST))
      notify(`keepup: ${WORDS[ask.for]}`, body, `keepup ${askKey(ask)}`, `/runs/${ask.runId}?agent=${ask.agentId}`)
    }
    return ''
  } catch (error) {
    // Chrome on Android has the constructor, which throws a TypeError outside a service worker.
    return `this browser cannot show them: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Tabs give the same tag, so the browser shows one notice. */
function notify(title: string, body: string, tag: string, path: string): void {
  const notice = new Notification(title, { body, tag, icon: '/icon-asks.svg' })
  notice.onclick = () => {
    focus()
    go(path)
    notice.close()
  }
}

const WORDS = {
  approval: 'an approval waits for you',
  doubt: 'an unknown outcome waits for you',
  input: 'a question waits for you',
} as const
