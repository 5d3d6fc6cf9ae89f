import { controlToolNamed } from '../../../domain/agent/control/registry.ts'
import type { BodyOf } from '../../../domain/agent/events/events.ts'
import { idOf } from '../../../domain/log/owner.ts'
import type { Change } from '../../engine/changes/change.ts'
import { type AgentTableRow, put, set } from '../changes.ts'
import type { ProjectedEvent } from './event.ts'

type Agent = Partial<AgentTableRow<'agents'>>
type Changes = BodyOf<'forked'>['changes']

/**
 * Changes of `agents`. Bodies are erased only in finished agents, so an `error` without a residue ended the run (a
 * later end overrides it).
 */
export function agents(e: ProjectedEvent): Change[] {
  const here: Agent = { revision: e.revision, updated_at: e.time }
  if (e.type === 'agent_started' || e.type === 'forked')
    return [put('agents', { id: e.agentId }, { ...created(e), ...here })]
  return [set('agents', { id: e.agentId }, { ...here, ...changed(e) })]
}

function created(e: Extract<ProjectedEvent, { type: 'agent_started' | 'forked' }>): Agent {
  const common: Agent = { run_id: e.runId, status: 'active', created_at: e.time }
  if (e.type === 'agent_started') {
    const depth = e.body?.depth ?? (e.agentId === e.runId ? 0 : -1)
    return {
      ...common,
      parent_agent_id: e.body?.parent?.agentId ?? null,
      parent_tool_call_id: e.body?.parent?.toolCallId ?? null,
      role: e.body?.spec.role?.name ?? '',
      depth,
      // A root agent waits for its task; a child has its task from its first event.
      question_revision: depth === 0 ? e.revision : null,
      budget_tokens: e.body?.spec.budget.tokens ?? null,
      budget_nano_dollars: e.body?.spec.budget.nanoDollars ?? null,
      budget_agents: e.body?.spec.delegation?.agents ?? 1,
      undriven: depth === 0 && !e.body?.drive ? 1 : 0,
      drive_requested: depth === 0 && !e.body?.drive ? 0 : 1,
    }
  }
  return {
    ...common,
    depth: 0,
    forked_from: e.body && idOf(e.body.stream),
    forked_revision: e.body?.revision ?? null,
    forked_step: e.body?.step ?? null,
    step: e.body?.step ?? 0,
    undriven: e.body?.drive ? 0 : 1,
    drive_requested: e.body?.drive ? 1 : 0,
    question_revision: e.body?.waits ? e.revision : null,
    ...budgetOfFork(e.body?.changes.budget),
  }
}

/** A fork inherits unchanged members (-1) from its source. */
const budgetOfFork = ({ tokens, nanoDollars }: Changes['budget'] = {}): Agent => ({
  budget_tokens: tokens === undefined ? -1 : tokens,
  budget_nano_dollars: nanoDollars === undefined ? -1 : nanoDollars,
  budget_agents: -1,
})

function changed(e: ProjectedEvent): Agent {
  switch (e.type) {
    case 'driver_claimed':
      return { undriven: 0, ...(e.body ? { epoch: e.body.epoch } : {}) }
    case 'user_input':
    case 'message_bounced':
      return { last_input: e.revision }
    case 'message_received':
      return e.toolCallId === undefined ? { last_input: e.revision } : {}
    case 'turn_start':
      return { turn: e.turn, in_turn: 1, last_read: e.revision, question_revision: null, model_outage: 0 }
    case 'model_call_end':
      return { model_outage: 0 }
    case 'tool_call_end':
      return {
        ...(e.body ? { step: e.body.step } : {}),
        ...(e.body?.success && controlToolNamed(e.body.toolName)?.spec.control === 'waits'
          ? { question_revision: e.revision }
          : {}),
      }
    case 'turn_end':
      return { ...(e.body ? { step: e.body.step } : {}), in_turn: 0, stepping: 0 }
    case 'recovery':
      return e.body?.phase === 'final_warning' ? { status: 'recovering' } : {}
    case 'completion':
      return { status: 'completed', completed_at: e.time, code: null }
    case 'error':
      if (e.body?.recoverable) return { model_outage: e.body.outage ? 1 : 0 }
      return { status: 'failed', completed_at: e.time, code: e.body?.code ?? null }
    case 'paused':
      return { paused: 1, stepping: 0 }
    case 'resumed':
      return { undriven: 0, paused: 0, stepping: 0 }
    case 'step_requested':
      return { undriven: 0, paused: 1, stepping: 1 }
    case 'cancel_requested':
      return { undriven: 0, cancel_requested_at: e.time }
    default:
      return {}
  }
}
