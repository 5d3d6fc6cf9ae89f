import { type Cursor, formatCursor } from '../../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { cloudEventOf } from '../export/cloud-event.ts'
import { type EventFilter, wanted } from './filter.ts'
import type { EventView } from './schemas.ts'
import type { EventViews, JsonPiece } from './view.ts'

/** The encoding of events. `brief`: truncate long texts. `cloudEvents`: in the form of CloudEvents. */
export interface EventForm {
  readonly format: 'sse' | 'ndjson'
  readonly brief: boolean
  readonly cloudEvents?: boolean
}

/** A client's request for events. Equal requests have the same `key`. */
export interface AskedEvents extends EventForm {
  readonly filter: EventFilter
  readonly key: string
}

export function askedEvents(form: EventForm, filter: EventFilter): AskedEvents {
  const sets = [filter.types, filter.runs, filter.kinds, filter.streams].map((set) => set && [...set].sort())
  const key = JSON.stringify([
    form.format,
    form.brief,
    form.cloudEvents,
    filter.run,
    filter.agent,
    filter.turn,
    ...sets,
  ])
  return { ...form, filter, key }
}

/** The most body bytes in a page. A larger body gets a separate page. */
const PAGE_BYTES = 128 * 1024
const NOTHING = new Uint8Array(0)
const utf8 = new TextEncoder()

/**
 * Consecutive events of the log, with their encoded bytes. Encoded at the first request, once for all clients with
 * equal requests. Contains at least one event.
 */
export class FeedPage {
  readonly events: readonly RecordedEvent[]
  readonly end: Cursor
  /** The bytes of the events and their encodings. */
  bytes: number
  readonly #views: EventViews
  /** Encodings of single events by position and form, shared between filters. */
  readonly #messages = new Map<string, Promise<Uint8Array>>()
  readonly #chunks = new Map<string, Promise<Uint8Array>>()

  constructor(events: readonly RecordedEvent[], end: Cursor, views: EventViews) {
    this.events = events
    this.end = end
    this.bytes = sum(events.map(({ header }) => header.body.size))
    this.#views = views
  }

  /** The part of the page after a position. Null: none. */
  after(position: number): FeedPage | null {
    if (position < this.events[0]!.position) return this
    const later = this.events.filter((event) => event.position > position)
    return later.length === 0 ? null : new FeedPage(later, this.end, this.#views)
  }

  /** The events that match a filter. */
  matching(filter: EventFilter): readonly RecordedEvent[] {
    return this.events.filter((event) => wanted(event, filter))
  }

  /** The page up to an event of it. `end`: the cursor of the event. */
  upTo(last: RecordedEvent, end: Cursor): FeedPage {
    if (last === this.events.at(-1)) return this
    return new FeedPage(this.events.slice(0, this.events.indexOf(last) + 1), end, this.#views)
  }

  /** The views of events of this page. */
  async viewsOf(events: readonly RecordedEvent[]): Promise<EventView[]> {
    const views: EventView[] = []
    for (const event of events) views.push(await this.#views.view(event))
    return views
  }

  /**
   * The pieces for a client: one, or none if its filter matches no event. A large body is sent in parts. Rejects with
   * `BLOB_MISSING`.
   */
  async *pieces(asked: AskedEvents): AsyncGenerator<JsonPiece> {
    const [first] = this.events
    if (!asked.brief && !asked.cloudEvents && this.events.length === 1 && this.bytes > PAGE_BYTES) {
      if (!wanted(first!, asked.filter)) return
      const [before, after] = around(first!, formatCursor(this.end), asked.format)
      yield* this.#views.json(first!, before)
      yield after
      return
    }
    const chunk = await this.#chunk(asked)
    if (chunk.length > 0) yield chunk
  }

  #chunk(asked: AskedEvents): Promise<Uint8Array> {
    const known = this.#chunks.get(asked.key)
    if (known !== undefined) return known
    const chunk = this.#made(asked)
    this.#chunks.set(asked.key, chunk)
    return chunk
  }

  async #made(asked: AskedEvents): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    for (const event of this.events) if (wanted(event, asked.filter)) parts.push(await this.#message(event, asked))
    if (parts.length < 2) return parts[0] ?? NOTHING
    const chunk = Buffer.concat(parts)
    this.bytes += chunk.length
    return chunk
  }

  #message(event: RecordedEvent, form: EventForm): Promise<Uint8Array> {
    const key = `${event.position} ${form.format} ${form.brief} ${form.cloudEvents}`
    const known = this.#messages.get(key)
    if (known !== undefined) return known
    const message = this.#encoded(event, form)
    this.#messages.set(key, message)
    return message
  }

  async #encoded(event: RecordedEvent, { format, brief, cloudEvents }: EventForm): Promise<Uint8Array> {
    const view = brief ? await this.#views.brief(event) : await this.#views.view(event)
    const shown = cloudEvents ? cloudEventOf(event, view, this.end.logId) : view
    const [before, after] = around(event, view.cursor, format)
    const message = utf8.encode(before + JSON.stringify(shown) + after)
    this.bytes += message.length
    return message
  }
}

/** The text before and after an event's JSON on the wire. */
function around({ header }: RecordedEvent, cursor: string, format: EventForm['format']): readonly [string, string] {
  return format === 'ndjson' ? ['', '\n'] : [`id: ${cursor}\nevent: ${header.type}\ndata: `, '\n\n']
}

/** Splits a page of the log into feed pages, small enough that many fit into memory. */
export function* feedPages(
  events: readonly RecordedEvent[],
  cursor: (event: RecordedEvent) => Cursor,
  views: EventViews,
): Generator<FeedPage> {
  let page: RecordedEvent[] = []
  let bytes = 0
  const made = () => new FeedPage(page, cursor(page.at(-1)!), views)
  for (const event of events) {
    const { size } = event.header.body
    if (page.length > 0 && bytes + size > PAGE_BYTES) {
      yield made()
      page = []
      bytes = 0
    }
    page.push(event)
    bytes += size
  }
  if (page.length > 0) yield made()
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, n) => all + n, 0)
