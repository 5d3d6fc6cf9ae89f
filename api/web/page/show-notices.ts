import type { AskRow } from '../../operations/read-model.ts'
import { askKey } from '../actions/open-questions.ts'
import { shown } from '../parts/shown.ts'

/** The most characters of a task in a notice. */
const MOST = 120
/** The most notices at once; more new questions are one notice with their number. */
const MOST_NOTICES = 3

/** Shows notices of new questions. Returns why the browser shows none; empty: it shows them. */
export function showNotices(
  fresh: readonly AskRow[],
  taskOfAsk: (ask: AskRow) => string,
  open: (path: string) => void,
): string {
  try {
    if (fresh.length > MOST_NOTICES) {
      notify(`keepup: ${fresh.length} new questions wait for you`, '', `keepup ${fresh.map(askKey)}`, () => open('/'))
      return ''
    }
    for (const ask of fresh) {
      const body = shown(taskOfAsk(ask).slice(0, MOST))
      notify(`keepup: ${WORDS[ask.for]}`, body, `keepup ${askKey(ask)}`, () =>
        open(`/runs/${ask.runId}?agent=${ask.agentId}`),
      )
    }
    return ''
  } catch (error) {
    // Chrome on Android has the constructor, which throws a TypeError outside a service worker.
    return `this browser cannot show them: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Tabs give the same tag, so the browser shows one notice. */
function notify(title: string, body: string, tag: string, open: () => void): void {
  const notice = new Notification(title, { body, tag, icon: '/icon-asks.svg' })
  notice.onclick = () => {
    focus()
    open()
    notice.close()
  }
}

const WORDS = {
  approval: 'an approval waits for you',
  doubt: 'an unknown outcome waits for you',
  input: 'a question waits for you',
} as const
