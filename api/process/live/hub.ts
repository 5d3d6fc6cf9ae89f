import type { LiveFeed } from '../../../domain/ports/index.ts'
import type { RunNews } from '../../operations/runs/run-news.ts'

const MAX_WAITING = 2000

/**
 * The ephemeral half of RuntimeEventBus. Recorded events come from the log's subscriptions. Passes news to the
 * listeners of a run. A slow listener loses text but never the end of a drive, so its queue is bounded.
 */
export class LiveHub implements LiveFeed {
  readonly #listeners = new Map<string, Set<Listener>>()

  publish(news: RunNews | Parameters<LiveFeed['publish']>[0]): void {
    for (const listener of this.#listeners.get(news.runId) ?? []) listener.push(news)
  }

  /** News of a run from the call on, until the signal aborts. Listening begins at the call, not at the first read. */
  listen(runId: string, signal: AbortSignal): AsyncIterableIterator<RunNews> {
    const listener = new Listener(runId)
    const of = this.#listeners.get(runId) ?? new Set()
    this.#listeners.set(runId, of.add(listener))
    const leave = () => {
      of.delete(listener)
      if (of.size === 0 && this.#listeners.get(runId) === of) this.#listeners.delete(runId)
      listener.end()
    }
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    return listener
  }
}

class Listener implements AsyncIterableIterator<RunNews> {
  readonly #runId: string
  readonly #waiting: RunNews[] = []
  #dropped = 0
  #ended = false
  #wake: (() => void) | null = null

  constructor(runId: string) {
    this.#runId = runId
  }

  push(news: RunNews): void {
    if (this.#ended) return
    if (this.#waiting.length >= MAX_WAITING && news.kind !== 'drive') this.#dropped++
    else this.#waiting.push(news)
    this.#wake?.()
  }

  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  async next(): Promise<IteratorResult<RunNews>> {
    for (;;) {
      const news = this.#waiting.shift()
      if (news) return { done: false, value: news }
      if (this.#dropped > 0) {
        const pieces = this.#dropped
        this.#dropped = 0
        return { done: false, value: { kind: 'dropped', runId: this.#runId, pieces } }
      }
      if (this.#ended) return { done: true, value: undefined }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = null
    }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
