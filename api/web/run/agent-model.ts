import { signal } from '@preact/signals'
import { isFailure } from '../../cli/output/event-words.ts'
import { take } from '../../http/answers.ts'
import type { EventView } from '../../operations/events/schemas.ts'
import { api, errorText } from '../client/api.ts'
import type { News } from '../client/feed-hub.ts'
import { EventCache, type ReadEvents } from './event-cache.ts'
import { Outline } from './outline.ts'

const PART = 50_000
/** The most characters of a running call's output. Its end will contain the whole. */
const MOST_OUTPUT = 20_000

/** An agent on the page: its outline, the loaded events, and the text that its model is generating. */
export class AgentModel {
  readonly agentId: string
  readonly outline = new Outline()
  readonly events: EventCache
  /** The number of events in the outline. */
  readonly length = signal(0)
  readonly fault = signal('')
  readonly inherited = signal<{ agentId: string; revision: number; step: number } | null>(null)
  /** The text of an unrecorded model answer, and its turn. */
  readonly writing = signal<{ readonly turn: number; readonly text: string } | null>(null)
  /** The last output of running calls, by call id. */
  readonly outputs = signal<ReadonlyMap<string, string>>(new Map())
  #reading: Promise<void> | null = null
  #again = false

  constructor(agentId: string) {
    this.agentId = agentId
    this.events = new EventCache(
      (query) => take(api.v1.agents[':id'].events.$get({ param: { id: agentId }, query })) as ReturnType<ReadEvents>,
    )
    void this.read()
  }

  /** Reads the missing part of the outline. Calls during a read cause one more read after it. */
  read(): Promise<void> {
    this.#again = this.#reading !== null
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null
      if (this.#again) void this.read()
    })
    return this.#reading
  }

  /** Reads the events missed during a lost connection, and retries failed reads. */
  catchUp(): void {
    void this.read()
    this.events.again()
  }

  /** Adds an event that has just been appended. If events are missing before it, reads them. */
  hear(event: EventView): void {
    if (event.stream !== `agent-${this.agentId}` && event.stream !== `external-${this.agentId}`) return
    const { revision, type, turn, timestamp, toolCallId = '' } = event
    if (revision < this.outline.length) return
    if (revision > this.outline.length) return void this.read()
    this.events.put(event)
    const call = Number(/\.c(\d+)$/.exec(toolCallId)?.[1] ?? -1)
    const columns = { types: [0], turns: [turn], times: [Date.parse(timestamp)], calls: [call], sizes: [0] }
    const failed = event.type === 'tool_call_end' && event.payload && isFailure(event.payload) ? [revision] : []
    this.outline.add({ from: revision, inherited: null, names: [type], ...columns, failed })
    this.length.value = this.outline.length
    if (type === 'model_call_end' || type === 'error' || type === 'model_call_start') this.writing.value = null
    if (type === 'tool_call_end' && this.outputs.value.has(toolCallId))
      this.outputs.value = new Map([...this.outputs.value].filter(([id]) => id !== toolCallId))
  }

  hearNews({ kind, agentId, turn = 0, toolCallId, soFar, text = '' }: News): void {
    if (agentId !== this.agentId) return
    if (kind === 'output' && toolCallId !== undefined) {
      const output = (soFar ? '' : (this.outputs.value.get(toolCallId) ?? '')) + text
      this.outputs.value = new Map([...this.outputs.value, [toolCallId, output.slice(-MOST_OUTPUT)]])
    }
    if (kind !== 'text') return
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
      this.fault.value = errorText(error)
    }
  }
}
