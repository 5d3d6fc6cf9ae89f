import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import type { EventLog } from '../../../domain/ports/index.ts'

const PAGE = 256

/** The events of a stream from `at` of its current page on. */
interface Source {
  readonly pages: AsyncIterator<readonly RecordedEvent[]>
  page: readonly RecordedEvent[]
  at: number
}

const position = ({ page, at }: Source): number => page[at]!.position

/** Whether the stream has another event. Reads its next page if necessary. */
async function hasMore(source: Source): Promise<boolean> {
  while (source.at === source.page.length) {
    const { value, done } = await source.pages.next()
    if (done) return false
    source.page = value
    source.at = 0
  }
  return true
}

/** The events of some streams in the order of the log, in pages. */
export async function* mergedStreams(
  log: EventLog,
  names: readonly string[],
  bodies: boolean,
): AsyncGenerator<readonly RecordedEvent[]> {
  // The stream with the earliest next event comes last.
  const open: Source[] = []
  for (const name of names) {
    const source = { pages: log.read(name, { bodies })[Symbol.asyncIterator](), page: [], at: 0 }
    if (await hasMore(source)) open.push(source)
  }
  open.sort((a, b) => position(b) - position(a))
  let page: RecordedEvent[] = []
  for (let first = open.pop(); first !== undefined; first = open.pop()) {
    const next = open.length === 0 ? Number.POSITIVE_INFINITY : position(open.at(-1)!)
    let isOpen = true
    while (isOpen && position(first) < next) {
      page.push(first.page[first.at]!)
      first.at += 1
      if (page.length === PAGE) {
        yield page
        page = []
      }
      isOpen = first.at < first.page.length || (await hasMore(first))
    }
    if (isOpen) open.splice(placeFor(open, position(first)), 0, first)
  }
  yield page
}

/** The place of a stream whose next event has this position, by binary search. */
function placeFor(open: readonly Source[], at: number): number {
  let [from, to] = [0, open.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (position(open[middle]!) > at) from = middle + 1
    else to = middle
  }
  return from
}
