import { put, set } from '../agent/changes.ts'
import type { Change } from '../engine/changes/change.ts'
import { cut } from '../engine/text.ts'
import type { ProjectedExternal } from './event.ts'

type Event = Extract<ProjectedExternal, { type: 'model_requested' | 'model_outcome' }>

/** A model call of a hosted agent belongs to turn 0. Attempt 1 is the usage that an agent reports itself. */
const TURN = 0
const FIRST_ATTEMPT = 2

const STATUS = { answered: 'answered', failed: 'failed', aborted: 'failed', lost: 'lost' } as const
const CODE = { answered: null, failed: 'MODEL_FAILED', aborted: 'CANCELLED', lost: 'UNKNOWN_OUTCOME' } as const

/** The row changes of a model call of a hosted agent. */
export function hostedCall(e: Event): Change[] {
  if (e.body === null) return []
  const key = { agent_id: e.agentId, turn: TURN, attempt: e.body.call + FIRST_ATTEMPT }
  if (e.type === 'model_requested') {
    const { model } = e.body
    const begun = { run_id: e.runId, model, started_revision: e.revision, started_at: e.time }
    const call = put('model_calls', key, begun, { status: 'running' })
    return e.agentId === e.runId ? [call, set('runs', { id: e.runId }, { model })] : [call]
  }
  const { outcome, durationMs, model, usage, nanoDollars = null, text, error } = e.body
  const columns = {
    status: STATUS[outcome],
    code: error?.code ?? CODE[outcome],
    ...(model !== undefined && { model }),
    input: usage?.input ?? null,
    output: usage?.output ?? null,
    cache_read: usage?.cacheRead ?? null,
    cache_write: usage?.cacheWrite ?? null,
    nano_dollars: nanoDollars,
    duration_ms: durationMs,
    preview: text === undefined ? null : cut(text, 200),
    ended_at: e.time,
    ended_revision: e.revision,
    erased: e.erased ? 1 : 0,
  }
  return [put('model_calls', key, columns, { run_id: e.runId })]
}
