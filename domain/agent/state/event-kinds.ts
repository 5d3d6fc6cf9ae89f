import type { EventType } from '../events/events.ts'

/** Requests of people that start work at once. An input starts work only when a turn reads it. */
export const STARTS_WORK: ReadonlySet<EventType> = new Set<EventType>([
  'forked',
  'resumed',
  'step_requested',
  'cancel_requested',
  'approval_decided',
  'tool_call_resolved',
  'lost_call_decided',
])

/** Events that cause no further step by themselves. */
export const NO_CONSEQUENCE: ReadonlySet<EventType> = new Set<EventType>([
  'driver_claimed',
  'paused',
  'approval_supported',
  'standing_approval',
  'workspace_drifted',
  'late_outcome',
  'model_late',
  'request_noted',
  'context_expanded',
  'loss_accepted',
  'residue',
  'erased',
  'delivered',
  'child_usage',
  'child_artifact',
  'cancel_forwarded',
  'pause_forwarded',
  'resume_forwarded',
  'usage_reported',
  'message_sent',
  'topic_subscribed',
  'subscription_added',
  'message_published',
  'message_distributed',
  'reuse_ended',
  'permission_ended',
  'permission_revoked',
  'restore_requested',
  'restore_ended',
])

/** Bookkeeping that may still arrive after the agent has finished. */
export const AFTER_THE_END: ReadonlySet<EventType> = new Set<EventType>([
  'late_outcome',
  'model_late',
  'tool_call_resolved',
  'loss_accepted',
  'lost_call_decided',
  'residue',
  'erased',
  'forked',
  'delivered',
  'end_reported',
  'usage_reported',
  'message_sent',
  'child_ended',
  'child_usage',
  'child_artifact',
  'restore_requested',
  'restore_ended',
])
