import { history } from '../../stream/runtime/history.ts'
import type { Stores } from '../../stream/runtime/ports.ts'
import type { AgentEventBody } from '../agent-event.ts'
import { external } from '../aggregate.ts'
import type { ExternalEvent } from '../events.ts'

/** The number of stored events per read. Each is a batch of at most 64 KiB. */
const READ = 16

/** Finds agent events in a stream by their index in the run. Keeps two numbers per batch and no events. */
export class AgentEventIndex {
  readonly #stores: Stores
  readonly #stream: string
  /** For each known batch: the index of its first agent event, and its revision. */
  readonly #batches: { readonly first: number; readonly revision: number }[] = []
  /** The revision after the last one read. */
  #next = 0

  constructor(stores: Stores, stream: string) {
    this.#stores = stores
    this.#stream = stream
  }

  /** Agent events from an index on, not necessarily all. Empty: no more are recorded yet. */
  async read(from: number): Promise<readonly AgentEventBody[]> {
    for (let at = this.#revisionOf(from); ; ) {
      const found: AgentEventBody[] = []
      let read = 0
      for await (const page of history<ExternalEvent>(this.#stores, external, this.#stream, {
        from: at,
        to: at + READ - 1,
      })) {
        for (const { event } of page) {
          read++
          found.push(...this.#after(event, from))
        }
      }
      if (found.length > 0 || read < READ) return found
      at += read
    }
  }

  #after(event: ExternalEvent, from: number): readonly AgentEventBody[] {
    const isNew = event.revision >= this.#next
    if (isNew) this.#next = event.revision + 1
    if (event.type !== 'agent_events') return []
    const { first, events } = event.body
    if (isNew) this.#batches.push({ first, revision: event.revision })
    return first + events.length <= from ? [] : (events.slice(Math.max(0, from - first)) as AgentEventBody[])
  }

  /** The revision where a search for an agent event starts: the last known batch that starts at or before the event. */
  #revisionOf(from: number): number {
    let [low, high] = [0, this.#batches.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#batches[middle]!.first <= from) low = middle + 1
      else high = middle
    }
    return low === 0 ? 0 : this.#batches[low - 1]!.revision
  }
}
