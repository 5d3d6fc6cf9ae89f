import { idOf } from '../../../domain/log/owner.ts'
import type { Change } from '../../engine/changes/change.ts'
import { actorText } from '../../engine/text.ts'
import { put, set } from '../changes.ts'
import type { ProjectedEvent } from './event.ts'

/** Changes of `runs`, from the events of the root agent, which has the run's id. */
export function runs(e: ProjectedEvent): Change[] {
  if (e.agentId !== e.runId) return []
  const key = { id: e.runId }
  switch (e.type) {
    case 'agent_started': {
      const spec = e.body?.spec
      return [
        put('runs', key, {
          status: 'active',
          started: e.position,
          created_at: e.time,
          created_by: actorText(e.actor),
          mode: spec?.policy.mode ?? null,
          model: spec?.models.requested ?? null,
          role: spec?.role?.name ?? null,
          workspace: spec?.workspace?.path ?? null,
        }),
      ]
    }
    case 'forked':
      return [
        put('runs', key, {
          status: 'active',
          started: e.position,
          created_at: e.time,
          created_by: actorText(e.actor),
          model: e.body?.changes.model ?? null,
          workspace: e.body?.workspace?.path ?? null,
          forked_from: e.body && idOf(e.body.stream),
          forked_step: e.body?.step ?? null,
        }),
      ]
    case 'recovery':
      return e.body?.phase === 'final_warning' ? [set('runs', key, { status: 'recovering' })] : []
    case 'completion':
      return [
        set('runs', key, {
          status: 'completed',
          ended_at: e.time,
          summary: e.body?.summary ?? null,
          next_steps: e.body?.nextSteps ?? null,
          unmet_gates: e.body && JSON.stringify(e.body.unmetGates),
          unread_input: e.body?.unreadInput ?? null,
        }),
      ]
    case 'error':
      if (e.body?.recoverable) return []
      return [
        set('runs', key, {
          status: 'failed',
          ended_at: e.time,
          code: e.body?.code ?? null,
          error: e.body?.error ?? null,
          partial_output: e.body?.partialOutput ?? null,
          unmet_gates: e.body?.unmetGates ? JSON.stringify(e.body.unmetGates) : null,
        }),
      ]
    default:
      return []
  }
}
