import { ERASED } from '../../../domain/calls/events/residue.ts'
import type { Change } from '../../engine/changes/change.ts'
import { cut } from '../../engine/text.ts'
import { put } from '../changes.ts'
import type { ProjectedEvent } from './event.ts'

// Tables with one row per event. No later event changes the row.

const key = (e: ProjectedEvent) => ({ agent_id: e.agentId, revision: e.revision })

/** Changes of `phases`: the first phase at birth, then every step forward or back (seed 000, section 7). */
export function phases(e: ProjectedEvent): Change[] {
  if (e.type === 'agent_started') {
    const first = e.body?.spec.role?.phases[0]
    return first ? [put('phases', key(e), { phase: first.name, at: e.time })] : []
  }
  if (e.type !== 'phase_advanced') return []
  const { from, to, summary } = e.body ?? {}
  return [put('phases', key(e), { from_phase: from ?? null, phase: to ?? null, summary: summary ?? null, at: e.time })]
}

export function gateChecks(e: ProjectedEvent): Change[] {
  if (e.type !== 'gate_checked') return []
  return [
    put('gate_checks', key(e), {
      gate: e.body?.gate ?? null,
      after_phase: e.body?.after ?? null,
      passed: e.body ? Number(e.body.passed) : null,
      evidence: e.body?.evidence ?? null,
      at: e.time,
    }),
  ]
}

/** Changes of `model_routes` (seed 000, 5.7). */
export function modelRoutes(e: ProjectedEvent): Change[] {
  if (e.type !== 'model_routed') return []
  const { requested = null, resolved = null, reason = null, policy = null, purpose = null } = e.body ?? {}
  return [put('model_routes', key(e), { turn: e.turn, requested, resolved, reason, policy, purpose, at: e.time })]
}

export function workspaceVersions(e: ProjectedEvent): Change[] {
  if (e.type !== 'workspace_versioned') return []
  const tree = e.body && 'tree' in e.body ? e.body.tree : null
  const failure = e.body && 'unversioned' in e.body ? e.body.unversioned : null
  const why = { code: failure?.code ?? null, message: failure && cut(failure.message, 1000) }
  return [put('workspace_versions', key(e), { step: e.body?.step ?? null, tree, ...why, at: e.time })]
}

/** Changes of `context_variables`. A fork has rows for its own values only; the inherited ones stay with its source. */
export function contextVariables(e: ProjectedEvent): Change[] {
  const value = (name: string, json: unknown) =>
    put(
      'context_variables',
      { agent_id: e.agentId, name, revision: e.revision },
      { value: JSON.stringify(json ?? null), at: e.time },
    )
  if (e.type === 'agent_started') {
    return Object.entries(e.body?.spec.contextVariables ?? {}).map(([name, json]) => value(name, json))
  }
  if (e.type !== 'context_set') return []
  if (e.erased || !e.body) return [value(ERASED, ERASED)]
  if ('value' in e.body) return [value(e.body.key, e.body.value)]
  return [value(e.body.key, e.arguments ? e.arguments.value : ERASED)]
}
