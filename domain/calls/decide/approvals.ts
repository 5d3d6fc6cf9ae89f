import type { Actor } from '../../log/envelope.ts'
import { saltedHash } from '../../log/ids.ts'
import { instantText } from '../../log/instant.ts'
import { echo } from '../../log/issues.ts'
import type { StreamContext } from '../../stream/aggregate.ts'
import type { Call } from '../call.ts'
import { type Decided, policyHash } from '../decided.ts'
import { CommandRejected } from '../errors.ts'
import type { CallBodyOf } from '../events/events.ts'
import { approvalHash, type SeenFile, storedFile } from '../question-hash.ts'
import type { CallDecision } from './decision.ts'

// Questions to people about calls that need an approval, and people's decisions.

/** Asks a person about a call. The request expires after the policy's `approvalTtlMs`. */
export function askApproval(
  d: CallDecision,
  { id, toolName, argumentsRef, argumentsHash }: Call,
  reason: string,
): void {
  const expiresAt = instantText(d.context.now + d.caller.spec.policy.approvalTtlMs)
  d.emit('approval_requested', { toolName, argumentsRef, argumentsHash, expiresAt, reason }, { toolCallId: id })
}

/** Throws CommandRejected CALL_NOT_OPEN. */
export function openCall(d: CallDecision, toolCallId: string): Call {
  const call = d.calls.find((one) => one.id === toolCallId)
  if (call === undefined) {
    throw new CommandRejected(
      'CALL_NOT_OPEN',
      `${echo(toolCallId)} is no open call of ${d.caller.agentId}; it may have ended`,
    )
  }
  return call
}

/** A person's decision on a call. `questionHash` and `files`: the question as the person saw it. */
export interface ApprovalDecision {
  readonly toolCallId: string
  readonly decision: 'approved' | 'rejected'
  readonly questionHash?: string | undefined
  readonly files?: readonly SeenFile[] | undefined
  readonly reason?: string | undefined
}

/**
 * Records a person's decision on a call that waits for it. Throws CommandRejected CALL_NOT_OPEN, APPROVAL_NOT_PENDING,
 * APPROVAL_EXPIRED or QUESTION_CHANGED.
 */
export function decideApproval(d: CallDecision, command: ApprovalDecision): void {
  const call = openCall(d, command.toolCallId)
  if (call.stage.at !== 'approval') {
    throw new CommandRejected(
      'APPROVAL_NOT_PENDING',
      `${call.id} does not wait for an approval; it may have been decided before`,
    )
  }
  if (d.context.now >= call.stage.expiresAt) {
    throw new CommandRejected('APPROVAL_EXPIRED', `the approval of ${call.id} has expired`)
  }
  const { files = [], decision, reason } = command
  const hash = approvalHash(call, call.stage.expiresAt, files)
  mustBeAsked(command, hash)
  const { spec, hashSalt } = d.caller
  const decided: Decided = {
    method: 'person',
    policyHash: policyHash(spec.policy),
    askedAt: instantText(call.stage.expiresAt - spec.policy.approvalTtlMs),
    ...(command.questionHash !== undefined && { shownHash: saltedHash(hashSalt, hash) }),
  }
  const seen = files.map((file) => storedFile(hashSalt, file))
  emitDecided(d, call, {
    decision,
    decided,
    reason,
    ...(decision === 'approved' && seen.length > 0 && { files: seen }),
  })
}

/** Throws CommandRejected QUESTION_CHANGED if the person answered another question than the open one. */
export function mustBeAsked({ questionHash }: { questionHash?: string | undefined }, hash: string | null): void {
  if (questionHash !== undefined && questionHash !== hash) throw questionChanged(OTHER)
}

export const questionChanged = (why: string) =>
  new CommandRejected('QUESTION_CHANGED', `the question has changed since it was shown: ${why}; look again`)
const OTHER = 'the call, its arguments, or a file that it rests on is another one'

export function emitDecided(
  d: CallDecision,
  call: Call,
  { reason, ...given }: Omit<CallBodyOf<'approval_decided'>, 'argumentsHash'>,
): void {
  const { argumentsHash, id: toolCallId } = call
  const body = { ...given, argumentsHash, ...(reason === undefined ? {} : { reason }) }
  d.emit('approval_decided', body, { toolCallId, actor: approver(d.context) })
}

export const approver = ({ by }: Pick<StreamContext, 'by'>): Actor => ({ ...by, kind: 'approver' })
