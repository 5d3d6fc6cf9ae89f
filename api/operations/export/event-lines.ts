import { type Cursor, formatCursor } from '../../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { ERASED_FACT } from '../../../domain/log/erased.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import { EventViews } from '../events/view.ts'
import type { Services } from '../services.ts'
import { type EventRow, EXPORT_SCHEMA, eventRow } from './event-row.ts'

/** The first line of events for an export. */
export interface EventsHead {
  readonly export: 'events'
  readonly schema: number
  readonly logId: string
  /** The rows show every erasure up to this position, and end at it. */
  readonly head: number
}

/** Every other line: an event. */
export interface EventLine extends EventRow {
  readonly cursor: string
  /** The W3C trace context. */
  readonly trace?: string
  /** Of an erasure: ranges of positions that include the earlier events of its stream. Their payloads may have changed. */
  readonly touches?: readonly Range[]
}

/** The first and the last position. */
type Range = readonly [number, number]

/** The characters of lines per piece. */
const PIECE = 256 * 1024

/**
 * The events after a cursor as NDJSON for an export, up to the head at the call or to the position `last`. Yields whole
 * lines.
 */
export async function* eventLines(
  { log, blobs }: Pick<Services, 'log' | 'blobs'>,
  after: Cursor | null,
  last = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  const { position: head } = await log.headCursor()
  yield `${JSON.stringify({ export: 'events', schema: EXPORT_SCHEMA, logId: log.logId, head } satisfies EventsHead)}\n`
  const end = Math.min(head, last)
  const views = new EventViews(log, blobs)
  const earlier = new EarlierEvents(log)
  let piece = ''
  for await (const page of log.readAll(after)) {
    for (const event of page) {
      if (event.position > end) break
      const view = await views.view(event)
      // A body that was erased after it was read is erased in the view only.
      const seen = view.erased === true ? { ...event, erased: true as const } : event
      const { trace } = event.header
      const touches = event.header.type === ERASED_FACT ? await earlier.before(event) : undefined
      const line: EventLine = {
        ...eventRow(seen, view.payload),
        cursor: formatCursor(log.cursor(event)),
        ...(trace !== undefined && { trace }),
        ...(touches !== undefined && { touches }),
      }
      piece += `${JSON.stringify(line)}\n`
      if (piece.length < PIECE) continue
      yield piece
      piece = ''
    }
    if ((page.at(-1)?.position ?? 0) >= end) break
  }
  if (piece !== '') yield piece
}

/** The most ranges of an erasure. */
const RANGES = 256
/** The most streams whose ranges are kept. */
const KEPT_STREAMS = 1_000

/** Ranges with the positions of the earlier events of streams. A stream with many erasures is read once. */
class EarlierEvents {
  readonly #log: EventLog
  /** By stream: the ranges of the events before the revision `next`. The last used stream comes last. */
  readonly #kept = new Map<string, { readonly next: number; readonly ranges: readonly Range[] }>()

  constructor(log: EventLog) {
    this.#log = log
  }

  async before({ header: { stream, revision } }: RecordedEvent): Promise<readonly Range[]> {
    const { next: from, ranges: known } = this.#kept.get(stream) ?? { next: 0, ranges: [] }
    let ranges = known
    if (from < revision)
      for await (const page of this.#log.read(stream, { from, limit: revision - from, bodies: false }))
        ranges = joined([...ranges, ...page.map(({ position }): Range => [position, position])])
    this.#kept.delete(stream)
    this.#kept.set(stream, { next: revision, ranges })
    if (this.#kept.size > KEPT_STREAMS) this.#kept.delete(this.#kept.keys().next().value!)
    return ranges
  }
}

/** Joins ranges without a gap, and beyond the most ranges also those with small gaps. */
function joined(ranges: readonly Range[], gap = 1): readonly Range[] {
  const all: [number, number][] = []
  for (const [first, last] of ranges) {
    const before = all.at(-1)
    if (before !== undefined && first - before[1] <= gap) before[1] = last
    else all.push([first, last])
  }
  return all.length <= RANGES ? all : joined(all, gap * 2)
}
