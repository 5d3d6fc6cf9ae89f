import type { News } from '../app/live/hub.ts'
import type { Ended } from '../app/runs/ended.ts'
import type { EventView } from '../app/schemas/events.ts'
import type { Backend } from '../owner/backend.ts'
import { InOrder } from './in-order.ts'
import { sseMessages } from './sse.ts'

export interface Watch {
  readonly runId: string
  /** Cursor of the last event that was shown; moved on as events are shown. */
  cursor: string | null
  /** The run's own revision at the cursor; -1: none of its events. */
  revision: number
  readonly onEvent: (event: EventView) => void
  readonly onText: (text: string) => void
}

/** Asks for the drive; may be asked again of another process. `driving` false: that process is ending. */
export type Begin = (backend: Backend) => Promise<{ driving: boolean }>

const get = (backend: Backend, path: string, signal: AbortSignal) =>
  backend.fetch(new Request(`http://localhost${path}`, { signal }))

/**
 * Listens, has the drive begun, and shows a run's events and text until it has ended and every event up to then was
 * shown. Gives how it ended. Rejects with `OwnerError` where the process that drives went away: what was shown is in
 * `watch.cursor`.
 */
export async function follow(backend: Backend, watch: Watch, begin: Begin): Promise<Ended> {
  const over = new AbortController()
  // A drive may end without a single new event.
  const shown = new Shown(watch.revision)
  const order = new InOrder(watch.onText)
  const events = showEvents(backend, watch, shown, order, over.signal)
  // Whichever of the two streams breaks first tells what happened.
  events.catch((error: unknown) => over.abort(error))
  try {
    const { end, last } = await driveEnd(backend, watch, begin, order, over.signal)
    await Promise.race([shown.reached(last), events.then(() => Promise.reject(new Error('the event stream ended')))])
    order.flush()
    return end
  } catch (error) {
    throw over.signal.aborted ? over.signal.reason : error
  } finally {
    over.abort(new Error('followed to the end'))
    await events.catch(() => {})
  }
}

async function showEvents(
  backend: Backend,
  watch: Watch,
  shown: Shown,
  order: InOrder,
  signal: AbortSignal,
): Promise<void> {
  const after = watch.cursor === null ? '' : `&after=${encodeURIComponent(watch.cursor)}`
  const response = await get(backend, `/v1/events?run=${encodeURIComponent(watch.runId)}${after}`, signal)
  for await (const message of sseMessages(response)) {
    if (message.data !== null) {
      const event = JSON.parse(message.data) as EventView
      watch.onEvent(event)
      order.event(event)
      if (event.stream === `agent-${watch.runId}`) {
        watch.revision = event.revision
        shown.show(event.revision)
      }
    }
    if (message.id !== null) watch.cursor = message.id
  }
}

/** `last`: the revision of the run's last event. */
async function driveEnd(
  backend: Backend,
  watch: Watch,
  begin: Begin,
  order: InOrder,
  signal: AbortSignal,
): Promise<{ end: Ended; last: number }> {
  const response = await get(backend, `/v1/runs/${encodeURIComponent(watch.runId)}/live`, signal)
  let begun = false
  for await (const message of sseMessages(response)) {
    const news = JSON.parse(message.data ?? '{}') as News
    if (!begun) {
      // The first message says how things stood before: from here on nothing is missed, so it can begin.
      begun = true
      if (!(await begin(backend)).driving) return { end: { end: 'interrupted' }, last: watch.revision }
    } else if (news.kind === 'drive' && news.end) return { end: news.end, last: news.revision ?? watch.revision }
    else if (news.kind === 'text' || news.kind === 'output') order.text(news)
    else if (news.kind === 'dropped') watch.onText('\n[…]\n')
  }
  throw new Error('the live stream ended')
}

/** How far the events were shown. */
class Shown {
  #revision: number
  #waiting: { revision: number; resolve: () => void } | null = null

  constructor(revision: number) {
    this.#revision = revision
  }

  show(revision: number): void {
    this.#revision = Math.max(this.#revision, revision)
    if (this.#waiting && this.#revision >= this.#waiting.revision) this.#waiting.resolve()
  }

  reached(revision: number): Promise<void> {
    if (this.#revision >= revision) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting = { revision, resolve }
    })
  }
}
