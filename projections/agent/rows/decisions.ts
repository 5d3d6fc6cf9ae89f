import type { Decided } from '../../../domain/calls/decided.ts'
import type { Change } from '../../engine/changes/change.ts'
import { actorText } from '../../engine/text.ts'
import { type AgentTableRow, put } from '../changes.ts'
import type { ProjectedEvent } from './event.ts'

type Row = Partial<AgentTableRow<'decision_rows'>>

/** Changes of `decision_rows`. A call that no policy, approval or permission decided has no row. */
export function decisions(e: ProjectedEvent): Change[] {
  const columns = decisionOf(e)
  if (columns === null) return []
  const key = { agent_id: e.agentId, tool_call_id: e.toolCallId ?? '' }
  return [
    put(
      'decision_rows',
      key,
      { ...columns, revision: e.revision },
      { run_id: e.runId, first_revision: e.revision, position: e.position },
    ),
  ]
}

/** Changes of `approval_supports`. */
export function supports(e: ProjectedEvent): Change[] {
  if (e.type !== 'approval_supported') return []
  const { decided, question = null, reason = null } = e.body ?? {}
  const { policyHash = null, shownHash = null } = decided ?? {}
  return [
    put(
      'approval_supports',
      { agent_id: e.agentId, revision: e.revision },
      {
        ...{ run_id: e.runId, tool_call_id: e.toolCallId ?? '', at: e.time },
        ...{ by: actorText(e.actor), claimed: e.actor.claimed ? 1 : 0, reason },
        ...{ policy_hash: policyHash, shown_hash: shownHash, question },
      },
    ),
  ]
}

function decisionOf(e: ProjectedEvent): Row | null {
  switch (e.type) {
    case 'tool_call_start': {
      const { decided, toolName, intent } = e.body ?? {}
      if (decided === undefined) return null
      const decision = intent ? 'allowed' : 'denied'
      return { ...decidedColumns(decided), tool_name: toolName ?? null, decision, decided_at: e.time }
    }
    case 'approval_requested':
      return { ...askedColumns(e.time), tool_name: e.body?.toolName ?? null, needed: e.body?.approvers ?? null }
    case 'approval_decided':
      return personColumns(e, e.body)
    case 'approval_expired':
      return { decision: 'expired', decided_at: e.time }
    default:
      return null
  }
}

/** A new question replaces an earlier decision, which stays in the events. */
export const askedColumns = (time: string): Row => ({
  decision: 'pending',
  asked_at: time,
  method: null,
  rule: null,
  decided_by: null,
  claimed: null,
  policy_hash: null,
  shown_hash: null,
  decided_at: null,
})

/** The columns of a decision about a question. `body` null: it was erased. */
export const personColumns = (
  { actor, time }: Pick<ProjectedEvent, 'actor' | 'time'>,
  body: { readonly decision: 'approved' | 'rejected'; readonly decided: Decided } | null,
): Row => ({
  ...(body === null ? {} : decidedColumns(body.decided)),
  decision: body === null ? 'erased' : body.decision === 'approved' ? 'allowed' : 'denied',
  decided_by: actorText(actor),
  claimed: actor.claimed ? 1 : 0,
  decided_at: time,
})

const decidedColumns = ({ method, rule, policyHash, shownHash }: Decided): Row => ({
  method: method,
  rule: rule ?? null,
  policy_hash: policyHash,
  shown_hash: shownHash ?? null,
})
