import { effect, signal } from '@preact/signals'
import type { EventView } from '../../operations/events/schemas.ts'
import type { FromHub, News, ToHub } from './feed-hub.ts'
import workerUrl from './feed-worker.ts?sharedworker&url'
import { expired, session } from './session.ts'

/** `connecting`: no answer yet. */
export const connection = signal<'connecting' | 'connected' | 'lost' | 'silent'>('connecting')
/** Logs that this page has met: after a backup was restored it is another one, and nothing that is shown may be of it. */
export const logs = signal(0)

export interface Listener {
  readonly event?: (event: EventView) => void
  readonly news?: (news: News) => void
  /** What was appended meanwhile may have to be looked up: the stream goes on, or nothing of it arrives. */
  readonly connected?: () => void
}

const listeners = new Set<Listener>()
let say: (message: ToHub) => void = () => {}

/** Hears of every event that is appended from now on. Returns what ends it. */
export function listen(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** The run whose streaming text this tab shows; null: none. */
export function watchText(runId: string | null): void {
  watched = runId
  tell({ kind: 'watch', runId: document.hidden ? null : runId })
}
let watched: string | null = null

function hear(message: FromHub): void {
  if (message.kind === 'event') for (const { event } of listeners) event?.(message.event)
  else if (message.kind === 'news') for (const { news } of listeners) news?.(message.news)
  else if (message.kind === 'expired') {
    // Another tab may have said a key of its own.
    if (message.key === session.value?.key) expired(message.key)
    else hello()
  } else {
    connection.value = message.state
    if (message.anew) logs.value++
    if (message.state !== 'lost') for (const { connected } of listeners) connected?.()
  }
}

interface WorkerPolicy {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}

/** The worker's address as the page's policy wants it: the one script that this page starts. */
function trusted(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: WorkerPolicy }
  if (trustedTypes === undefined) return url
  const rules = { createScriptURL: (asked: string) => (asked === workerUrl ? asked : '') }
  return trustedTypes.createPolicy('keepup-worker', rules).createScriptURL(url)
}

/** Joins the one connection of all tabs. A browser without shared workers gets a connection for each tab. */
function join(): (message: ToHub) => void {
  const url = trusted(workerUrl)
  const port =
    typeof SharedWorker === 'undefined'
      ? new Worker(url, { type: 'module' })
      : new SharedWorker(url, { type: 'module', name: 'keepup' }).port
  port.onmessage = ({ data }: MessageEvent<FromHub>) => hear(data)
  return (message) => port.postMessage(message)
}

/** The key of the session, whenever there is another one; without one nothing is heard. */
function hello(): void {
  const key = session.value?.key
  say(key === undefined ? { kind: 'bye' } : { kind: 'hello', key })
}

/** Says something where there is a session to hear with. */
function tell(message: ToHub): void {
  if (session.value !== null) say(message)
}

/** Begins to listen, for as long as the page is open. */
export function startFeed(): void {
  say = join()
  effect(hello)
  addEventListener('pagehide', () => say({ kind: 'bye' }))
  addEventListener('pageshow', ({ persisted }) => persisted && hello())
  document.addEventListener('visibilitychange', () => watchText(watched))
  setInterval(() => tell({ kind: 'alive' }), 20_000)
}
