import { effect, signal } from '@preact/signals'
import { askKey } from '../actions/open-questions.ts'
import { stored } from '../parts/stored.ts'
import { go } from './router.ts'
import { showNotices } from './show-notices.ts'
import { taskOf, waitingAsks } from './waiting.ts'

/** True: the person wants notices of new questions while the page is hidden. The browser asks for its own permission. */
export const wantsNotices = stored('keepup-notices', (found) => found === true)

/** Why the browser could not show a notice. Empty: it could. */
const failure = signal('')

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
    failure.value = showNotices(fresh, (ask) => taskOf.peek().get(ask.runId) ?? ask.runId, go)
  })
}
