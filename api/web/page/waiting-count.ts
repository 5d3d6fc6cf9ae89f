import { signal } from '@preact/signals'
import { api, take } from '../client/api.ts'
import { listen } from '../client/feed.ts'

/** How many approvals, decisions and answers wait for people. */
export const waitingForPeople = signal(0)

/** Types of events after which it may be another number. */
const CHANGES = /^(?:approval_|tool_call_(?:unknown|resolved)|turn_end|user_input|completion|error|cancel)/

async function look(): Promise<void> {
  const [approvals, doubts, questions] = await Promise.all([
    take(api.v1.approvals.$get({ query: { limit: '500' } })),
    take(api.v1.doubts.$get({ query: {} })),
    take(api.v1.questions.$get({ query: {} })),
  ])
  waitingForPeople.value = approvals.approvals.length + doubts.doubts.length + questions.questions.length
}

/** Keeps the number true while the page is open. */
export function followWaiting(): void {
  let timer = 0
  const soon = () => {
    if (timer !== 0) return
    timer = window.setTimeout(() => {
      timer = 0
      look().catch(() => undefined)
    }, 500)
  }
  listen({ event: ({ type }) => CHANGES.test(type) && soon(), connected: soon })
}
