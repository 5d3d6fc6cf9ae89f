import type { Call } from '../call.ts'
import { allowedBy } from '../decided.ts'
import type { Failure } from '../events/event-parts.ts'
import { controlKind } from '../tools/tools.ts'
import { askApproval } from './approvals.ts'
import type { CallDecision } from './decision.ts'
import { failCall } from './endings.ts'

// The steps of calls that follow from state and time.

/**
 * Takes the step of a call that needs no new fact: a refusal, an expired approval, or the loss of its driver.
 * `paused`: no lost attempt is repeated.
 */
export function settleCall(d: CallDecision, call: Call, paused: boolean): void {
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
    case 'running':
      if (stage.epoch !== d.caller.driver?.epoch) inDoubt(d, call, paused)
      return
    default:
      return
  }
}

/** The most lost drivers per call. After that a person decides, and a control tool fails. */
export const MAX_LOST = 5

/** The driver died between intent and outcome. An irreversible call is never repeated without a person's decision. */
function inDoubt(d: CallDecision, call: Call, paused: boolean): void {
  const about = { toolCallId: call.id }
  const control = !call.reused && controlKind(d.caller, call.toolName) !== false
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
  if (paused) return
  const error = { code: 'UNKNOWN_OUTCOME', message: `the driver of attempt ${call.attempt} is gone` }
  d.emit('tool_call_retry', { attempt: call.attempt + 1, error, delayMs: 0, lost: true }, about)
}

/** Starts a call, or asks a person first. `asks`: why it needs an approval; null: it needs none. */
export function beginCall(d: CallDecision, call: Call, asks: string | null): void {
  const { toolName, index, argumentsRef, argumentsHash, effect } = call
  const about = { toolCallId: call.id }
  if (call.stage.at !== 'planned') {
    d.emit('tool_call_intent', { attempt: call.attempt + (call.stage.at === 'resolved' ? 1 : 0) }, about)
    return
  }
  const permitted = call.permission === undefined ? {} : { permission: call.permission }
  const start = { toolName, index, argumentsRef, argumentsHash, attempt: 1, effect, intent: asks === null }
  const decided = asks === null ? { decided: allowedBy(d.caller, toolName, call.permission) } : {}
  d.emit('tool_call_start', { ...start, ...decided, ...permitted }, about)
  if (asks !== null) askApproval(d, call, asks)
}

/**
 * Ends an open call of an agent that is ending, with an unknown outcome if it may have happened. False: the call is
 * still running. `force` ends a running call too.
 */
export function settleOpenCall(d: CallDecision, call: Call, error: Failure, force: boolean): boolean {
  const { stage } = call
  const doubted = {
    code: 'UNKNOWN_OUTCOME',
    message: `${error.message}; whether this call happened is not known`,
  }
  if (stage.at === 'doubt') failCall(d, call, doubted)
  else if (stage.at !== 'running') failCall(d, call, call.refused ?? error)
  else if (d.context.now < stage.notBefore) failCall(d, call, error)
  else {
    const gone = d.drives && stage.epoch !== d.caller.driver?.epoch
    if (!force && !gone) return false
    failCall(d, call, call.effect === 'pure' || call.reused ? error : doubted)
  }
  return true
}
