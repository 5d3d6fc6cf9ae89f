import type { Cursor } from '../../domain/log/cursor.ts'
import type { OnDamage } from '../../domain/log/damage.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { storedStreamName } from './codec.ts'
import type { Cursors } from './cursor.ts'
import { logUnavailable, permanent } from './errors.ts'
import { Feed, Silence } from './feed.ts'
import type { LogParts } from './log-parts.ts'
import { Backoff } from './retry.ts'
import type { Spot } from './seen-events.ts'
import { isMetadata, metadataOf, truncationOf } from './truncation.ts'

export interface Following {
  readonly after: Cursor | null
  /** Ends the read without an error. */
  readonly signal?: AbortSignal
  /** The prefix of stream names, without the namespace. */
  readonly prefix: string
  /** Ends after the last event that was in the log at the beginning. Absent: follows for ever. */
  readonly ends?: boolean
  /** Gets the damaged events before a page. The page may be empty. */
  readonly onDamage?: OnDamage | undefined
  /** Also streams of kinds that this program does not know. */
  readonly everyKind?: boolean | undefined
}

/**
 * The events after a cursor, in order, each once, in pages. The client's subscriptions never reconnect. After each end
 * and each long silence this function makes a new subscription at the last position that it returned or searched.
 * Before that it checks that the log still contains the last returned event.
 */
export async function* follow(
  place: LogParts,
  cursors: Cursors,
  { after, signal: asked, prefix, ends = false, onDamage, everyKind }: Following,
): AsyncGenerator<readonly RecordedEvent[]> {
  const { connection, namespace, limits, closed, strays } = place
  const signal = asked ? AbortSignal.any([asked, closed]) : closed
  const backoff = new Backoff()
  let last = after
  let failingSince: number | null = null
  let isAgain = false
  // Damage was found after the last returned event. The next reader must search that part again.
  let damaged = false
  const noted: OnDamage = (found) => {
    damaged = true
    onDamage?.(found)
  }
  for (;;) {
    let feed: Feed | null = null
    try {
      // Report a mismatched cursor even if the caller has already aborted.
      await cursors.check(last, asked?.aborted ? closed : signal)
      // An operator may have restored an older state of the log since the last subscription.
      if (isAgain) await cursors.checkKnown(signal)
      isAgain = true
      if (last === null) {
        // None of keepup's events precedes the first event, however many events other programs wrote before it.
        last = cursors.of(cursors.first)
        if (cursors.first.header.stream.startsWith(prefix)) yield [cursors.first]
      }
      place.known.note(last)
      const held = await connection.reader.take()
      const broken = AbortSignal.any([signal, held.gone.signal])
      try {
        const name = storedStreamName(namespace, prefix)
        feed = new Feed(held, await cursors.start(last, broken), [name, metadataOf(name)], limits)
        for (;;) {
          const raw = await feed.page(broken)
          connection.reader.worked()
          failingSince = null
          backoff.reset()
          const isNext = isNew(last)
          const events: RecordedEvent[] = []
          for (const { event } of raw) {
            if (isMetadata(event!)) {
              const truncation = await truncationOf(place, event!, broken)
              if (truncation) noted(truncation)
              continue
            }
            const own = strays.own(event!, noted, everyKind)
            if (own === null || !isNext(own)) continue
            events.push(own)
            damaged = false
          }
          const { caughtUp } = feed
          const end = events.at(-1)
          if (end) {
            last = cursors.of(end)
            place.known.note(last)
          }
          if (events.length > 0 || (damaged && onDamage)) yield events
          if (!ends || !caughtUp) continue
          if (prefix === '' && !damaged) await cursors.learn(last, feed, broken)
          return
        }
      } catch (error) {
        if (error instanceof Silence && feed && prefix === '' && !damaged) await cursors.learn(last, feed, broken)
        else if (!broken.aborted) connection.reader.failed(held, error)
        throw error
      } finally {
        feed?.close()
      }
    } catch (error) {
      closed.throwIfAborted()
      const final = permanent(error, `${namespace}.*`)
      if (final) throw final
      if (asked?.aborted) return
      if (!ends && error instanceof Silence) continue
      failingSince ??= performance.now()
      if (ends && performance.now() - failingSince > limits.patienceMs)
        throw logUnavailable('reading the log', connection.address.servers, error)
      await backoff.wait(signal).catch(() => closed.throwIfAborted())
      if (asked?.aborted) return
    }
  }
}

/** Skips events that the server delivers twice. */
const isNew = (last: Spot | null) => {
  let before = last?.position ?? -1
  return ({ position }: RecordedEvent) => {
    if (position <= before) return false
    before = position
    return true
  }
}
