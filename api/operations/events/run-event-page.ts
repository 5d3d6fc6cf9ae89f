import type { z } from 'zod'
import { formatCursor } from '../../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { JsonPieces } from '../operation.ts'
import { notFound } from '../problem.ts'
import { mustBeRun } from '../runs/run-of-agent.ts'
import type { Services } from '../services.ts'
import type { RunEventsQuery } from './schemas.ts'
import { EventViews, type JsonPiece } from './view.ts'

/** A page ends with the event that brings it over so many bytes of bodies. */
const PAGE_BYTES = 4 * 1024 * 1024

/** Events of a run that match a filter, as an `EventPage`. Rejects with 404 for an unknown run or agent. */
export async function runEventPage(
  s: Services,
  runId: string,
  { agent, type, turn, limit, after }: z.output<typeof RunEventsQuery>,
): Promise<JsonPieces> {
  await mustBeRun(s, runId)
  const types = type && new Set(type)
  const found = await s.read.events(omitUndefined({ runId, agent, types, turn, limit, after }))
  if (found === null) throw notFound('agent', agent ?? runId)
  const { pieces, count } = await pageOf(new EventViews(s.log, s.blobs), found.events)
  const last = found.more || found.events.length > count ? found.events[count - 1] : undefined
  const next = last === undefined ? null : formatCursor(s.log.cursor(last))
  return new JsonPieces(['{"events":[', ...pieces, `],"next":${JSON.stringify(next)}}`].values())
}

/** The first events as JSON, as many as fit into a page, at least one. */
async function pageOf(views: EventViews, events: readonly RecordedEvent[]) {
  const pieces: JsonPiece[] = []
  let bytes = 0
  let count = 0
  for (const event of events) {
    if (bytes > PAGE_BYTES) break
    if (count > 0) pieces.push(',')
    for await (const piece of views.json(event)) pieces.push(piece)
    bytes += event.header.body.size
    count++
  }
  return { pieces, count }
}
