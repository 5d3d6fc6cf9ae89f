import type { Cursor } from '../../../domain/log/cursor.ts'
import { type FeedPage, feedPages } from './feed-page.ts'
import { SharedTail, type TailParts } from './shared-tail.ts'
import { EventViews } from './view.ts'

/**
 * The log for all clients that follow it. New events are shared: one subscription, encoded once. Each client reads past
 * events separately, page by page, as well as events that it missed because it is slow. So a slow client delays no
 * other client and costs no memory.
 */
export class EventFeed {
  readonly #parts: TailParts
  #tail: SharedTail | null = null

  constructor(parts: TailParts) {
    this.#parts = parts
  }

  /** The events after a cursor up to the present head. Rejects like the log's `readAll`. */
  async *read(after: Cursor | null): AsyncGenerator<FeedPage> {
    const { log, blobs } = this.#parts
    const views = new EventViews(log, blobs)
    for await (const events of log.readAll(after)) yield* feedPages(events, (event) => log.cursor(event), views)
  }

  /**
   * Like {@link read}, then follows new events until the signal aborts. Never skips or repeats an event. Rejects if the
   * log fails.
   */
  async *follow(after: Cursor | null, signal: AbortSignal): AsyncGenerator<FeedPage> {
    const watcher = { wake: () => {} }
    const wake = () => watcher.wake()
    signal.addEventListener('abort', wake)
    let at = after
    let tail: SharedTail | null = null
    try {
      while (!signal.aborted) {
        const page: FeedPage | null | 'missed' = tail === null ? 'missed' : tail.next(at?.position ?? 0)
        if (page === 'missed') {
          for await (const missed of this.read(at)) {
            if (signal.aborted) return
            yield missed
            at = missed.end
          }
          tail ??= this.#join(watcher, at)
        } else if (page !== null) {
          yield page
          at = page.end
        } else
          await new Promise<void>((resolve) => {
            watcher.wake = resolve
          })
      }
    } finally {
      signal.removeEventListener('abort', wake)
      tail?.leave(watcher)
    }
  }

  #join(watcher: { wake(): void }, at: Cursor | null): SharedTail {
    const tail = this.#tail === null || this.#tail.over ? new SharedTail(this.#parts, at) : this.#tail
    this.#tail = tail
    tail.join(watcher)
    return tail
  }
}
