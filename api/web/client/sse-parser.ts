/** A server-sent event. */
export interface Message {
  readonly id: string | null
  readonly event: string
  readonly data: string | null
}

/** Parses server-sent events from chunks cut at any place. Skips comments. */
export class SseParser {
  #held = ''
  #id: string | null = null
  #event = 'message'
  #data: string[] = []

  /** Returns the messages that this chunk completes. */
  push(text: string): Message[] {
    const lines = (this.#held + text).split('\n')
    this.#held = lines.pop() ?? ''
    return lines.flatMap((line) => this.#line(line.replace(/\r$/, '')) ?? [])
  }

  #line(line: string): Message | null {
    if (line === '') {
      const message = { id: this.#id, event: this.#event, data: this.#data.length > 0 ? this.#data.join('\n') : null }
      const empty = message.id === null && message.data === null
      this.#id = null
      this.#event = 'message'
      this.#data = []
      return empty ? null : message
    }
    const colon = line.indexOf(':')
    const [field, value] = [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
    if (field === 'id') this.#id = value
    else if (field === 'event') this.#event = value
    else if (field === 'data') this.#data.push(value)
    return null
  }
}
