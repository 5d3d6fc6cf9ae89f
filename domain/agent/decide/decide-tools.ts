import type { Call, CallStage } from '../../calls/call.ts'
import { askApproval } from '../../calls/decide/approvals.ts'
import { endCall, failCall } from '../../calls/decide/endings.ts'
import { callFailed, callInDoubt } from '../../calls/decide/outcomes.ts'
import { MAX_LOST } from '../../calls/decide/proceed.ts'
import { controlToolNamed } from '../control/registry.ts'
import type { BodyOf } from '../events/events.ts'
import { needsApproval } from '../rules/policy.ts'
import { graceIsOver } from '../rules/recovery.ts'
import { callsOf, recoveryOf } from '../state/state.ts'
import type { OutcomeCommand } from './commands.ts'
import { lateOutcome } from './decide-late.ts'
import { endFromRecord } from './decide-reuse.ts'
import type { DecisionBuilder } from './decision-builder.ts'
import { endTurn } from './endings.ts'

type ToolFact = Extract<
  OutcomeCommand,
  { kind: 'tool_succeeded' | 'tool_failed' | 'tool_in_doubt' | 'tool_reused' | 'tool_changed' | 'files_changed' }
>
type Succeeded = Extract<OutcomeCommand, { kind: 'tool_succeeded' }>

/** Stages in which the end of the last attempt still decides the call. */
const UNSETTLED: ReadonlySet<CallStage['at']> = new Set<CallStage['at']>(['running', 'doubt', 'resolved'])

export function decideToolFact(d: DecisionBuilder, fact: ToolFact): void {
  const call = callsOf(d.state).find((one) => one.id === fact.toolCallId)
  // An outcome counts for its own attempt, whichever driver reports it. If a person released the call, the arrived end
  // of the attempt prevents another start.
  if (fact.kind === 'tool_changed' && call?.attempt === fact.attempt && call.stage.at === 'approval')
    return voided(d, call, fact)
  if (call?.attempt !== fact.attempt || !UNSETTLED.has(call.stage.at)) {
    // An attempt that did nothing has no late outcome.
    if (fact.kind !== 'tool_changed' && fact.kind !== 'files_changed') lateOutcome(d, fact)
    return
  }
  if (fact.kind === 'tool_reused') return endFromRecord(d, call, fact)
  if (fact.kind === 'tool_succeeded') return succeeded(d, call, fact)
  if (fact.kind === 'tool_in_doubt') return callInDoubt(d, call, fact)
  if (fact.kind === 'tool_changed') return voided(d, call, fact)
  if (fact.kind === 'files_changed') return filesChanged(d, call, fact)
  callFailed(d, call, fact)
}

/**
 * The tool changed, so an approval of the earlier tool is void. A person is asked again if the changed tool accepts the
 * arguments; otherwise the call fails.
 */
function voided(d: DecisionBuilder, call: Call, fact: Extract<OutcomeCommand, { kind: 'tool_changed' }>): void {
  const { reason, tool, fits, durationMs } = fact
  const waits = call.stage.at === 'approval'
  const asked = waits || (call.stage.at === 'running' && needsApproval(d.state, call) !== null)
  const asks = asked && d.state.cancel === null
  const message = `nothing was done: ${reason}`
  if (!asks || call.lost >= MAX_LOST)
    return failCall(d, call, { code: 'CONFLICT', message: `${message}; start another run` }, { durationMs })
  const { argumentsHash } = call
  d.emit('approval_voided', { attempt: call.attempt + 1, argumentsHash, reason, tool }, { toolCallId: call.id })
  if (fits) askApproval(d, call, `the approval is void: ${reason}`)
  else failCall(d, call, { code: 'CONFLICT', message: `${message}, and does not take these arguments any more` })
}

/** An approved file changed, so the approval is void. A person is asked again if the call still needs an approval. */
function filesChanged(d: DecisionBuilder, call: Call, fact: Extract<OutcomeCommand, { kind: 'files_changed' }>): void {
  const { reason, durationMs } = fact
  if (d.state.cancel !== null || call.lost >= MAX_LOST)
    return failCall(d, call, { code: 'CONFLICT', message: `nothing was done: ${reason}` }, { durationMs })
  const { argumentsHash } = call
  d.emit('approval_voided', { attempt: call.attempt + 1, argumentsHash, reason }, { toolCallId: call.id })
  if (needsApproval(d.state, call) !== null) askApproval(d, call, `the approval is void: ${reason}`)
}

function succeeded(d: DecisionBuilder, call: Call, outcome: Succeeded): void {
  const tool = outcome.control === undefined ? undefined : controlToolNamed(call.toolName)
  if (tool === undefined || outcome.control === undefined) return endCall(d, call, outcome)
  if (graceIsOver(d.state, d.context.now)) {
    failCall(d, call, { code: 'TIMEOUT', message: 'the grace time has passed' })
    return
  }
  const { input, findings } = outcome.control
  const { events, end, completion } = tool.decide(d.state, call, input, findings)
  for (const { type, body } of events) d.emit(type, body, { toolCallId: call.id })
  if (end === null) return
  if ('error' in end) return failCall(d, call, end.error, { durationMs: 0, reused: outcome.reused })
  endCall(d, call, { ...outcome, result: end })
  if (completion !== undefined) complete(d, completion)
}

/** The only way to DONE (seed 000, 5.1). */
function complete(d: DecisionBuilder, completion: BodyOf<'completion'>): void {
  endTurn(d, 'calls')
  const { turn, machine } = d.state
  if (recoveryOf(machine) !== null) d.emit('recovery', { phase: 'succeeded' }, { turn })
  d.emit('completion', completion, { turn })
}
