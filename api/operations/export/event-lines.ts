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
  let piece = ''
  for await (const page of log.readAll(after)) {
    for (const event of page) {
      if (event.position > end) break
      const view = await views.view(event)
      // A body that was erased after it was read is erased in the view only.
      const seen = view.erased === true ? { ...event, erased: true as const } : event
      const { trace } = event.header
      const touches = event.header.type === ERASED_FACT ? await rangesBefore(log, event) : undefined
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

/** Ranges with the positions of the earlier events of a stream. */
async function rangesBefore(log: EventLog, { header }: RecordedEvent): Promise<readonly Range[]> {
  let ranges: [number, number][] = []
  for await (const page of log.read(header.stream, { limit: header.revision, bodies: false }))
    ranges = joined([...ranges, ...page.map(({ position }): [number, number] => [position, position])])
  return ranges
}

/** Joins ranges without a gap, and beyond the most ranges also those with small gaps. */
function joined(ranges: readonly [number, number][], gap = 1): [number, number][] {
  const all: [number, number][] = []
  for (const [first, last] of ranges) {
    const before = all.at(-1)
    if (before !== undefined && first - before[1] <= gap) before[1] = last
    else all.push([first, last])
  }
  return all.length <= RANGES ? all : joined(all, gap * 2)
}
