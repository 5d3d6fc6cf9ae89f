import type { EventPlace } from '../../log/body-parts.ts'
import type { Call } from '../call.ts'
import { policyHash } from '../decided.ts'
import type { Failure } from '../events/event-parts.ts'
import type { ToolSucceeded } from '../tools/tool-outcome.ts'
import type { CallDecision } from './decision.ts'
// Every call has one start and one end.

export type Success = Pick<ToolSucceeded, 'result' | 'attached' | 'durationMs' | 'tested' | 'reused'>

export function endCall(d: CallDecision, call: Call, { result, attached, durationMs, tested, reused }: Success): void {
  d.emit(
    'tool_call_end',
    {
      step: d.caller.step + 1,
      toolName: call.toolName,
      success: true,
      attempt: call.attempt,
      durationMs,
      result: result.content,
      ...(attached === undefined ? {} : { attachment: attached.attachment }),
      ...(result.created === undefined ? {} : { created: [...result.created] }),
      ...(result.changed === undefined ? {} : { changed: [...result.changed] }),
      ...(tested === undefined ? {} : { tested }),
      ...(result.detail === undefined ? {} : { detail: result.detail }),
      ...(result.documents === undefined ? {} : { documents: result.documents }),
      ...(reused === undefined ? {} : { reused }),
    },
    { toolCallId: call.id },
  )
}

/** Ends a call without a result. Starts it first if necessary, because each call has one start and one end. */
export function failCall(
  d: CallDecision,
  call: Call,
  error: Failure,
  { durationMs, reused }: { durationMs: number; reused?: EventPlace | undefined } = { durationMs: 0 },
): void {
  if (!call.started) startRefused(d, call)
  d.emit(
    'tool_call_end',
    {
      step: d.caller.step + 1,
      toolName: call.toolName,
      ...(call.askedName === undefined ? {} : { askedName: call.askedName }),
      success: false,
      attempt: Math.max(1, call.attempt),
      durationMs,
      error,
      ...(reused === undefined ? {} : { reused }),
    },
    { toolCallId: call.id },
  )
}

export function startRefused(d: CallDecision, call: Call): void {
  const { toolName, index, argumentsRef, argumentsHash, effect } = call
  const rule = call.refused?.code === 'PERMISSION_DENIED' ? call.refused.rule : undefined
  const hash = policyHash(d.caller.spec.policy)
  const decided = rule === undefined ? {} : ({ decided: { method: 'policy', rule, policyHash: hash } } as const)
  d.emit(
    'tool_call_start',
    { toolName, index, argumentsRef, argumentsHash, attempt: 1, effect, intent: false, ...decided },
    { toolCallId: call.id },
  )
}
