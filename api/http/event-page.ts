import { EventViews } from '../operations/events/view.ts'
import type { Services } from '../operations/services.ts'
import { gathered } from './batched-stream.ts'
import type { Piece } from './stream-response.ts'

/** The page size in characters. The event that exceeds it is the last of the page. */
const PAGE = 4 * 1024 * 1024

interface AskedPage {
  readonly from: number
  readonly limit: number
  /** True: long texts are truncated. */
  readonly brief: boolean
}

type Needed = Pick<Services, 'log' | 'blobs'>

/**
 * Events of a stream from a revision on, as the JSON of an `AgentEventPage`, in few pieces for any number of events.
 */
export const eventPage = (s: Needed, stream: string, asked: AskedPage): AsyncGenerator<Uint8Array> =>
  gathered(eventsOf(s, stream, asked))

async function* eventsOf(s: Needed, stream: string, { from, limit, brief }: AskedPage): AsyncGenerator<Piece> {
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
      if (brief) {
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
