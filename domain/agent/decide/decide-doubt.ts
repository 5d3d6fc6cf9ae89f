import { approversOf } from '../../calls/approvers.ts'
import type { Call } from '../../calls/call.ts'
import { mustBeAsked, openCall, recordSupport } from '../../calls/decide/approvals.ts'
import { endCall, failCall } from '../../calls/decide/endings.ts'
import { policyHash } from '../../calls/decided.ts'
import { CommandRejected } from '../../calls/errors.ts'
import { questionHash } from '../../calls/question-hash.ts'
import { saltedHash } from '../../log/ids.ts'
import { echo } from '../../log/issues.ts'
import { doubtHash } from '../rules/doubt-question.ts'
import { undecided } from '../state/loss-rules.ts'
import type { UserCommand } from './commands.ts'
import { decideLostCall } from './decide-losses.ts'
import type { DecisionBuilder } from './decision-builder.ts'

// A person's decision on a call with an unknown outcome.

type ResolveDoubt = Extract<UserCommand, { kind: 'resolve_doubt' }>

const notInDoubt = (toolCallId: string) =>
  new CommandRejected('OUTCOME_NOT_IN_DOUBT', `the outcome of ${echo(toolCallId)} is not in doubt`)

const lostCall = (d: DecisionBuilder, toolCallId: string) => undecided(d.state).find(({ id }) => id === toolCallId)

/** Throws CommandRejected CALL_NOT_OPEN, OUTCOME_NOT_IN_DOUBT, QUESTION_CHANGED or APPROVAL_REPEATED. */
export function resolveDoubt(d: DecisionBuilder, command: ResolveDoubt): void {
  const { decision, result } = command
  const lost = lostCall(d, command.toolCallId)
  if (lost !== undefined) {
    mustBeAsked(command, doubtHash(d.state, lost.id))
    return decideLostCall(d, lost, command)
  }
  const call = openCall(d, command.toolCallId)
  if (call.stage.at !== 'doubt') throw notInDoubt(call.id)
  mustBeAsked(command, doubtHash(d.state, call.id))
  if (decision === 'run' && awaitsOthers(d, call, command)) return
  recordResolution(d, command)
  if (decision === 'abandon') {
    const message = 'it is not known whether this call happened; it was abandoned'
    failCall(d, call, { code: 'UNKNOWN_OUTCOME', message })
  }
  if (decision === 'happened') {
    const content = result ?? 'A person confirmed that this call happened.'
    endCall(d, call, { result: { content }, durationMs: 0 })
  }
}

/**
 * Whether further people must approve that the call runs again: as many as for its first run. Records the approval of
 * this person. Throws CommandRejected APPROVAL_REPEATED.
 */
function awaitsOthers(d: DecisionBuilder, call: Call, command: ResolveDoubt): boolean {
  const needed = approversOf(d.caller, call)
  if (needed === null) return false
  const { hashSalt, spec } = d.caller
  const question = questionHash({ for: 'doubt', toolCallId: call.id, argumentsHash: call.argumentsHash, asked: null })
  const { questionHash: shown, reason, lapsed, otherIds } = command
  const decided = {
    ...{ method: 'person' as const, policyHash: policyHash(spec.policy) },
    ...(shown !== undefined && { shownHash: saltedHash(hashSalt, shown) }),
  }
  return recordSupport(d, call, { needed, question: saltedHash(hashSalt, question), decided, reason, lapsed, otherIds })
}

/** A person may decide an unknown outcome once, even after the run has ended. Throws as {@link resolveDoubt} does. */
export function resolveAfterEnd(d: DecisionBuilder, command: ResolveDoubt): void {
  if (!d.state.unresolved.includes(command.toolCallId)) throw notInDoubt(command.toolCallId)
  mustBeAsked(command, doubtHash(d.state, command.toolCallId))
  const lost = lostCall(d, command.toolCallId)
  if (lost === undefined) recordResolution(d, command)
  else decideLostCall(d, lost, command)
}

function recordResolution(d: DecisionBuilder, { toolCallId, decision, result, reason }: ResolveDoubt): void {
  const given = { ...(result !== undefined && { result }), ...(reason !== undefined && { reason }) }
  d.emit('tool_call_resolved', { decision, ...given }, { toolCallId })
}
