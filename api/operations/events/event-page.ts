import type { z } from 'zod'
import type { AgentEventsQuery } from '../history/outline-schemas.ts'
import { JsonPieces } from '../operation.ts'
import type { Services } from '../services.ts'
import { gathered } from './batched-stream.ts'
import { EventViews, type Piece } from './view.ts'

/** A page ends with the event that brings it over so many characters. */
const PAGE = 4 * 1024 * 1024

type Needed = Pick<Services, 'log' | 'blobs'>
type Asked = z.output<typeof AgentEventsQuery>

/** Events of a stream from a revision on, as an `AgentEventPage`: in few pieces, however many events there are. */
export const eventPage = (s: Needed, stream: string, asked: Asked): JsonPieces =>
  new JsonPieces(gathered(eventsOf(s, stream, asked)))

async function* eventsOf(s: Needed, stream: string, { from = 0, limit, brief }: Asked): AsyncGenerator<Piece> {
  const views = new EventViews(s.log, s.blobs)
  yield '{"events":['
  let sent = 0
  let next: number | null = null
  // One more, to tell whether any follows.
  for await (const page of s.log.read(stream, { from, limit: limit + 1 })) {
    for (const event of page) {
      const { revision, body } = event.header
      if (sent > PAGE || revision >= from + limit) {
        next = revision
        break
      }
      if (revision > from) yield ','
      const before = sent
      if (brief === 'true') {
        const text = JSON.stringify(await views.brief(event))
        sent += text.length
        yield text
      } else
        for await (const piece of views.json(event)) {
          sent += piece.length
          yield piece
        }
      // The part that is cut had to be read all the same.
      sent = Math.max(sent, before + body.size / 16)
    }
    if (next !== null) break
  }
  yield `],"next":${next}}`
}
