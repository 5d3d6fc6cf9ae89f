import { type ServerEvent, SseReader } from '../../../adapters/web/sse-reader.ts'
import type { EventView } from '../../operations/events/schemas.ts'
import { HeartbeatWatch } from './heartbeat-watch.ts'

/** Messages of a tab to the hub. `watch`: the run whose model output the tab shows; null: none. */
export type ToHub =
  | { readonly kind: 'hello'; readonly key: string }
  | { readonly kind: 'watch'; readonly runId: string | null }
  | { readonly kind: 'alive' }
  | { readonly kind: 'bye' }

/** Text that a model generates at present, output of a running call, or the start or end of a drive. Never stored. */
export interface News {
  readonly kind: 'text' | 'output' | 'drive' | 'dropped'
  readonly runId: string
  readonly agentId?: string
  readonly turn?: number
  /** Of output: the call. */
  readonly toolCallId?: string
  /** Of output: true: it replaces earlier pieces of the call. */
  readonly soFar?: true
  readonly text?: string
  readonly driving?: boolean
}

/**
 * Messages of the hub to every tab. `connected`: the tab may have missed events and must reload; with `anew` the log is
 * a different one, for example after a restored backup. `silent`: the connection is open but no bytes arrive, so pages
 * must poll. `expired`: the server no longer accepts the session of this key.
 */
export type FromHub =
  | { readonly kind: 'event'; readonly event: EventView }
  | { readonly kind: 'news'; readonly news: News }
  | { readonly kind: 'connection'; readonly state: 'connected' | 'lost' | 'silent'; readonly anew?: boolean }
  | { readonly kind: 'expired'; readonly key: string }

interface Tab {
  readonly say: (message: FromHub) => void
  watch: string | null
  seen: number
}

/**
 * The hub drops a tab that is silent for this time, in ms. Browsers run the timers of hidden tabs about once a minute.
 */
const SILENCE = 180_000
const FIRST_WAIT = 250
const LONGEST_WAIT = 5_000
/**
 * Streams of model output at the same time, in addition to the event stream. Browsers limit connections per host, and
 * requests need some too.
 */
const MOST_WATCHED = 2

/**
 * A browser's single connection to the event stream, shared by its tabs. After an interruption it resumes at its
 * cursor, so no event is missed or repeated.
 */
export class FeedHub {
  readonly #tabs = new Set<Tab>()
  #key = ''
  #after: string | null = null
  #over: AbortController | null = null
  #state: 'connected' | 'lost' | 'silent' | 'expired' = 'lost'
  #anew = false
  readonly #watching = new Map<string, AbortController>()

  join(say: Tab['say']): (message: ToHub) => void {
    const tab: Tab = { say, watch: null, seen: Date.now() }
    this.#tabs.add(tab)
    return (message) => {
      tab.seen = Date.now()
      const isForgotten = !this.#tabs.has(tab)
      this.#tabs.add(tab)
      if (message.kind === 'hello') this.#hello(tab, message.key)
      // The hub had dropped this tab while it slept. The tab missed messages and starts again.
      else if (isForgotten && message.kind !== 'bye') this.#hello(tab, this.#key)
      if (message.kind === 'watch') tab.watch = message.runId
      if (message.kind === 'bye') this.#tabs.delete(tab)
      this.#tidy()
    }
  }

  #hello(tab: Tab, key: string): void {
    const other = key !== this.#key
    this.#key = key
    if (other || this.#over === null || this.#state === 'expired') {
      this.#over?.abort()
      this.#over = new AbortController()
      void this.#follow(this.#over.signal)
    } else tab.say({ kind: 'connection', state: this.#state })
  }

  #tidy(): void {
    for (const tab of this.#tabs) if (Date.now() - tab.seen > SILENCE) this.#tabs.delete(tab)
    if (this.#tabs.size === 0) {
      this.#over?.abort()
      this.#over = null
    }
    const latest = [...this.#tabs].sort((a, b) => b.seen - a.seen).flatMap(({ watch }) => watch ?? [])
    const wanted = new Set([...new Set(latest)].slice(0, MOST_WATCHED))
    for (const [runId, over] of this.#watching) if (!wanted.has(runId)) over.abort()
    for (const runId of wanted) if (!this.#watching.has(runId)) void this.#watch(runId)
  }

  #say(message: FromHub): void {
    for (const { say } of this.#tabs) say(message)
  }

  #is(state: 'connected' | 'lost' | 'silent'): void {
    this.#state = state
    this.#say({ kind: 'connection', state, ...(state === 'connected' && this.#anew && { anew: true }) })
    if (state === 'connected') this.#anew = false
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for (let wait = FIRST_WAIT; !signal.aborted; wait = Math.min(wait * 2, LONGEST_WAIT)) {
      const begin = this.#after === null ? '&from=head' : ''
      const headers: Record<string, string> = this.#after === null ? {} : { 'last-event-id': this.#after }
      const watch = new HeartbeatWatch(signal)
      let isLive = false
      try {
        const key = this.#key
        const answer = await this.#ask(`/v1/events?brief=true${begin}`, headers, watch.signal)
        if (answer.status === 401) {
          this.#state = 'expired'
          return this.#say({ kind: 'expired', key })
        }
        // The cursor is not valid: the log was replaced or is shorter. Tabs must reload everything.
        if (answer.status === 409 || answer.status === 400) {
          this.#after = null
          this.#anew = true
        }
        if (answer.ok && answer.body !== null) {
          watch.expect(answer)
          await each(
            answer.body,
            (message) => this.#event(message),
            () => {
              watch.beat()
              // Report `connected` only after the first bytes: a proxy may buffer the response.
              if (!isLive) this.#is('connected')
              isLive = true
              wait = FIRST_WAIT
            },
          )
        } else await answer.body?.cancel()
      } catch {
        // The connection broke. The hub has passed on all complete messages.
      } finally {
        watch.end()
      }
      if (signal.aborted) return
      this.#is(watch.isSilent ? 'silent' : 'lost')
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }

  #event({ id, data }: ServerEvent): void {
    if (data !== null) this.#say({ kind: 'event', event: JSON.parse(data) as EventView })
    // A heartbeat with another position: the log has grown by events that this reader may not see.
    else if (id !== null && this.#after !== null && id !== this.#after) this.#is('connected')
    if (id !== null) this.#after = id
  }

  async #watch(runId: string): Promise<void> {
    const over = new AbortController()
    this.#watching.set(runId, over)
    const watch = new HeartbeatWatch(over.signal)
    try {
      const answer = await this.#ask(`/v1/runs/${encodeURIComponent(runId)}/live`, {}, watch.signal)
      watch.expect(answer)
      if (answer.ok && answer.body !== null)
        await each(
          answer.body,
          ({ data }) => {
            if (data !== null) this.#say({ kind: 'news', news: JSON.parse(data) as News })
          },
          () => watch.beat(),
        )
      else await answer.body?.cancel()
    } catch {
      // Model output is never stored. The event of the model call contains the missed text.
    } finally {
      watch.end()
    }
    if (!over.signal.aborted) await pause(LONGEST_WAIT, over.signal)
    this.#watching.delete(runId)
    this.#tidy()
  }

  #ask(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    return fetch(path, { headers: { ...headers, 'keepup-session': this.#key }, signal, cache: 'no-store' })
  }
}

/** Resolves after some ms, or at once when the signal aborts. */
const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

async function each(
  body: ReadableStream<Uint8Array>,
  take: (event: ServerEvent) => void,
  heard: () => void,
): Promise<void> {
  const events = new SseReader()
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    heard()
    for (const event of events.push(value)) take(event)
  }
}
