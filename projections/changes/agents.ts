import { controlToolNamed } from '../../domain/agent/control/registry.ts'
import type { Row } from '../schema/tables.ts'
import { agentOfStream } from '../text.ts'
import { type Change, put, set } from './change.ts'
import type { Seen } from './event.ts'

type Agent = Partial<Row<'agents'>>

/**
 * Changes of `agents`. Only finished agents have bodies erased, so an `error` of which nothing is left is an end (a later
 * end overrides).
 */
export function agents(e: Seen): Change[] {
  const here: Agent = { revision: e.revision, updated_at: e.time }
  if (e.type === 'agent_started' || e.type === 'forked')
    return [put('agents', { id: e.agentId }, { ...birth(e), ...here })]
  return [set('agents', { id: e.agentId }, { ...here, ...fate(e) })]
}

function birth(e: Extract<Seen, { type: 'agent_started' | 'forked' }>): Agent {
  const common: Agent = { run_id: e.runId, status: 'active', created_at: e.time }
  if (e.type === 'agent_started') {
    const depth = e.body?.depth ?? (e.agentId === e.runId ? 0 : -1)
    return {
      ...common,
      parent_agent_id: e.body?.parent?.agentId ?? null,
      parent_tool_call_id: e.body?.parent?.toolCallId ?? null,
      role: e.body?.spec.role?.name ?? '',
      depth,
      // A root agent does nothing before it is told what; a child is told by its birth.
      asked_at: depth === 0 ? e.revision : null,
      held: depth === 0 && !e.body?.drive ? 1 : 0,
      asked: depth === 0 && !e.body?.drive ? 0 : 1,
      places: e.body && (e.body.spec.policy.mode === 'batch' ? e.body.spec.policy.maxParallel : 1),
    }
  }
  return {
    ...common,
    depth: 0,
    forked_from: e.body && agentOfStream(e.body.stream),
    forked_revision: e.body?.revision ?? null,
    forked_step: e.body?.step ?? null,
    step: e.body?.step ?? 0,
    held: e.body?.drive ? 0 : 1,
    asked: e.body?.drive ? 1 : 0,
    asked_at: e.body?.waits ? e.revision : null,
  }
}

function fate(e: Seen): Agent {
  switch (e.type) {
    case 'driver_claimed':
      return { held: 0, ...(e.body ? { epoch: e.body.epoch } : {}) }
    case 'user_input':
      return { last_input: e.revision }
    case 'turn_start':
      return { turn: e.turn, in_turn: 1, last_read: e.revision, asked_at: null }
    case 'tool_call_end':
      return {
        ...(e.body ? { step: e.body.step } : {}),
        ...(e.body?.success && controlToolNamed(e.body.toolName)?.spec.control === 'waits'
          ? { asked_at: e.revision }
          : {}),
      }
    case 'turn_end':
      return { ...(e.body ? { step: e.body.step } : {}), in_turn: 0, stepping: 0 }
    case 'recovery':
      return e.body?.phase === 'final_warning' ? { status: 'recovering' } : {}
    case 'completion':
      return { status: 'completed', completed_at: e.time, code: null }
    case 'error':
      return e.body?.recoverable ? {} : { status: 'failed', completed_at: e.time, code: e.body?.code ?? null }
    case 'paused':
      return { paused: 1, stepping: 0 }
    case 'resumed':
      return { held: 0, paused: 0, stepping: 0 }
    case 'step_requested':
      return { held: 0, paused: 1, stepping: 1 }
    case 'cancel_requested':
      return { held: 0, cancel_requested_at: e.time }
    default:
      return {}
  }
}
