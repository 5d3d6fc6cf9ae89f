import type { EventView } from '../../operations/events/schemas.ts'
import type { Ended } from '../../operations/runs/drive-end.ts'
import type { RunNews } from '../../operations/runs/run-news.ts'
import type { Backend } from '../../process/owner/backend.ts'
import { InOrder } from './ordered-output.ts'
import { serverEvents } from './server-events.ts'

export interface Watch {
  readonly runId: string
  /** The cursor of the last event shown. Advances with each event. */
  cursor: string | null
  readonly onEvent: (event: EventView) => void
  /** Called with the text of an agent's model, or the output of its tools. */
  readonly onText: (agentId: string, text: string) => void
}

/** Requests the drive. May be called again with another process. `driving` false: that process is ending. */
export type Begin = (backend: Backend) => Promise<{ driving: boolean }>

const get = (backend: Backend, path: string, signal: AbortSignal) =>
  backend.fetch(new Request(`http://localhost${path}`, { signal }))

/**
 * Subscribes, starts the drive, and shows a run's events and text until the run has ended and all events up to its end
 * are shown. Returns how the run ended. Rejects with `OwnerError` if the driving process ends; `watch.cursor` is then
 * the last event shown.
 */
export async function follow(backend: Backend, watch: Watch, begin: Begin): Promise<Ended> {
  const over = new AbortController()
  const order = new InOrder(({ agentId, text }) => watch.onText(agentId, text))
  const events = showEvents(backend, watch, order, over.signal)
  // The stream that fails first determines the error.
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
  // The log now contains all events of the drive. Agents below the root may have written last, so read the rest.
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
    const news = JSON.parse(message.data ?? '{}') as RunNews
    if (!begun) {
      // The first message gives the state before the drive. Nothing after it is missed, so start the drive now.
      begun = true
      if (!(await begin(backend)).driving) return { end: 'interrupted' }
    } else if (news.kind === 'drive' && news.end) return news.end
    else if (news.kind === 'text' || (news.kind === 'output' && news.soFar === undefined)) order.text(news)
    else if (news.kind === 'dropped') watch.onText(watch.runId, '\n[…]\n')
  }
  throw new Error('the live stream ended')
}
