import type { Call } from '../../calls/call.ts'
import { endCall, failCall, startRefused } from '../../calls/decide/endings.ts'
import { CommandRejected } from '../../calls/errors.ts'
import { controlKind } from '../../calls/tools/tools.ts'
import { needsApproval } from '../rules/policy.ts'
import type { LostCallState } from '../state/loss.ts'
import { repeatedOf } from '../state/loss-rules.ts'
import { callsOf } from '../state/state.ts'
import type { ReleaseLoss, ResolveDoubt } from './commands.ts'
import type { DecisionBuilder } from './decision-builder.ts'

// Decisions after an accepted loss of the log's end.

type DecisionOnLost = Omit<(typeof ResolveDoubt)['_output'], 'kind'>

export function decideLostCall(
  d: DecisionBuilder,
  lost: LostCallState,
  { decision, result, reason }: DecisionOnLost,
): void {
  const given = { ...(result === undefined ? {} : { result }), ...(reason === undefined ? {} : { reason }) }
  d.emit('lost_call_decided', { decision, toolName: lost.toolName, ...given }, { toolCallId: lost.id })
}

export function releaseLoss(d: DecisionBuilder, { reason }: (typeof ReleaseLoss)['_output']): void {
  if (!d.state.loss?.unlisted)
    throw new CommandRejected('NO_LOSS_TO_RELEASE', `${d.state.agentId} has no loss that could be released`)
  d.emit('loss_released', reason === undefined ? {} : { reason })
}

/** Settles a call that may have happened in the lost part instead of starting it. False: the call may start. */
export function heldByLoss(d: DecisionBuilder, call: Call): boolean {
  const { loss } = d.state
  if (loss === null || (call.stage.at === 'resolved' && call.since > loss.since)) return false
  const lost = repeatedOf(d.state, call)
  if (lost !== undefined) return settleRepeated(d, call, lost)
  if (!loss.unlisted || call.effect !== 'irreversible' || controlKind(d.state, call.toolName)) return false
  // A required approval comes first: the decision on an unknown outcome must not replace it.
  if (call.stage.at === 'planned' && needsApproval(d.state, call) !== null) return false
  if (!call.started) startRefused(d, call)
  const reason = `the log has lost a part of this run, and ${call.toolName} may have happened there`
  d.emit('tool_call_unknown', { attempt: Math.max(1, call.attempt), reason }, { toolCallId: call.id })
  return true
}

function settleRepeated(d: DecisionBuilder, call: Call, { decided }: LostCallState): true {
  if (decided === 'abandon') {
    const message = 'it is not known whether this call happened in the lost part of the log; it was abandoned'
    failCall(d, call, { code: 'UNKNOWN_OUTCOME', message })
    return true
  }
  if (!call.started) startRefused(d, call)
  const started = callsOf(d.state).find(({ id }) => id === call.id) ?? call
  const content = 'A person confirmed that this call happened before its record was lost; it was not run again.'
  endCall(d, started, { result: { content }, durationMs: 0 })
  return true
}
