import { EventViews } from '../operations/events/view.ts'
import type { Services } from '../operations/services.ts'
import { gathered } from './batched-stream.ts'
import type { Piece } from './stream-response.ts'

/** A page ends with the event that brings it over so many characters. */
const PAGE = 4 * 1024 * 1024

interface AskedPage {
  readonly from: number
  readonly limit: number
  /** Long texts are cut. */
  readonly brief: boolean
}

type Needed = Pick<Services, 'log' | 'blobs'>

/** Events of a stream from a revision on, as the JSON of an `AgentEventPage`: in few pieces, however many events there are. */
export const eventPage = (s: Needed, stream: string, asked: AskedPage): AsyncGenerator<Uint8Array> =>
  gathered(eventsOf(s, stream, asked))

async function* eventsOf(s: Needed, stream: string, { from, limit, brief }: AskedPage): AsyncGenerator<Piece> {
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
      if (brief) {
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
