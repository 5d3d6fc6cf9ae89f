import { byteLength } from '../calls/bounded.ts'
import type { AgentEventBody } from './agent-event.ts'

/** A batch of agent events is one stored event; it is full at the first of these. */
export const BATCH = { events: 256, bytes: 64 * 1024, ms: 50 } as const

/** Gathers agent events into batches. Times are ms of any one clock. An event that is larger than a batch stands alone. */
export class Batcher {
  #events: AgentEventBody[] = []
  #bytes = 0
  #openedAt = 0

  /** When the open batch must be taken at the latest; null: there is none. */
  get dueAt(): number | null {
    return this.#events.length === 0 ? null : this.#openedAt + BATCH.ms
  }

  /** Adds an event. Returns the batches that are full by now, in order. */
  add(event: AgentEventBody, now: number): AgentEventBody[][] {
    const bytes = byteLength(JSON.stringify(event))
    const full: AgentEventBody[][] = []
    const overflows = this.#events.length > 0 && this.#bytes + bytes > BATCH.bytes
    const late = this.dueAt !== null && now >= this.dueAt
    if (overflows || late) full.push(this.take())
    if (this.#events.length === 0) this.#openedAt = now
    this.#events.push(event)
    this.#bytes += bytes
    if (this.#events.length >= BATCH.events || this.#bytes >= BATCH.bytes) full.push(this.take())
    return full
  }

  /** Takes the open batch, which may be empty. */
  take(): AgentEventBody[] {
    const taken = this.#events
    this.#events = []
    this.#bytes = 0
    return taken
  }
}
