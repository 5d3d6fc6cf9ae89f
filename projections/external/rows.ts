import { ERASED } from '../../domain/calls/events/residue.ts'
import type { Outcome } from '../../domain/external/outcome.ts'
import { MOST_MODELS, type ReportedUsage } from '../../domain/external/usage.ts'
import { type AgentTableRow, put, remove, set } from '../agent/changes.ts'
import { approvals } from '../agent/rows/approvals.ts'
import { askedColumns, decisions, personColumns, supports } from '../agent/rows/decisions.ts'
import type { ProjectedEvent } from '../agent/rows/event.ts'
import { toolCalls } from '../agent/rows/tool-calls.ts'
import { namedFiles, touchedFiles } from '../agent/rows/touched-files.ts'
import type { Change } from '../engine/changes/change.ts'
import { actorText, cut } from '../engine/text.ts'
import type { ProjectedExternal } from './event.ts'
import { hostedCall } from './hosted-rows.ts'
import { reportedFiles } from './reported-files.ts'
import { spanChanges } from './span-rows.ts'
import { externalTexts } from './text-rows.ts'

type Of<T extends ProjectedExternal['type']> = Extract<ProjectedExternal, { type: T }>

/** An external run is one agent without turns. Its usage is one model call for each model, from attempt 1 of turn 0. */
const TURN = 0
const ATTEMPT = 1
export const FINAL_TEXT = 'final_text'

/** The row changes of an event of an external run. Pure: the same event always gives the same changes. */
export function externalChanges(e: ProjectedExternal): Change[] {
  return [...stateChanges(e), ...externalTexts(e)]
}

function stateChanges(e: ProjectedExternal): Change[] {
  const here = { revision: e.revision, updated_at: e.time }
  if (e.type === 'external_started') return started(e)
  const agent = (columns: Partial<AgentTableRow<'agents'>> = {}) =>
    set('agents', { id: e.agentId }, { ...here, ...columns })
  switch (e.type) {
    case 'driver_claimed':
      return [agent(e.body === null ? {} : { epoch: e.body.epoch })]
    case 'process_start':
      return [agent({ in_turn: 1 }), call(e, { status: 'running', started_revision: e.revision, started_at: e.time })]
    case 'session_known':
      return [agent(e.body === null ? {} : { session_id: cut(e.body.sessionId, 300) })]
    case 'agent_events':
      return [agent(), ...reportedFiles(e)]
    case 'usage_reported': {
      const { model } = e.body ?? {}
      const named = model === undefined || e.agentId !== e.runId ? [] : [set('runs', { id: e.runId }, { model })]
      return [agent(), ...usageCalls(e), ...named]
    }
    case 'permission_requested':
    case 'permission_decided':
      return [agent(), permission(e), permissionDecision(e)]
    case 'tool_call_requested':
      return [agent(), ...requested(e)]
    case 'tool_call_start':
    case 'tool_call_intent':
    case 'tool_call_retry':
    case 'tool_call_unknown':
    case 'tool_call_end':
    case 'approval_requested':
    case 'approval_supported':
    case 'approval_decided':
    case 'approval_expired': {
      // These events have the same bodies as those of keepup's own agents.
      const own = e as ProjectedEvent
      return [agent(), ...toolCalls(own), ...approvals(own), ...decisions(own), ...supports(own), ...touchedFiles(own)]
    }
    case 'cancel_requested': {
      const reason = set('runs', { id: e.runId }, { error: e.body?.reason ?? null })
      return e.agentId === e.runId
        ? [agent({ cancel_requested_at: e.time }), reason]
        : [agent({ cancel_requested_at: e.time })]
    }
    case 'spans_reported':
      return spanChanges(e, agent)
    case 'model_requested':
    case 'model_outcome':
      return [agent(), ...hostedCall(e)]
    case 'external_ended':
    case 'outcome_learned':
      return ended(e, agent)
    default:
      return [agent()]
  }
}

function started(e: Of<'external_started'>): Change[] {
  const { request, backend = '', parent, continues } = e.body ?? {}
  const isRoot = e.agentId === e.runId
  const preview = e.erased ? ERASED : cut(request?.prompt ?? '', 500)
  const run = put(
    'runs',
    { id: e.runId },
    {
      status: 'active',
      started: e.position,
      created_at: e.time,
      created_by: actorText(e.actor),
      backend,
      workspace: request?.workingDir ?? null,
      model: modelOf(request?.extensions),
      continues: continues?.agentId ?? null,
    },
  )
  const agent = put(
    'agents',
    { id: e.agentId },
    {
      run_id: e.runId,
      parent_agent_id: parent?.agentId ?? null,
      parent_tool_call_id: parent?.toolCallId ?? null,
      role: parent?.role ?? '',
      status: 'active',
      depth: parent?.depth ?? (isRoot ? 0 : -1),
      created_at: e.time,
      revision: e.revision,
      updated_at: e.time,
      backend,
      ungoverned: 1,
    },
  )
  const input = put(
    'inputs',
    { agent_id: e.agentId, revision: e.revision },
    { run_id: e.runId, preview, by: actorText(e.actor), at: e.time, erased: e.erased ? 1 : 0 },
  )
  return isRoot ? [run, agent, input] : [agent, input]
}

