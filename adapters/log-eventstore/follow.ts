import type { Position } from '@eventstore/db-client'
import type { Cursor } from '../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { decode } from './codec.ts'
import type { Cursors } from './cursor.ts'
import { permanent, unavailable } from './errors.ts'
import { Feed, Silence } from './feed.ts'
import { Backoff } from './patience.ts'
import type { Place } from './read.ts'

export interface Following {
  readonly after: Cursor | null
  /** Ends it without an error. */
  readonly signal?: AbortSignal
  /** Names of streams begin with one of these, with the namespace. */
  readonly prefixes: string[]
  /** Position of the last event that is wanted; it must be in a stream of the prefixes. Absent: go on for ever. */
  readonly until?: number
}

/**
 * The events after a place in the log, in order, each once, in pages. The client's subscriptions never mend themselves:
 * here each end, and each long silence, is answered by another one, from the last position that was given out or looked
 * through, after making sure that the log still holds what was given out last.
 */
export async function* follow(
  place: Place,
  cursors: Cursors,
  { after, signal: asked, prefixes, until }: Following,
): AsyncGenerator<readonly RecordedEvent[]> {
  const { connection, namespace, limits, closed } = place
  const signal = asked ? AbortSignal.any([asked, closed]) : closed
  const backoff = new Backoff()
  let last = after
  let looked: Position | null = null
  let failingSince: number | null = null
  for (;;) {
    let feed: Feed | null = null
    try {
      // A cursor that does not match is told also to who has left already.
      await cursors.check(last, asked?.aborted ? closed : signal)
      if (last && until !== undefined && last.position >= until) return
      const held = await connection.reader.take()
      const broken = AbortSignal.any([signal, held.gone.signal])
      try {
        feed = new Feed(held, looked ?? positionOf(last), prefixes, limits)
        for (;;) {
          const raw = await feed.page(broken)
          connection.reader.worked()
          const events = raw.map(({ event }) => decode(namespace, event!)).filter(isNew(last, until))
          const end = events.at(-1)
          if (!end) continue
          last = cursors.of(end)
          looked = null
          failingSince = null
          backoff.reset()
          yield events
          if (end.position === until) return
        }
      } catch (error) {
        if (!broken.aborted && !(error instanceof Silence)) connection.reader.failed(held, error)
        throw error
      } finally {
        looked = feed?.checkpoint ?? looked
        feed?.close()
      }
    } catch (error) {
      closed.throwIfAborted()
      const final = permanent(error, `${namespace}.*`)
      if (final) throw final
      if (asked?.aborted) return
      if (until === undefined && error instanceof Silence) continue
      failingSince ??= performance.now()
      if (until !== undefined && performance.now() - failingSince > limits.patienceMs)
        throw unavailable('reading the log', connection.address.servers, error)
      await backoff.wait(signal).catch(() => closed.throwIfAborted())
      if (asked?.aborted) return
    }
  }
}

const positionOf = (cursor: Cursor | null): Position | null =>
  cursor && { commit: BigInt(cursor.position), prepare: BigInt(cursor.prepare ?? cursor.position) }

/** What a server delivers a second time is not given out again. */
const isNew = (last: Cursor | null, until: number | undefined) => {
  let before = last?.position ?? -1
  return ({ position }: RecordedEvent) => {
    if (position <= before || (until !== undefined && position > until)) return false
    before = position
    return true
  }
}
