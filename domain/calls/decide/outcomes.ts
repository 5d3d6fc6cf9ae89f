import type { Call } from '../call.ts'
import { backoff, judgeRetry } from '../judge-retry.ts'
import type { ToolOutcome } from '../tools/tool-outcome.ts'
import type { CallDecision } from './decision.ts'
import { failCall } from './endings.ts'
// The outcomes of attempts that are decided alike for every kind of agent.

/** Retries a failed attempt, or ends the call. */
export function callFailed(d: CallDecision, call: Call, fact: Extract<ToolOutcome, { kind: 'tool_failed' }>): void {
  const { code, message } = fact.error
  const verdict = judgeRetry(d.caller.spec.retry, call, fact.error)
  if (verdict.retry && call.stage.at === 'running' && d.caller.cancel == null) {
    const delayMs = backoff(d.caller.spec.retry, call.signatures.length + 1, d.context.jitter())
    const retry = { attempt: call.attempt + 1, error: { code, message }, delayMs, signature: verdict.signature }
    d.emit('tool_call_retry', retry, { toolCallId: call.id })
    return
  }
  const tried = call.attempt - call.lost
  const exhausted = !verdict.retry && verdict.exhausted && tried > 1
  const error = exhausted
    ? { code: 'RETRY_EXHAUSTED', message: `${tried} attempts failed, the last with ${code}: ${message}` }
    : { code, message: tried > 1 ? `${message} (attempt ${tried})` : message }
  failCall(d, call, error, { durationMs: fact.durationMs })
}

/** The end of a running attempt was not seen. */
export function callInDoubt(
  d: CallDecision,
  call: Call,
  { attempt, reason, reused }: Extract<ToolOutcome, { kind: 'tool_in_doubt' }>,
): void {
  if (call.stage.at !== 'running') return
  const unknown = { attempt, reason, ...(reused === undefined ? {} : { reused }) }
  d.emit('tool_call_unknown', unknown, { toolCallId: call.id })
}
