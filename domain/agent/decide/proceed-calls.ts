import { instantText } from '../../log/instant.ts'
import { needsApproval } from '../rules/policy.ts'
import { startable } from '../rules/scheduling.ts'
import { REQUEST_MS } from '../state/bus.ts'
import { controlKind } from '../state/controls.ts'
import { undecided } from '../state/loss-rules.ts'
import { type Call, callsOf } from '../state/state.ts'
import type { DecisionBuilder } from './decision-builder.ts'
import { failCall } from './endings.ts'
import { leaveChild } from './forwarding.ts'
import { heldByLoss } from './losses.ts'
import { endPermissions, withdrawn } from './permissions.ts'
import { beginsFromRecord } from './record.ts'

/** Processes each open call once. Returns whether an event was emitted. */
export function proceedCalls(d: DecisionBuilder): boolean {
  const before = d.drafts.length
  endPermissions(d)
  for (const call of callsOf(d.state)) settleOne(d, call)
  if (!d.state.paused) {
    for (const call of startable(d.state, callsOf(d.state))) begin(d, call)
  }
  return d.drafts.length > before
}

function settleOne(d: DecisionBuilder, call: Call): void {
  const { stage } = call
  switch (stage.at) {
    case 'planned':
      if (call.refused !== null) failCall(d, call, call.refused, { durationMs: 0, reused: call.recorded })
      return
    case 'rejected': {
      const why = stage.reason === '' ? '' : `: ${stage.reason}`
      failCall(d, call, { code: 'APPROVAL_REJECTED', message: `the user rejected this call${why}` })
      return
    }
    case 'approval':
      if (d.context.now < stage.expiresAt) return
      d.emit('approval_expired', { argumentsHash: call.argumentsHash }, { toolCallId: call.id })
      failCall(d, call, {
        code: 'APPROVAL_EXPIRED',
        message: 'no person decided on this call before its approval expired',
      })
      return
    case 'reply':
      if (d.context.now < stage.until) return
      failCall(d, call, { code: 'TIMEOUT', message: NO_ANSWER, rule: 'no_reply' })
      return
    case 'running':
      if (stage.epoch !== d.state.driver?.epoch) inDoubt(d, call)
      return
    default:
      return
  }
}

const NO_ANSWER = `no answer came within ${REQUEST_MS / 1_000} s; one that still comes is shown as a message`

/** The most lost drivers per call. After that a person decides, and a control tool fails. */
export const MAX_LOST = 5

/** The driver died between intent and outcome. An irreversible call is never repeated without a person's decision. */
function inDoubt(d: DecisionBuilder, call: Call): void {
  const about = { toolCallId: call.id }
  const control = !call.reused && controlKind(d.state, call.toolName) !== false
  const many = `${call.lost + 1} drivers in a row were lost while ${call.toolName} was at work`
  // A control tool has no effect before its end is recorded.
  if (control && call.lost >= MAX_LOST) {
    failCall(d, call, { code: 'EXECUTION_FAILED', message: `${many}; try a different approach` })
    return
  }
  // A call that copies a recorded outcome has no effect at all.
  if (!control && !call.reused && (call.effect === 'irreversible' || call.lost >= MAX_LOST)) {
    const gone = `the driver of attempt ${call.attempt} is gone, and its record does not show whether ${call.toolName} happened`
    d.emit('tool_call_unknown', { attempt: call.attempt, reason: call.lost >= MAX_LOST ? many : gone }, about)
    return
  }
  if (d.state.paused) return
  const error = { code: 'UNKNOWN_OUTCOME', message: `the driver of attempt ${call.attempt} is gone` }
  d.emit('tool_call_retry', { attempt: call.attempt + 1, error, delayMs: 0, lost: true }, about)
}

function begin(d: DecisionBuilder, call: Call): void {
  const { toolName, index, argumentsRef, argumentsHash, effect } = call
  const about = { toolCallId: call.id }
  if (heldByLoss(d, call) || beginsFromRecord(d, call) || withdrawn(d, call)) return
  if (call.stage.at !== 'planned') {
    d.emit('tool_call_intent', { attempt: call.attempt + (call.stage.at === 'resolved' ? 1 : 0) }, about)
    return
  }
  const reason = needsApproval(d.state, toolName)
  const permitted = call.permission === undefined ? {} : { permission: call.permission }
  const start = { toolName, index, argumentsRef, argumentsHash, attempt: 1, effect, intent: reason === null }
  d.emit('tool_call_start', { ...start, ...permitted }, about)
  if (reason !== null) askApproval(d, call, reason)
}

/** Asks a person about a call. The request expires after the policy's `approvalTtlMs`. */
export function askApproval(
  d: DecisionBuilder,
  { id, toolName, argumentsRef, argumentsHash }: Call,
  reason: string,
): void {
  const expiresAt = instantText(d.context.now + d.state.spec.policy.approvalTtlMs)
  d.emit('approval_requested', { toolName, argumentsRef, argumentsHash, expiresAt, reason }, { toolCallId: id })
}

/** Ends the open calls of a run that is ending. False: a call is still running. `force` ends running calls too. */
export function settleOpenCalls(
  d: DecisionBuilder,
  code: 'CANCELLED' | 'TIMEOUT',
  message: string,
  force: boolean,
): boolean {
  let settled = true
  const lost = new Set(undecided(d.state).map(({ id }) => id))
  for (const call of callsOf(d.state)) {
    const { stage } = call
    if (stage.at === 'ended') continue
    if (stage.at === 'doubt' || lost.has(call.id)) {
      failCall(d, call, { code: 'UNKNOWN_OUTCOME', message: `${message}; whether this call happened is not known` })
    } else if (stage.at === 'child') {
      if (!force) {
        settled = false
        continue
      }
      leaveChild(d, stage.childId, message)
      failCall(d, call, { code, message: `${message}; the agent ${stage.childId} was not reached in time` })
    } else if (stage.at !== 'running') {
      failCall(d, call, call.refused ?? { code, message })
    } else if (d.context.now < stage.notBefore) {
      failCall(d, call, { code, message })
    } else {
      const gone = d.drives && stage.epoch !== d.state.driver?.epoch
      if (!force && !gone) settled = false
      else if (call.effect === 'pure' || call.reused) failCall(d, call, { code, message })
      else
        failCall(d, call, { code: 'UNKNOWN_OUTCOME', message: `${message}; whether this call happened is not known` })
    }
  }
  return settled
}
