import { kindOf } from '../../../domain/log/owner.ts'
import type { Amounts, Grant, Report } from '../../../domain/tree/events.ts'
import type { Change } from '../../engine/changes/change.ts'
import { FINAL_TEXT } from '../../external/rows.ts'
import { type AgentTableRow, put, set } from '../changes.ts'
import type { ProjectedEvent } from './event.ts'

// Rows of events between parent and child. Each fact is in the row of the stream that recorded it.

export function children(e: ProjectedEvent): Change[] {
  if (!e.body || !('childId' in e.body)) return []
  const key = { agent_id: e.agentId, child_id: e.body.childId }
  switch (e.type) {
    case 'child_delegated':
      return [
        put('children', key, {
          run_id: e.runId,
          tool_call_id: e.toolCallId ?? null,
          role: e.body.role,
          revision: e.revision,
          delegated_at: e.time,
        }),
      ]
    case 'child_ended': {
      const { status, code = null, head } = e.body
      const ended = { status, code, head_revision: head.revision, head_hash: head.hash }
      return [set('children', key, { ...ended, ended_revision: e.revision, ended_at: e.time })]
    }
    case 'cancel_forwarded':
      return [set('children', key, { cancelled: 1 })]
    case 'child_unreached':
      return [set('children', key, { unreached: 1 })]
    default:
      return []
  }
}

export function budgetChanges(e: ProjectedEvent): Change[] {
  if (!e.body) return []
  switch (e.type) {
    case 'child_delegated':
    case 'budget_granted':
      return [budget(e, 'granted', { ...amounts(e.body.grant), child_id: e.body.childId })]
    case 'budget_received':
      return [budget(e, 'received', amounts(e.body.grant))]
    case 'child_ended':
    case 'child_usage':
      return [budget(e, 'settled', { ...taken(e.body.report), child_id: e.body.childId })]
    default:
      return []
  }
}

/** Changes of `artifact_registrations`. An external agent's only artifact, its final text, comes with its end. */
export function artifactRegistrations(e: ProjectedEvent): Change[] {
  if (e.type === 'child_ended' && e.body && kindOf(e.body.origin.stream) === 'external') {
    const key = { agent_id: e.agentId, child_id: e.body.childId, artifact_id: FINAL_TEXT }
    return [put('artifact_registrations', key, { revision: e.revision, at: e.time })]
  }
  if (e.type !== 'child_artifact' || !e.body) return []
  const { childId, artifact } = e.body
  const key = { agent_id: e.agentId, child_id: childId, artifact_id: artifact.id }
  return [put('artifact_registrations', key, { revision: e.revision, at: e.time })]
}

export function bounces(e: ProjectedEvent): Change[] {
  if (e.type !== 'delivered' || !e.body) return []
  const { target, bounced } = e.body
  return bounced.map(({ revision, reason }) =>
    put('bounces', { agent_id: e.agentId, revision, target }, { reason, at: e.time }),
  )
}

type Columns = Partial<AgentTableRow<'budget_changes'>>

const budget = (e: ProjectedEvent, kind: string, columns: Columns): Change =>
  put(
    'budget_changes',
    { agent_id: e.agentId, revision: e.revision },
    { ...columns, run_id: e.runId, kind, at: e.time },
  )

const amounts = ({ tokens, nanoDollars, agents }: Amounts | Grant): Columns => ({
  ...{ tokens, nano_dollars: nanoDollars, agents },
})

const taken = ({ spent, uncertain }: Report): Columns => ({
  tokens: spent.input + spent.output + spent.cacheRead + spent.cacheWrite,
  nano_dollars: spent.nanoDollars,
  agents: spent.agents,
  uncertain_tokens: uncertain.tokens,
  uncertain_nano_dollars: uncertain.nanoDollars,
  uncertain_agents: uncertain.agents,
})
