import type { Header } from '../../log/envelope.ts'
import { parseTraceParent, spanIdOf, traceIdOf, traceParentText } from '../../log/trace-ids.ts'
import type { EventLog } from '../../ports/index.ts'
import { streamOfAgent } from '../../tree/runtime/stream-of-agent.ts'

/** The flag of a trace that is recorded. */
const SAMPLED = '01'

/**
 * The W3C trace context of an attempt, by the event that is its intent: the trace of the run and the span of the attempt.
 * `adopt`: the trace of the request that started the run, if it named one, as the exported spans have it. Null: the log
 * does not have the events, or does not answer.
 */
export async function traceParentOf(
  log: Pick<EventLog, 'read'>,
  runId: string,
  stream: string,
  revision: number,
  adopt: boolean,
): Promise<string | null> {
  try {
    const root = await streamOfAgent(log, runId)
    const [first, intent] = await Promise.all([root && headerAt(log, root, 0), headerAt(log, stream, revision)])
    if (!first || !intent) return null
    const { trace } = first.header
    const caller = adopt && trace !== undefined ? parseTraceParent(trace) : null
    const { traceId, flags } = caller ?? { traceId: traceIdOf(runId), flags: SAMPLED }
    return traceParentText({ traceId, spanId: spanIdOf(intent.id), flags })
  } catch {
    // A call does not fail for the lack of a trace.
    return null
  }
}

async function headerAt(
  log: Pick<EventLog, 'read'>,
  stream: string,
  revision: number,
): Promise<{ readonly id: string; readonly header: Header } | null> {
  for await (const [event] of log.read(stream, { from: revision, limit: 1, bodies: false })) return event ?? null
  return null
}
