import type { Usage } from '../../../domain/calls/content.ts'
import { textOf } from '../../../domain/calls/requested-calls.ts'
import { effectId, modelCallId } from '../../../domain/log/ids.ts'
import type { Change } from '../../engine/changes/change.ts'
import { cut } from '../../engine/text.ts'
import { type AgentTableRow, put } from '../changes.ts'
import type { ProjectedEvent } from './event.ts'

type Call = Partial<AgentTableRow<'model_calls'>>

/** Length of an answer's preview, in characters. Previews are the largest part of the tables. */
const PREVIEW = 200

/** Changes of `model_calls`, one row per attempt. The bill and all usage are sums over these rows. */
export function modelCalls(e: ProjectedEvent): Change[] {
  switch (e.type) {
    case 'model_call_start':
      // Without the attempt's number, this row would be a second one next to the row of its outcome.
      if (!e.body) return []
      return [
        attempt(e, e.body.attempt, {
          status: 'running',
          started_revision: e.revision,
          started_at: e.time,
          model: e.body.model,
          most_tokens: e.body.estimate.input + e.body.estimate.maxOutput,
          most_nano_dollars: e.body.estimate.nanoDollars,
        }),
      ]
    case 'model_call_end': {
      if (!e.body) return [attempt(e, undefined, { ...end(e), status: 'ended' })]
      const { usage, nanoDollars, durationMs, servedBy, stopReason, requestId, content } = e.body
      return [
        attempt(e, e.body.attempt, {
          ...end(e),
          ...tokens(usage),
          status: 'answered',
          nano_dollars: nanoDollars,
          duration_ms: durationMs,
          served_by: servedBy,
          stop_reason: stopReason,
          request_id: requestId ?? null,
          preview: cut(textOf(content), PREVIEW) || null,
        }),
      ]
    }
    case 'model_held':
      return [attempt(e, e.body?.attempt, { ...end(e), status: 'held' })]
    case 'model_attempt_lost':
      if (!e.body) return [attempt(e, undefined, { ...end(e), status: 'ended' })]
      return [
        attempt(e, e.body.attempt, {
          ...end(e),
          ...tokens(e.body.usage),
          status: 'lost',
          nano_dollars: e.body.nanoDollars,
        }),
      ]
    case 'model_late': {
      // Keeps the revision of the loss: later checkpoints show the cost of the attempt.
      if (!e.body) return [attempt(e, undefined, { status: 'ended' })]
      const { usage, nanoDollars, servedBy, requestId } = e.body
      const figures = {
        ...tokens(usage),
        nano_dollars: nanoDollars,
        served_by: servedBy,
        request_id: requestId ?? null,
      }
      return [attempt(e, e.body.attempt, { ...figures, status: 'late' })]
    }
    case 'error':
      if (e.body?.attempt === undefined) return []
      return [attempt(e, e.body.attempt, { ...end(e), status: 'failed', code: e.body.code })]
    default:
      return []
  }
}

function attempt(e: ProjectedEvent, number: number | undefined, columns: Call): Change {
  const key = { agent_id: e.agentId, turn: e.turn, attempt: number ?? numberOf(e) }
  return put('model_calls', key, e.erased ? { ...columns, erased: 1 } : columns, { run_id: e.runId })
}

// An outcome's commandId is the id of its effect, which ends with the attempt's number. Only the commandId keeps the
// number when the body was erased.
function numberOf(e: ProjectedEvent): number {
  const match = /#(\d+)$/.exec(e.commandId)
  const number = match ? Number(match[1]) : 0
  return number > 0 && e.commandId === effectId(modelCallId(e.agentId, e.turn), number) ? number : -e.revision
}

const end = (e: ProjectedEvent): Call => ({ ended_revision: e.revision, ended_at: e.time })

const tokens = (usage: Usage): Call => ({
  input: usage.input,
  output: usage.output,
  cache_read: usage.cacheRead,
  cache_write: usage.cacheWrite,
})
