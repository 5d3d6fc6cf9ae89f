import { signal } from '@preact/signals'
import type { EventView } from '../../operations/events/schemas.ts'
import { api, take, told } from '../client/api.ts'
import type { News } from '../client/feed-hub.ts'
import { EventCache } from './event-cache.ts'
import { Outline } from './outline.ts'

const PART = 50_000

/** An agent as the page knows it: its outline, the events that were loaded, and the text that its model writes now. */
export class AgentModel {
  readonly agentId: string
  readonly outline = new Outline()
  readonly events: EventCache
  /** Events of the outline; changes as the agent goes on. */
  readonly length = signal(0)
  readonly fault = signal('')
  readonly inherited = signal<{ agentId: string; revision: number; step: number } | null>(null)
  /** What the model has written of an answer that is not recorded yet, and its turn. */
  readonly writing = signal<{ readonly turn: number; readonly text: string } | null>(null)
  #reading: Promise<void> | null = null
  #again = false

  constructor(agentId: string) {
    this.agentId = agentId
    this.events = new EventCache((query) => take(api.v1.agents[':id'].events.$get({ param: { id: agentId }, query })))
    void this.read()
  }

  /** Reads what the outline lacks. Calls while it reads are one more reading after it. */
  read(): Promise<void> {
    this.#again = this.#reading !== null
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null
      if (this.#again) void this.read()
    })
    return this.#reading
  }

  /** What was missed, and what could not be loaded, while there was no connection. */
  catchUp(): void {
    void this.read()
    this.events.again()
  }

  /** Takes an event that was just appended. A gap before it is read. */
  hear(event: EventView): void {
    if (event.stream !== `agent-${this.agentId}` && event.stream !== `external-${this.agentId}`) return
    const { revision, type, turn, timestamp, toolCallId = '' } = event
    if (revision < this.outline.length) return
    if (revision > this.outline.length) return void this.read()
    this.events.put(event)
    const call = Number(/\.c(\d+)$/.exec(toolCallId)?.[1] ?? -1)
    const columns = { types: [0], turns: [turn], times: [Date.parse(timestamp)], calls: [call], sizes: [0] }
    this.outline.add({ from: revision, inherited: null, names: [type], ...columns })
    this.length.value = this.outline.length
    if (type === 'model_call_end' || type === 'error' || type === 'model_call_start') this.writing.value = null
  }

  hearNews({ kind, agentId, turn = 0, text = '' }: News): void {
    if (kind !== 'text' || agentId !== this.agentId) return
    const before = this.writing.value
    this.writing.value = { turn, text: (before?.turn === turn ? before.text : '') + text }
  }

  async #readAll(): Promise<void> {
    try {
      for (;;) {
        const from = this.outline.length
        const query = { from: String(from), limit: String(PART) }
        const part = await take(api.v1.agents[':id'].outline.$get({ param: { id: this.agentId }, query }))
        this.outline.add(part)
        this.inherited.value = part.inherited
        this.length.value = this.outline.length
        this.fault.value = ''
        if (this.outline.length >= part.length) return
      }
    } catch (error) {
      this.fault.value = told(error)
    }
  }
}