const modelOf = (extensions: Readonly<Record<string, unknown>> = {}): string | null => {
  const model = extensions['agent_api.config.model.v1']
  return typeof model === 'string' ? model : null
}

function ended(
  e: Of<'external_ended' | 'outcome_learned'>,
  agent: (columns: Partial<AgentTableRow<'agents'>>) => Change,
): Change[] {
  const { status, code } = resultOf(e.body)
  const outcome = e.body
  const summary = outcome?.outcome === 'exited' && !e.erased ? outcome.finalText : null
  // A span that reports an end gives its time. A person ends no process, and closes a reported run as `unknown`.
  const isReported = e.actor.kind === 'user' && (outcome?.outcome === 'exited' || outcome?.outcome === 'failed')
  const changes = [agent({ status, code, in_turn: 0, ...(!isReported && { completed_at: e.time }) })]
  const attempt = status === 'completed' ? 'answered' : code === 'UNKNOWN_OUTCOME' ? 'lost' : 'failed'
  changes.push(
    set(
      'model_calls',
      { agent_id: e.agentId, turn: TURN, attempt: ATTEMPT },
      { status: attempt, code, ended_at: e.time, ended_revision: e.revision },
    ),
  )
  if (outcome?.outcome === 'exited') changes.push(...finalText(e, outcome))
  if (e.agentId !== e.runId) return changes
  const error = outcome !== null && 'error' in outcome ? outcome.error.message : errorOf(outcome)
  // The row already has the reason of the cancellation.
  const why = outcome?.outcome === 'cancelled' ? {} : { error: e.erased ? null : error }
  changes.push(
    set('runs', { id: e.runId }, { status, code, ...(!isReported && { ended_at: e.time }), summary, ...why }),
  )
  return changes
}

/** The final text of every run that has one is an artifact (seed 002: `agent_api.artifacts.final_text`). */
function finalText(
  e: Of<'external_ended' | 'outcome_learned'>,
  { finalText: content }: Extract<Outcome, { outcome: 'exited' }>,
): Change[] {
  const key = { agent_id: e.agentId, artifact_id: FINAL_TEXT }
  if (e.erased || content === null) return [remove('artifact_rows', key)]
  const place = { run_id: e.runId, tool_call_id: null, revision: e.revision, position: e.position }
  const about = { artifact_type: 'report', title: 'final text', path: null, hash: null, mime_type: 'text/plain' }
  const size = Buffer.byteLength(content)
  return [put('artifact_rows', key, { ...place, ...about, content, size, claimed: 0, created_at: e.time })]
}

/** An external agent's permission request becomes an approval like any other. It does not expire. */
function permission(e: Of<'permission_requested' | 'permission_decided'>): Change {
  // A residue keeps the ids of its body.
  const key = { agent_id: e.agentId, tool_call_id: e.body?.toolCallId ?? '' }
  const birth = { run_id: e.runId, turn: TURN }
  if (e.type === 'permission_requested')
    return put('approvals', key, {
      ...birth,
      status: 'pending',
      tool_name: e.body?.toolName ?? null,
      arguments_hash: e.bodyHash,
      reason: e.erased ? ERASED : (e.body?.reason ?? null),
      requested_at: e.time,
      requested_revision: e.revision,
      requested_position: e.position,
    })
  const decided = {
    status: e.body?.decision ?? 'erased',
    decided_at: e.time,
    decided_by: actorText(e.actor),
    decided_claimed: e.actor.claimed ? 1 : 0,
    decision_reason: e.body?.reason ?? null,
    decided_revision: e.revision,
  }
  return put('approvals', key, decided, birth)
}

function permissionDecision(e: Of<'permission_requested' | 'permission_decided'>): Change {
  const key = { agent_id: e.agentId, tool_call_id: e.body?.toolCallId ?? '' }
  const columns =
    e.type === 'permission_requested'
      ? { ...askedColumns(e.time), tool_name: e.body?.toolName ?? null }
      : personColumns(e, e.body)
  return put(
    'decision_rows',
    key,
    { ...columns, revision: e.revision },
    { run_id: e.runId, first_revision: e.revision, position: e.position },
  )
}

