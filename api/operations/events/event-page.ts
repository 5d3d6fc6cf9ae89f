import type { z } from 'zod'
import type { AgentEventsQuery } from '../history/outline-schemas.ts'
import { JsonPieces } from '../operation.ts'
import type { Services } from '../services.ts'
import { gathered } from './batched-stream.ts'
import { EventViews, type JsonPiece } from './view.ts'

/** The page size in characters. The event that exceeds it is the last of the page. */
const PAGE = 4 * 1024 * 1024

type Needed = Pick<Services, 'log' | 'blobs'>
type Asked = z.output<typeof AgentEventsQuery>

/** Events of a stream from a revision on, as the JSON of an `AgentEventPage`, in few pieces for any number of events. */
export const eventPage = (s: Needed, stream: string, asked: Asked): JsonPieces =>
  new JsonPieces(gathered(eventsOf(s, stream, asked)))

async function* eventsOf(s: Needed, stream: string, { from = 0, limit, brief }: Asked): AsyncGenerator<JsonPiece> {
  const views = new EventViews(s.log, s.blobs)
  yield '{"events":['
  let sent = 0
  let next: number | null = null
  // Read one more event to determine whether any follow.
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
      // A truncated body had to be read in full, so count a share of its size.
      sent = Math.max(sent, before + body.size / 16)
    }
    if (next !== null) break
  }
  yield `],"next":${next}}`
}
