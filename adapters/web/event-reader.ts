/** One server-sent event. */
export interface WireEvent {
  readonly name: string
  readonly data: string
}

/** The longest event, in characters. */
export const MAX_EVENT = 8 << 20
/** The most lines of one stream: several for each event. */
const MAX_LINES = 2_000_000

/** An event or stream is longer than {@link EventReader} accepts. */
export class EventTooLong extends Error {
  override readonly name = 'EventTooLong'
}

/** Parses server-sent events from pieces of text, in linear time. */
export class EventReader {
  private readonly parts: string[] = []
  private held = 0
  private name = ''
  private data: string[] = []
  private size = 0
  private skipFeed = false
  private lines = 0

  /** Returns the events that end in this piece. Throws {@link EventTooLong}. */
  push(text: string): WireEvent[] {
    const events: WireEvent[] = []
    let from = this.skipFeed && text.startsWith('\n') ? 1 : 0
    if (text !== '') this.skipFeed = false
    const ends = /\r\n|\n|\r/g
    ends.lastIndex = from
    for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
      if (++this.lines > MAX_LINES) throw new EventTooLong(`the server sent more than ${MAX_LINES} lines in one answer`)
      const event = this.line(this.whole(text.slice(from, end.index)))
      if (event !== null) events.push(event)
      from = ends.lastIndex
      this.skipFeed = end[0] === '\r' && from === text.length
    }
    this.hold(text.slice(from))
    return events
  }

  private hold(part: string): void {
    if (part === '') return
    this.parts.push(part)
    this.held += part.length
    this.check()
  }

  private whole(part: string): string {
    if (this.parts.length === 0) return part
    const line = [...this.parts.splice(0), part].join('')
    this.held = 0
    return line
  }

  private line(line: string): WireEvent | null {
    if (line === '') return this.dispatch()
    if (line.startsWith('data:')) {
      const value = line.slice(line[5] === ' ' ? 6 : 5)
      this.data.push(value)
      this.size += value.length
      this.check()
    } else if (line.startsWith('event:')) this.name = line.slice(6).trim()
    return null
  }

  private dispatch(): WireEvent | null {
    const { name, data } = this
    this.name = ''
    this.data = []
    this.size = 0
    return data.length === 0 ? null : { name, data: data.join('\n') }
  }

  private check(): void {
    if (this.held + this.size > MAX_EVENT)
      throw new EventTooLong(`the server sent an event of more than ${MAX_EVENT} characters`)
  }
}