/** A call of a keepup tool. The same policy applies as to calls of keepup's own agents. */
function requested(e: Of<'tool_call_requested'>): Change[] {
  const id = e.toolCallId ?? ''
  const requested = { requested_revision: e.revision, requested_position: e.position, requested_at: e.time }
  const born = { run_id: e.runId, turn: TURN, status: 'planned', ...requested }
  const key = { agent_id: e.agentId, id }
  if (e.body === null) return [put('tool_calls', key, born)]
  const { toolName, askedName = toolName, effect, argumentsHash, block, reads, writes } = e.body.calls[0]
  const call = { tool_name: askedName, effect, arguments_hash: argumentsHash, block }
  return [put('tool_calls', key, { ...born, ...call }), ...namedFiles(e, id, { reads, writes })]
}

/** Maps an outcome to one of the two statuses of an ended agent; the code names the cause. */
function resultOf(outcome: Outcome | null): { readonly status: string; readonly code: string | null } {
  switch (outcome?.outcome) {
    case 'exited':
      return outcome.success ? { status: 'completed', code: null } : { status: 'failed', code: 'EXECUTION_FAILED' }
    case 'cancelled':
      return { status: 'failed', code: 'CANCELLED' }
    case 'failed':
      return { status: 'failed', code: 'EXECUTION_FAILED' }
    default:
      return { status: 'failed', code: 'UNKNOWN_OUTCOME' }
  }
}

function errorOf(outcome: Outcome | null): string | null {
  if (outcome?.outcome === 'unknown') return outcome.reason
  if (outcome?.outcome !== 'exited' || outcome.success) return null
  const { code, signal } = outcome.exit
  return code === null ? `the agent was ended by ${signal}` : `the agent ended with exit code ${code}`
}

/** One call for the whole run, or one for each model that the agent reports. */
function usageCalls(e: Of<'usage_reported'>): Change[] {
  if (e.body === null) return [call(e, { erased: 1 })]
  const { models } = e.body
  if (models?.scope !== 'run') return [call(e, figures(e.body)), ...withoutCalls(e, 1)]
  const costs = costsOf(e.body, models.each)
  const calls = models.each.map(({ nanoDollars: _, ...own }, n) => {
    const columns = { ...figures({ scope: 'run', ...own, cost: null }), nano_dollars: costs[n] ?? null }
    // The end of the run ends only the first call.
    const ended = { status: 'answered', started_at: e.time, ended_at: e.time, ended_revision: e.revision }
    return n === 0 ? call(e, columns) : call(e, { ...columns, ...ended, started_revision: e.revision }, ATTEMPT + n)
  })
  return [...calls, ...withoutCalls(e, calls.length)]
}

/** A later report replaces the one before it, which may have had more models. */
const withoutCalls = (e: Of<'usage_reported'>, from: number): Change[] =>
  Array.from({ length: MOST_MODELS - from }, (_, n) =>
    remove('model_calls', { agent_id: e.agentId, turn: TURN, attempt: ATTEMPT + from + n }),
  )

/**
 * The cost of each model. The run's budget counts the run's total, so the costs add up to it: the remainder is the cost
 * of the first model whose cost is unknown, or of the first model.
 */
function costsOf({ cost }: ReportedUsage, each: readonly { readonly nanoDollars: number | null }[]): (number | null)[] {
  const told = each.map(({ nanoDollars }) => nanoDollars)
  if (cost?.scope !== 'run') return told
  let rest = cost.nanoDollars
  const costs = told.map((nanoDollars) => {
    const own = Math.min(nanoDollars ?? 0, rest)
    rest -= own
    return own
  })
  costs[Math.max(0, told.indexOf(null))]! += rest
  return costs
}

/** Figures with the scope of a session include usage before this run, so they do not count. */
function figures(usage: ReportedUsage): Partial<AgentTableRow<'model_calls'>> {
  const own = usage.scope === 'run'
  const cached = own ? (usage.cachedInputTokens ?? 0) : 0
  const input = own && usage.inputTokens !== null ? Math.max(0, usage.inputTokens - cached) : null
  return {
    input,
    output: own ? usage.outputTokens : null,
    cache_read: input === null ? null : cached,
    cache_write: input === null ? null : 0,
    nano_dollars: usage.cost?.scope === 'run' ? usage.cost.nanoDollars : null,
    model: usage.model ?? null,
  }
}

function call(e: ProjectedExternal, columns: Partial<AgentTableRow<'model_calls'>>, attempt = ATTEMPT): Change {
  const initial = { run_id: e.runId, ...('status' in columns ? {} : { status: 'running' }) }
  return put('model_calls', { agent_id: e.agentId, turn: TURN, attempt }, columns, initial)
}
