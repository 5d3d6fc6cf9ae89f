import type { Cursor } from '../../domain/log/cursor.ts'
import type { OnDamage } from '../../domain/log/damage.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { nameOf } from './codec.ts'
import type { Cursors } from './cursor.ts'
import { permanent, unavailable } from './errors.ts'
import { Feed, Silence } from './feed.ts'
import { Backoff } from './patience.ts'
import type { Place } from './place.ts'
import type { Spot } from './seen-events.ts'
import { isMetadata, metadataOf, truncationOf } from './truncation.ts'

export interface Following {
  readonly after: Cursor | null
  /** Ends it without an error. */
  readonly signal?: AbortSignal
  /** Names of streams begin with this, without the namespace. */
  readonly prefix: string
  /** It ends once all was given out that was in the log when it began; absent: it goes on for ever. */
  readonly ends?: boolean
  /** Receives damaged events, then a page, which may be empty. */
  readonly onDamage?: OnDamage | undefined
}

/**
 * The events after a place in the log, in order, each once, in pages. The client's subscriptions never mend themselves:
 * here each end, and each long silence, is answered by another one, from the last position that was given out or looked
 * through, after making sure that the log still holds what was given out last.
 */
export async function* follow(
  place: Place,
  cursors: Cursors,
  { after, signal: asked, prefix, ends = false, onDamage }: Following,
): AsyncGenerator<readonly RecordedEvent[]> {
  const { connection, namespace, limits, closed, strays } = place
  const signal = asked ? AbortSignal.any([asked, closed]) : closed
  const backoff = new Backoff()
  let last = after
  let failingSince: number | null = null
  let isAgain = false
  // After the event that was given out last. What was looked through there must be looked through again by the next reader.
  let damaged = false
  const noted: OnDamage = (found) => {
    damaged = true
    onDamage?.(found)
  }
  for (;;) {
    let feed: Feed | null = null
    try {
      // A cursor that does not match is told also to who has left already.
      await cursors.check(last, asked?.aborted ? closed : signal)
      // Since the last subscription an operator may have put back an older state of the log.
      if (isAgain) await cursors.checkKnown(signal)
      isAgain = true
      if (last === null) {
        // Nothing of ours comes before it, however much others wrote by then.
        last = cursors.of(cursors.first)
        if (cursors.first.header.stream.startsWith(prefix)) yield [cursors.first]
      }
      place.known.note(last)
      const held = await connection.reader.take()
      const broken = AbortSignal.any([signal, held.gone.signal])
      try {
        const name = nameOf(namespace, prefix)
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
            const own = strays.own(event!, noted)
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
        throw unavailable('reading the log', connection.address.servers, error)
      await backoff.wait(signal).catch(() => closed.throwIfAborted())
      if (asked?.aborted) return
    }
  }
}

/** Skips events that the server delivers a second time. */
const isNew = (last: Spot | null) => {
  let before = last?.position ?? -1
  return ({ position }: RecordedEvent) => {
    if (position <= before) return false
    before = position
    return true
  }
}
