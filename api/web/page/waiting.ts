import { computed, signal } from '@preact/signals'
import { take } from '../../http/answers.ts'
import type { AskView } from '../../operations/approvals/schemas.ts'
import { api, errorText } from '../client/api.ts'
import { listen } from '../client/feed.ts'
import { Throttle } from '../parts/throttle.ts'

/** The most approvals in the list. */
const MOST = '200'
const PAUSE = 400

/** Everything that waits for people: approvals, decisions on unknown outcomes, answers. Null: not known yet. */
export const waitingAsks = signal<readonly AskView[] | null>(null)
/** True if the list does not contain all approvals. */
export const isMore = signal(false)
/** The tasks of the waiting runs by run id. Null: the run has no task yet. */
export const taskOf = signal<ReadonlyMap<string, string | null>>(new Map())
export const waitingFault = signal('')
export const waitingForPeople = computed(() => waitingAsks.value?.length ?? 0)

/** The event types that can change the list. */
const CHANGES =
  /^(?:approval_|tool_call_(?:unknown|resolved|end)|turn_end|user_input|message_|completion|error|cancel|agent_started|forked|los[st]_|child_)/

async function look(): Promise<void> {
  try {
    const [{ approvals, next }, { doubts }, { questions }] = await Promise.all([
      take(api.v1.approvals.$get({ query: { limit: MOST } })),
      take(api.v1.doubts.$get({ query: {} })),
      take(api.v1.questions.$get({ query: {} })),
    ])
    const asked = approvals.map(
      ({ runId, agentId, agentPath, toolCallId, toolName, arguments: given, reason }): AskView => ({
        for: 'approval',
        ...{ runId, agentId, agentPath, toolCallId, toolName, arguments: given, text: reason },
      }),
    )
    const asks = [...asked, ...doubts, ...questions]
    if (asks.some(({ runId }) => !taskOf.value.has(runId))) await lookUpTasks()
    waitingAsks.value = asks
    isMore.value = next !== null
    waitingFault.value = ''
  } catch (error) {
    waitingFault.value = errorText(error)
  }
}

async function lookUpTasks(): Promise<void> {
  const { runs } = await take(api.v1.runs.$get({ query: { waiting: 'people', limit: '500' } }))
  taskOf.value = new Map(runs.map(({ runId, task }) => [runId, task]))
}

/** Updates the list while the page is open. */
export function followWaiting(): void {
  const throttle = new Throttle(look, PAUSE)
  listen({ event: ({ type }) => CHANGES.test(type) && throttle.request(), connected: () => throttle.request() })
}
