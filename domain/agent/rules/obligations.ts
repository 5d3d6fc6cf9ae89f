import type { ChildBackend, ChildBirth, Delivery } from '../../courier/delivery-commands.ts'
import { placeOf } from '../../courier/ledger.ts'
import { messageId } from '../../log/ids.ts'
import { instantOf } from '../../log/instant.ts'
import type { AgentSpec, DelegableRole } from '../../tree/spec.ts'
import type { AgentEvent, BodyOf } from '../events/events.ts'
import { targetsOf } from '../state/courier.ts'
import type { AgentState } from '../state/state.ts'
import { childSpec } from './child-spec.ts'
import { taskText } from './delegation-text.ts'

// Converts an obligation of an agent to the command for its target.

/** The command that delivers an event of `source`; null: no obligation to this target. `hash`: of the sealed event. */
export function deliveryOf(
  source: AgentState,
  event: AgentEvent,
  to: { readonly stream: string; readonly target: string; readonly after: number; readonly hash: string },
): Delivery | null {
  if (!targetsOf(source, event).includes(to.target)) return null
  const origin = { stream: to.stream, ...placeOf(source, event.revision), bodyHash: event.bodyHash }
  const head = { origin, after: to.after }
  const sent = { runId: source.runId, sentAt: event.at, owedAt: event.at }
  switch (event.type) {
    case 'child_delegated':
      return {
        ...head,
        kind: 'deliver_birth',
        birth: birthOf(source, event.toolCallId ?? ''),
        spec: childSpec(source.spec, event.body),
        task: taskText(event.body),
        ...backendOf(source.spec, event.body),
      }
    case 'end_reported':
      return { ...head, kind: 'deliver_reported_end', hash: to.hash, end: event.body }
    case 'usage_reported':
      return { ...head, kind: 'deliver_usage', report: event.body.report }
    case 'artifact_registered':
      return { ...head, kind: 'deliver_artifact', artifact: event.body.artifact }
    case 'budget_requested':
      return { ...head, kind: 'deliver_request', want: event.body.want }
    case 'budget_granted':
      return { ...head, kind: 'deliver_grant', request: event.body.request, grant: event.body.grant }
    case 'cancel_forwarded': {
      const { reason, deadlineMs } = event.body
      return { ...head, kind: 'deliver_cancel', deadlineMs, ...(reason === undefined ? {} : { reason }) }
    }
    case 'pause_forwarded': {
      const { reason } = event.body
      return { ...head, kind: 'deliver_pause', ...(reason === undefined ? {} : { reason }) }
    }
    case 'resume_forwarded':
      return { ...head, kind: 'deliver_resume' }
    case 'message_sent': {
      const { to: _, origin: __, losses, ...about } = event.body
      const id = messageId(source.agentId, { revision: event.revision, losses })
      const message = { ...about, id, from: source.agentId }
      return { ...head, ...sent, kind: 'deliver_message', message }
    }
    case 'message_distributed': {
      const { id, from, topic, payload, sentAt } = event.body
      const message = { id, from, type: 'event', topic, payload } as const
      return { ...head, ...sent, sentAt: instantOf(sentAt), kind: 'deliver_message', message }
    }
    case 'topic_subscribed':
      return { ...head, ...sent, kind: 'deliver_subscription', topic: event.body.topic }
    case 'message_published':
      return { ...head, ...sent, kind: 'deliver_publication', topic: event.body.topic, payload: event.body.payload }
    default:
      return null
  }
}

/** Whether the agent learns of a bounce of this obligation: only for its own messages, not for refusals. */
export const tellsOf = (event: AgentEvent): boolean => event.type === 'message_sent' && event.body.refused === undefined

function backendOf(
  { delegation }: AgentSpec,
  { role, backend }: BodyOf<'child_delegated'>,
): { backend?: ChildBackend } {
  if (backend === undefined) return {}
  const known = delegation?.backends?.[role as DelegableRole]
  const { levels: _, takesTools: __, ...about } = known ?? { capabilities: [], levels: [] }
  return { backend: { ...about, ...backend, role } }
}

function birthOf({ runId, agentId, depth, parent }: AgentState, toolCallId: string): ChildBirth {
  const ancestors = parent === null ? [] : [...(parent.ancestors ?? []), parent.agentId]
  return { runId, depth: depth + 1, parent: { agentId, toolCallId, ancestors } }
}
