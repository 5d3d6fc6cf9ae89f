import { effect, signal } from '@preact/signals'
import type { EventView } from '../../operations/events/schemas.ts'
import type { FromHub, News, ToHub } from './feed-hub.ts'
import { expired, session } from './session.ts'
import { feedWorker, trusted } from './workers.ts'

/** `connecting`: no answer yet. */
export const connection = signal<'connecting' | 'connected' | 'lost' | 'silent'>('connecting')
/**
 * Counts the logs seen by this page. A restored backup is a different log, and the page must drop the content of the
 * previous one.
 */
export const logs = signal(0)

export interface Listener {
  readonly event?: (event: EventView) => void
  readonly news?: (news: News) => void
  /** Called when events may have been missed: the stream has resumed, or no bytes arrive. The listener must reload. */
  readonly connected?: () => void
}

const listeners = new Set<Listener>()
let say: (message: ToHub) => void = () => {}

/** Calls the listener for every event appended from now on. Returns a function that ends this. */
export function listen(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Sets the run whose model output this tab shows. Null: none. */
export function watchText(runId: string | null): void {
  watched = runId
  tell({ kind: 'watch', runId: document.hidden ? null : runId })
}
let watched: string | null = null

function hear(message: FromHub): void {
  if (message.kind === 'event') for (const { event } of listeners) event?.(message.event)
  else if (message.kind === 'news') for (const { news } of listeners) news?.(message.news)
  else if (message.kind === 'expired') {
    // Another tab may have sent its own key.
    if (message.key === session.value?.key) expired(message.key)
    else hello()
  } else {
    connection.value = message.state
    if (message.anew) logs.value++
    if (message.state !== 'lost') for (const { connected } of listeners) connected?.()
  }
}

/** Connects to the browser's shared worker. A browser without shared workers gets one connection per tab. */
function join(): (message: ToHub) => void {
  const url = trusted(feedWorker)
  const port =
    typeof SharedWorker === 'undefined'
      ? new Worker(url, { type: 'module' })
      : new SharedWorker(url, { type: 'module', name: 'keepup' }).port
  port.onmessage = ({ data }: MessageEvent<FromHub>) => hear(data)
  return (message) => port.postMessage(message)
}

/** Sends the session's key at each change. Without a session the tab leaves the hub. */
function hello(): void {
  const key = session.value?.key
  say(key === undefined ? { kind: 'bye' } : { kind: 'hello', key })
}

/** Sends a message to the hub if there is a session. */
function tell(message: ToHub): void {
  if (session.value !== null) say(message)
}

/** Listens until the page closes. */
export function startFeed(): void {
  say = join()
  effect(hello)
  addEventListener('pagehide', () => say({ kind: 'bye' }))
  addEventListener('pageshow', ({ persisted }) => persisted && hello())
  document.addEventListener('visibilitychange', () => watchText(watched))
  setInterval(() => tell({ kind: 'alive' }), 20_000)
}
