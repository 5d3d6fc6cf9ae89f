import { byteLength } from '../calls/truncate.ts'
import type { AgentEventBody } from './agent-event.ts'

/** One stored event contains one batch of agent events. A batch is full when it reaches the first of these limits. */
export const BATCH = { events: 256, bytes: 64 * 1024, ms: 50 } as const

/**
 * Collects agent events into batches. Times are in ms on any single clock. An event larger than a batch gets its own
 * batch.
 */
export class Batcher {
  #events: AgentEventBody[] = []
  #bytes = 0
  #openedAt = 0

  /** The deadline for taking the open batch; null: no batch is open. */
  get dueAt(): number | null {
    return this.#events.length === 0 ? null : this.#openedAt + BATCH.ms
  }

  /** Adds an event. Returns the batches that became full, in order. */
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

  /** Closes and returns the open batch, which may be empty. */
  take(): AgentEventBody[] {
    const taken = this.#events
    this.#events = []
    this.#bytes = 0
    return taken
  }
}
