import { createParser } from 'eventsource-parser'

/** One server-sent event. `data` is null for an event that only moves the reader's position. */
export interface ServerEvent {
  readonly id: string | null
  readonly name: string
  readonly data: string | null
}

export interface SseBounds {
  /** The longest event, in characters. */
  readonly event: number
  /** The most lines of one stream. */
  readonly lines: number
}

/** The bounds for a stream of a foreign server. An event has several lines. */
export const FOREIGN: SseBounds = { event: 8 << 20, lines: 2_000_000 }
const UNBOUNDED: SseBounds = { event: Number.POSITIVE_INFINITY, lines: Number.POSITIVE_INFINITY }

/** An event or stream is longer than an {@link SseReader} accepts. */
export class EventTooLong extends Error {
  override readonly name = 'EventTooLong'
}

/** Parses server-sent events from pieces of a body, in linear time. Runs in Node and in browsers. */
export class SseReader {
  readonly #bounds: SseBounds
  readonly #utf8 = new TextDecoder()
  readonly #parser
  #events: ServerEvent[] = []
  #lines = 0

  constructor(bounds = UNBOUNDED) {
    this.#bounds = bounds
    this.#parser = createParser({
      maxBufferSize: bounds.event,
      onId: (id) => this.#events.push({ id, name: '', data: null }),
      onEvent: ({ id = null, event: name = '', data }) => {
        this.#checkSize(data.length)
        // The parser reports the id of an event also before the event.
        if (id !== null) this.#events.pop()
        this.#events.push({ id, name, data })
      },
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') this.#checkSize(Number.POSITIVE_INFINITY)
      },
    })
  }

  /** Returns the events that end in this piece. Throws {@link EventTooLong}. */
  push(piece: Uint8Array): ServerEvent[] {
    const text = this.#utf8.decode(piece, { stream: true })
    this.#lines += text.match(/\r\n?|\n/g)?.length ?? 0
    if (this.#lines > this.#bounds.lines)
      throw new EventTooLong(`the server sent more than ${this.#bounds.lines} lines in one answer`)
    this.#events = []
    this.#parser.feed(text)
    return this.#events
  }

  #checkSize(size: number): void {
    if (size > this.#bounds.event)
      throw new EventTooLong(`the server sent an event of more than ${this.#bounds.event} characters`)
  }
}
