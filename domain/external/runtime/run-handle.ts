import type { Actor } from '../../log/envelope.ts'
import type { AgentCompletion, AgentRunHandle } from '../../ports/external.ts'
import type { AgentEventBody, ExternalAgentEvent } from '../agent-event.ts'
import { AgentError } from '../errors.ts'
import { EventReader, type EventSource } from './event-reader.ts'

/**
 * The consumer side of a run: readers of its events, and a completion. The completion settles once, after the run has
 * ended and the last reader has left.
 */
export abstract class RunHandle implements AgentRunHandle, EventSource {
  abstract readonly agentId: string
  abstract readonly runId: string
  abstract readonly sessionId: string | null
  abstract readonly agentKind: string
  readonly events: AsyncIterable<ExternalAgentEvent> = { [Symbol.asyncIterator]: () => new EventReader(this) }
  readonly completion: Promise<AgentCompletion>
  readonly #settle = Promise.withResolvers<AgentCompletion>()
  readonly #readers = new Set<EventReader>()
  #end: { readonly failure: Error | null; readonly result: AgentCompletion | AgentError } | null = null
  #settled = false
  #change = Promise.withResolvers<void>()

  constructor() {
    this.completion = this.#settle.promise
    // An unawaited completion must not crash the process with an unhandled rejection.
    this.completion.catch(() => undefined)
  }

  abstract cancel(reason?: string, by?: Actor): void
  abstract read(from: number): Promise<readonly AgentEventBody[]>

  get ended(): EventSource['ended'] {
    return this.#end
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cancel()
    for (const reader of [...this.#readers]) await reader.return()
    await this.completion.catch(() => undefined)
  }

  changed(): Promise<void> {
    return this.#change.promise
  }

  wake(): void {
    const { resolve } = this.#change
    this.#change = Promise.withResolvers<void>()
    resolve()
  }

  hold(reader: EventReader): void {
    this.#readers.add(reader)
  }

  release(reader: EventReader): void {
    this.#readers.delete(reader)
    this.#trySettle()
  }

  protected get settled(): boolean {
    return this.#settled
  }

  /**
   * Call when nothing more will be recorded. `failure`: readers of the events get this error, because the log failed.
   */
  protected end(result: AgentCompletion | AgentError, failure: Error | null): void {
    this.#end = { failure, result }
    this.wake()
    this.#trySettle()
  }

  #trySettle(): void {
    if (this.#settled || this.#end === null || this.#readers.size > 0) return
    this.#settled = true
    const { result } = this.#end
    if (result instanceof AgentError) this.#settle.reject(result)
    else this.#settle.resolve(result)
  }
}
