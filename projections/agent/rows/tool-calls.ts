import type { LostCall } from '../../../domain/agent/events/loss.ts'
import { UNKNOWN_TOOL } from '../../../domain/calls/tools/tools.ts'
import { toolCallId } from '../../../domain/log/ids.ts'
import type { Change } from '../../engine/changes/change.ts'
import { cut } from '../../engine/text.ts'
import { type AgentTableRow, put } from '../changes.ts'
import type { ProjectedEvent } from './event.ts'

type Call = Partial<AgentTableRow<'tool_calls'>>

/** Changes of `tool_calls`. The row begins with the model's request, so it shows calls that never started. */
export function toolCalls(e: ProjectedEvent): Change[] {
  if (e.type === 'model_call_end') return (e.body?.calls ?? []).map((_, index) => planned(e, index))
  if (e.type === 'loss_accepted') return (e.body?.calls ?? []).flatMap((call) => lost(e, call))
  const columns = outcome(e)
  if (!columns) return []
  return [put('tool_calls', { agent_id: e.agentId, id: e.toolCallId! }, columns, { run_id: e.runId, turn: e.turn })]
}

function planned(e: Extract<ProjectedEvent, { type: 'model_call_end' }>, index: number): Change {
  const call = e.body!.calls[index]!
  return put(
    'tool_calls',
    { agent_id: e.agentId, id: toolCallId(e.agentId, e.turn, index) },
    {
      run_id: e.runId,
      turn: e.turn,
      status: 'planned',
      tool_name: call.askedName ?? call.toolName,
      effect: call.effect,
      arguments_hash: call.argumentsHash,
      block: call.block,
      requested_revision: e.revision,
      requested_position: e.position,
      requested_at: e.time,
    },
  )
}

/** A call that began in the lost part of the log. A person must decide on its unknown outcome. */
function lost(e: ProjectedEvent, { toolCallId: id, toolName, argumentsHash, effect }: LostCall): Change[] {
  if (effect !== 'irreversible') return []
  const message = 'it began in the part of the log that was lost'
  const columns: Call = { status: 'unknown', code: 'UNKNOWN_OUTCOME', message, rule: null, effect, ran: 1 }
  const names = { tool_name: toolName, arguments_hash: argumentsHash }
  return [
    put('tool_calls', { agent_id: e.agentId, id }, { ...columns, ...names }, { run_id: e.runId, turn: turnOf(id) }),
  ]
}

/** The turn in a call's id (see `toolCallId`). */
const turnOf = (id: string): number => Number(/\.t(\d+)\.c\d+$/.exec(id)?.[1] ?? 0)

/** The end of a lost call by a person's decision. The model does not request the call again. */
const DECIDED: Readonly<Record<'happened' | 'run' | 'abandon', Call>> = {
  happened: { status: 'succeeded', code: null, message: 'a person confirmed it' },
  run: { status: 'ended', code: null, message: 'a person decided that it did not happen' },
  abandon: { status: 'failed', code: 'UNKNOWN_OUTCOME', message: 'it was given up' },
}

function outcome(e: ProjectedEvent): Call | null {
  switch (e.type) {
    case 'tool_call_start': {
      const start: Call = {
        started_revision: e.revision,
        started_at: e.time,
        status: e.body?.intent ? 'running' : 'started',
        ...(e.body?.intent ? { ran: 1 } : {}),
      }
      if (!e.body) return start
      const { toolName, effect, argumentsHash, attempt } = e.body
      // The model's answer already gave the name that the model wrote.
      const named = toolName === UNKNOWN_TOOL ? {} : { tool_name: toolName }
      return { ...start, ...named, effect, arguments_hash: argumentsHash, attempt }
    }
    case 'approval_requested':
      return { status: 'waiting' }
    case 'approval_decided':
    case 'approval_expired':
      return { status: 'started' }
    case 'tool_call_intent':
      return { status: 'running', ran: 1, ...(e.body ? { attempt: e.body.attempt } : {}) }
    case 'tool_call_retry':
      if (!e.body) return { status: 'retrying' }
      return { status: 'retrying', attempt: e.body.attempt, ...failure(e.body.error) }
    case 'tool_call_unknown':
      return { status: 'unknown', code: 'UNKNOWN_OUTCOME', message: e.body && cut(e.body.reason, 1000), rule: null }
    case 'tool_call_resolved':
      // After the end of the run the decision has no effect, and the call keeps its end.
      return e.turn === 0 ? null : { status: 'started' }
    case 'lost_call_decided':
      return e.body ? DECIDED[e.body.decision] : { status: 'ended' }
    case 'tool_call_end':
      return ended(e)
    default:
      return null
  }
}

function ended(e: Extract<ProjectedEvent, { type: 'tool_call_end' }>): Call {
  const end: Call = { ended_revision: e.revision, ended_position: e.position, ended_at: e.time }
  if (!e.body) return { ...end, status: 'ended', erased: 1, code: null, message: null, rule: null }
  const { success, toolName, askedName, attempt, durationMs, step, error, created, changed, detail } = e.body
  return {
    ...end,
    ...failure(error),
    ...(e.erased ? { erased: 1 } : {}),
    status: success ? 'succeeded' : 'failed',
    tool_name: askedName ?? toolName,
    attempt,
    exit_code: toolName === 'run_command' && detail !== undefined ? exitCode(detail) : null,
    duration_ms: durationMs,
    step,
    created: created ? JSON.stringify(created) : null,
    changed: changed ? JSON.stringify(changed) : null,
  }
}

/** The exit code of a command, as its result has it; -1: a signal ended it. */
const exitCode = ({ exitCode }: Readonly<Record<string, unknown>>): number | null =>
  exitCode === null ? -1 : Number.isSafeInteger(exitCode) ? (exitCode as number) : null

const failure = (error: { code: string; message: string; rule?: string | undefined } | undefined): Call => ({
  code: error?.code ?? null,
  message: error ? cut(error.message, 1000) : null,
  rule: error?.rule ?? null,
})
