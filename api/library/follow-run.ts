import { isRunOver } from '../../domain/external/state.ts'
import { LogError } from '../../domain/log/errors.ts'
import { externalStream } from '../../domain/log/ids.ts'
import { streamOfAgent } from '../../domain/tree/runtime/stream-of-agent.ts'
import { checkedCursor, wanted } from '../operations/events/filter.ts'
import type { EventView } from '../operations/events/schemas.ts'
import { EventViews } from '../operations/events/view.ts'
import { notFound } from '../operations/problem.ts'
import type { Services } from '../operations/services.ts'

/** The revision of a finished run's last event. Null: the run has not finished. */
async function lastRevision(s: Services, runId: string, stream: string): Promise<number | null> {
  if (stream === externalStream(runId)) {
    const found = await s.agents?.recorded(runId)
    return found && isRunOver(found.state) ? ((await s.log.head(stream))?.revision ?? null) : null
  }
  const { state, head } = await s.runtime.at(runId, null)
  return state.machine.status === 'DONE' || state.machine.status === 'ERROR' ? head.revision : null
}

/** The position of an event in the log. */
async function positionOf({ log }: Services, stream: string, revision: number): Promise<number> {
  for await (const [event] of log.read(stream, { from: revision, limit: 1, bodies: false }))
    if (event !== undefined) return event.position
  return Number.POSITIVE_INFINITY
}

const ends = ({ type, payload }: EventView) =>
  type === 'completion' || type === 'external_ended' || (type === 'error' && payload?.recoverable !== true)

/** See `KeepUp.follow`. An abort ends the iteration without an error, also when the log is closed at the same time. */
export async function* followRun(
  ...[s, runId, after, signal]: Parameters<typeof eventsOf>
): AsyncGenerator<EventView, void, undefined> {
  try {
    yield* eventsOf(s, runId, after, signal)
  } catch (error) {
    if (!signal.aborted || !(error instanceof LogError && error.code === 'LOG_CLOSED')) throw error
  }
}

async function* eventsOf(
  s: Services,
  runId: string,
  after: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<EventView, void, undefined> {
  const stream = await streamOfAgent(s.log, runId)
  if (stream === null) throw notFound('run', runId)
  const views = new EventViews(s.log, s.blobs)
  let cursor = await checkedCursor(s.log, after)
  if (cursor === null) {
    // The first event of a run is the first of its root agent. Skip everything before it in the log.
    for await (const [first] of s.log.read(stream, { limit: 1 })) {
      if (first === undefined) continue
      cursor = s.log.cursor(first)
      yield await views.view(first)
    }
    if (cursor === null) throw notFound('run', runId)
  }
  let last = await lastRevision(s, runId, stream)
  if (last !== null && (await positionOf(s, stream, last)) <= cursor.position) return
  for await (const page of s.log.subscribe(cursor, signal)) {
    for (const event of page) {
      if (signal.aborted) return
      if (!wanted(event, { run: runId })) continue
      const view = await views.view(event)
      yield view
      if (view.stream !== stream) continue
      if (ends(view)) last ??= await lastRevision(s, runId, stream)
      if (last !== null && view.revision >= last) return
    }
  }
}
