import type { EventView } from '../../operations/events/schemas.ts'
import type { Ended } from '../../operations/runs/drive-end.ts'
import type { News } from '../../process/live/hub.ts'
import type { Backend } from '../../process/owner/backend.ts'
import { InOrder } from './ordered-output.ts'
import { serverEvents } from './server-events.ts'

export interface Watch {
  readonly runId: string
  /** Cursor of the last event that was shown; moved on as events are shown. */
  cursor: string | null
  readonly onEvent: (event: EventView) => void
  /** Words of an agent, or output of its tools. */
  readonly onText: (agentId: string, text: string) => void
}

/** Asks for the drive; may be asked again of another process. `driving` false: that process is ending. */
export type Begin = (backend: Backend) => Promise<{ driving: boolean }>

const get = (backend: Backend, path: string, signal: AbortSignal) =>
  backend.fetch(new Request(`http://localhost${path}`, { signal }))

/**
 * Listens, has the drive begun, and shows a run's events and text until it has ended and every event of all its agents up to
 * then was shown. Gives how it ended. Rejects with `OwnerError` where the process that drives went away: what was shown is in
 * `watch.cursor`.
 */
export async function follow(backend: Backend, watch: Watch, begin: Begin): Promise<Ended> {
  const over = new AbortController()
  const order = new InOrder(({ agentId, text }) => watch.onText(agentId, text))
  const events = showEvents(backend, watch, order, over.signal)
  // Whichever of the two streams breaks first tells what happened.
  events.catch((error: unknown) => over.abort(error))
  let end: Ended
  try {
    end = await driveEnd(backend, watch, begin, order, over.signal)
  } catch (error) {
    throw over.signal.aborted ? over.signal.reason : error
  } finally {
    over.abort(new Error('followed to the end'))
    await events.catch(() => {})
  }
  // All that the drive recorded stands in the log by now; agents below the root may have spoken last.
  await showEvents(backend, watch, order, new AbortController().signal, '&follow=false')
  order.flush()
  return end
}

async function showEvents(
  backend: Backend,
  watch: Watch,
  order: InOrder,
  signal: AbortSignal,
  how = '',
): Promise<void> {
  const after = watch.cursor === null ? '' : `&after=${encodeURIComponent(watch.cursor)}`
  const response = await get(backend, `/v1/events?run=${encodeURIComponent(watch.runId)}${after}${how}`, signal)
  for await (const message of serverEvents(response)) {
    if (message.data !== null) {
      const event = JSON.parse(message.data) as EventView
      watch.onEvent(event)
      order.event(event)
    }
    if (message.id !== null) watch.cursor = message.id
  }
}

async function driveEnd(
  backend: Backend,
  watch: Watch,
  begin: Begin,
  order: InOrder,
  signal: AbortSignal,
): Promise<Ended> {
  const response = await get(backend, `/v1/runs/${encodeURIComponent(watch.runId)}/live`, signal)
  let begun = false
  for await (const message of serverEvents(response)) {
    const news = JSON.parse(message.data ?? '{}') as News
    if (!begun) {
      // The first message says how things stood before: from here on nothing is missed, so it can begin.
      begun = true
      if (!(await begin(backend)).driving) return { end: 'interrupted' }
    } else if (news.kind === 'drive' && news.end) return news.end
    else if (news.kind === 'text' || news.kind === 'output') order.text(news)
    else if (news.kind === 'dropped') watch.onText(watch.runId, '\n[…]\n')
  }
  throw new Error('the live stream ended')
}
