import { signal } from '@preact/signals'
import { refusal, take } from '../../../http/answers.ts'
import type { EventView } from '../../../operations/events/schemas.ts'
import { api, errorText, send } from '../../client/api.ts'
import { EventCache, type ReadEvents } from '../../run/event-cache.ts'

/** Events in memory while the page follows the log. The oldest are dropped first. */
const MOST = 20_000
const PART = 1_000

/** One stream: all its events, and new ones as they arrive. */
export class StreamModel {
  readonly stream: string
  readonly events: EventCache
  readonly length = signal(0)
  readonly fault = signal('')

  constructor(stream: string) {
    this.stream = stream
    this.events = new EventCache(
      (query) => take(api.v1.streams[':stream'].events.$get({ param: { stream }, query })) as ReturnType<ReadEvents>,
    )
    void this.read()
  }

  /** Reads the current length of the stream. */
  async read(): Promise<void> {
    try {
      const query = { prefix: this.stream, limit: '1' }
      const { streams } = await take(api.v1.streams.$get({ query }))
      const found = streams.find(({ stream }) => stream === this.stream)
      if (found === undefined)
        this.fault.value = 'There is no such stream; without a name this page lists those that there are.'
      else {
        this.length.value = Math.max(this.length.value, found.revision + 1)
        this.fault.value = ''
      }
    } catch (error) {
      this.fault.value = errorText(error)
    }
  }

  /** Reads the events missed during a lost connection, and retries failed reads. */
  catchUp(): void {
    void this.read()
    this.events.again()
  }

  hear(event: EventView): void {
    if (event.stream !== this.stream || event.revision < this.length.value) return
    if (event.revision > this.length.value) return void this.read()
    this.events.put(event)
    this.length.value = event.revision + 1
  }
}

/** The whole log: from the opening of the page on, or page by page from the start of the log. */
export class LogModel {
  readonly events = signal<readonly EventView[]>([])
  readonly fault = signal('')
  /** The first event shown: the first of the log, or the first after the page opened. */
  readonly from = signal<'start' | 'now'>('now')
  /** True while the log may contain further events after the last one read. New events are then ignored. */
  readonly isBehind = signal(false)
  readonly #heard = new Set<string>()

  hear(event: EventView): void {
    if (this.isBehind.value || this.#heard.has(event.id)) return
    this.#add([event])
  }

  /** Reads the next page after the last event. The first call starts at the beginning of the log. */
  async read(): Promise<void> {
    if (this.from.value === 'now') {
      this.from.value = 'start'
      this.isBehind.value = true
      this.events.value = []
      this.#heard.clear()
    }
    const after = this.events.value.at(-1)?.cursor
    const over = new AbortController()
    try {
      const query = new URLSearchParams({ brief: 'true', follow: 'false', ...(after === undefined ? {} : { after }) })
      const answer = await send(`/v1/events?${query}`, {
        headers: { accept: 'application/x-ndjson' },
        signal: over.signal,
      })
      if (!answer.ok || answer.body === null) throw await refusal(answer)
      const part: EventView[] = []
      for await (const line of lines(answer.body)) {
        part.push(JSON.parse(line) as EventView)
        if (part.length === PART) break
      }
      over.abort()
      this.#add(part)
      this.isBehind.value = part.length === PART
      this.fault.value = ''
    } catch (error) {
      this.fault.value = errorText(error)
    }
  }

  /**
   * Reads the events missed during a lost connection if the page shows the whole log. Otherwise the hub resumes by
   * itself.
   */
  catchUp(): void {
    if (this.from.value === 'start' && !this.isBehind.value) void this.read()
  }

  #add(more: readonly EventView[]): void {
    const fresh = more.filter(({ id }) => !this.#heard.has(id))
    for (const { id } of fresh) this.#heard.add(id)
    const all = [...this.events.value, ...fresh]
    for (const { id } of all.splice(0, this.from.value === 'now' ? Math.max(0, all.length - MOST) : 0))
      this.#heard.delete(id)
    this.events.value = all
  }
}

async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const parts = (rest + value).split('\n')
    rest = parts.pop()!
    for (const part of parts) if (part.trim() !== '') yield part
  }
  if (rest.trim() !== '') yield rest
}
