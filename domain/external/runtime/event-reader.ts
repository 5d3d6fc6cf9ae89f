import type { AgentEventBody, ExternalAgentEvent } from '../agent-event.ts'

/** The source of a run's events. */
export interface EventSource {
  readonly agentKind: string
  /** Not null: nothing more will be recorded. `failure`: the error if the log failed. */
  readonly ended: { readonly failure: Error | null } | null
  read(from: number): Promise<readonly AgentEventBody[]>
  /** Resolves when more was recorded, or a reader returned. */
  changed(): Promise<void>
  wake(): void
  /** Registers a reader. The run's completion waits for all registered readers. */
  hold(reader: EventReader): void
  release(reader: EventReader): void
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** One consumer's position in the events. Delays the completion from its first request until its end or `return()`. */
export class EventReader implements AsyncIterator<ExternalAgentEvent, undefined> {
  readonly #source: EventSource
  #read = 0
  #buffer: readonly AgentEventBody[] = []
  #at = 0
  #begun = false
  #returned = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(source: EventSource) {
    this.#source = source
  }

  next(): Promise<IteratorResult<ExternalAgentEvent, undefined>> {
    if (!this.#begun && !this.#returned) this.#source.hold(this)
    this.#begun = true
    const result = this.#last.then(() => this.#pull())
    this.#last = result.catch(() => undefined)
    // The consumer sees the end before the completion settles.
    const over = () => setImmediate(() => this.#source.release(this))
    result.then(({ done }) => done && over(), over)
    return result
  }

  return(): Promise<IteratorResult<ExternalAgentEvent, undefined>> {
    this.#returned = true
    this.#buffer = []
    this.#source.release(this)
    this.#source.wake()
    return Promise.resolve(DONE)
  }

  async #pull(): Promise<IteratorResult<ExternalAgentEvent, undefined>> {
    while (!this.#returned) {
      const event = this.#buffer[this.#at++]
      if (event !== undefined) return { done: false, value: { agentKind: this.#source.agentKind, ...event } }
      // Get the promise before reading, so events recorded during the read are not missed.
      const [changed, ended] = [this.#source.changed(), this.#source.ended]
      const buffer = await this.#source.read(this.#read)
      if (this.#returned) break
      this.#buffer = buffer
      this.#read += buffer.length
      this.#at = 0
      if (buffer.length > 0) continue
      if (ended?.failure) throw ended.failure
      if (ended !== null) break
      await changed
    }
    return DONE
  }
}
