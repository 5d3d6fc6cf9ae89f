import type { Store, Stored } from './store.ts'

interface GroupSettings {
  readonly maxRetryCount: number
  readonly messageTimeoutMs: number
  /**
   * The number of settled events between two checkpoints. After a restart, events since the last checkpoint are sent
   * again.
   */
  readonly checkpointCount: number
}

/** A consumer of a group. */
export interface Consumer {
  /** The maximum number of unsettled events. */
  readonly room: number
  send(event: Stored, retries: number): void
}

interface Delivery {
  readonly event: Stored
  readonly retries: number
  readonly consumer: Consumer
  readonly timer: NodeJS.Timeout
}

/** A persistent subscription: sends events to its consumers in turn, until each is settled or parked. */
export class Group {
  readonly #store: Store
  readonly #matches: (event: Stored) => boolean
  readonly #name: string
  readonly #consumers: Consumer[] = []
  readonly #delivered = new Map<string, Delivery>()
  #again: { event: Stored; retries: number }[] = []
  #parked: Stored[] = []
  #next: number
  #settled = 0
  #checkpoint: number
  settings: GroupSettings

  /** `source`: a stream or `$all`. `from`: index in the log. */
  constructor(
    store: Store,
    source: string,
    group: string,
    from: number,
    matches: (event: Stored) => boolean,
    settings: GroupSettings,
  ) {
    this.#store = store
    this.#name = `$persistentsubscription-${source}::${group}`
    this.#next = from
    this.#checkpoint = from
    this.#matches = matches
    this.settings = settings
    store.news.on('news', this.#pump)
  }

  get state() {
    return { consumers: this.#consumers.length, inFlight: this.#delivered.size, parked: this.#parked.length }
  }

  join(consumer: Consumer): void {
    this.#consumers.push(consumer)
    this.#pump()
  }

  /** Sends a consumer's unacknowledged events to the others. */
  leave(consumer: Consumer): void {
    this.#consumers.splice(this.#consumers.indexOf(consumer), 1)
    for (const [id, delivery] of this.#delivered) if (delivery.consumer === consumer) this.#retry(id)
  }

  ack(ids: readonly string[]): void {
    for (const id of ids) this.#settle(id)
    this.#pump()
  }

  nack(ids: readonly string[], action: 'park' | 'retry' | 'skip' | 'stop' | 'unknown', reason: string): void {
    for (const id of ids) {
      if (action === 'retry') this.#retry(id)
      else if (action === 'skip') this.#settle(id)
      else if (action === 'park') this.#park(id, reason)
    }
    this.#pump()
  }

  replayParked(): void {
    this.#again.push(...this.#parked.map((event) => ({ event, retries: 0 })))
    this.#parked = []
    this.#pump()
  }

  /** After a restart of the server, all events since the last checkpoint are sent again. */
  restarted(): void {
    for (const { timer } of this.#delivered.values()) clearTimeout(timer)
    this.#delivered.clear()
    this.#again = []
    this.#next = this.#checkpoint
  }

  end(): void {
    this.#store.news.off('news', this.#pump)
    for (const { timer } of this.#delivered.values()) clearTimeout(timer)
  }

  #settle(id: string): void {
    const delivery = this.#delivered.get(id)
    if (!delivery) return
    clearTimeout(delivery.timer)
    this.#delivered.delete(id)
    if (++this.#settled % this.settings.checkpointCount === 0 && this.#delivered.size + this.#again.length === 0)
      this.#checkpoint = this.#next
  }

  #retry(id: string): void {
    const delivery = this.#delivered.get(id)
    if (!delivery) return
    if (delivery.retries >= this.settings.maxRetryCount) return this.#park(id, 'maximum retries reached')
    clearTimeout(delivery.timer)
    this.#delivered.delete(id)
    this.#again.push({ event: delivery.event, retries: delivery.retries + 1 })
    this.#pump()
  }

  #park(id: string, reason: string): void {
    const delivery = this.#delivered.get(id)
    if (!delivery) return
    this.#parked.push(delivery.event)
    const utf8 = new TextEncoder()
    this.#store.append(`${this.#name}-parked`, 'any', [
      {
        id: crypto.randomUUID(),
        type: '$>',
        contentType: 'application/octet-stream',
        data: utf8.encode(`${delivery.event.revision}@${delivery.event.stream}`),
        metadata: utf8.encode(JSON.stringify({ reason })),
      },
    ])
    this.#settle(id)
  }

  readonly #pump = (): void => {
    for (;;) {
      const consumer = this.#consumers.find((one) => this.#held(one) < one.room)
      if (!consumer) return
      const next = this.#again.shift() ?? this.#fresh()
      if (!next) return
      // Round-robin.
      this.#consumers.push(...this.#consumers.splice(this.#consumers.indexOf(consumer), 1))
      const { id } = next.event
      const timer = setTimeout(() => this.#retry(id), this.settings.messageTimeoutMs)
      this.#delivered.set(id, { ...next, consumer, timer })
      consumer.send(next.event, next.retries)
    }
  }

  #held(consumer: Consumer): number {
    return [...this.#delivered.values()].filter((delivery) => delivery.consumer === consumer).length
  }

  #fresh(): { event: Stored; retries: number } | null {
    while (this.#next < this.#store.all.length) {
      const event = this.#store.all[this.#next++]!
      if (this.#matches(event)) return { event, retries: 0 }
    }
    return null
  }
}
