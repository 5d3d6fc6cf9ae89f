/** The events of one stream of server-sent events: their number, and whether their order is that of another reader. */
export class Watcher {
  count = 0
  #rest = ''
  #last = 0
  /** A sum of the positions in their order: two readers with the same events in the same order have the same sum. */
  #sum = 0
  #outOfOrder = 0

  /** A piece of the stream. */
  add(text: string): void {
    const events = (this.#rest + text).split('\n\n')
    this.#rest = events.pop()!
    for (const event of events) {
      // Heartbeats have no data.
      if (!event.includes('\ndata: ')) continue
      const position = Number(/^id: [^~]+~(\d+)~/m.exec(event)?.[1])
      this.count += 1
      if (!(position > this.#last)) this.#outOfOrder += 1
      this.#last = position
      this.#sum = (Math.imul(this.#sum, 31) + position) | 0
    }
  }

  /** Equal for readers that saw the same events in the same order. */
  get text(): string {
    return `${this.count} events, ${this.#outOfOrder} out of order, last ${this.#last}, sum ${this.#sum >>> 0}`
  }
}
