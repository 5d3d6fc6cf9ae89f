import type { Actor } from '../../log/envelope.ts'
import { saltedHash } from '../../log/ids.ts'
import { instantText } from '../../log/instant.ts'
import { echo } from '../../log/issues.ts'
import type { StreamContext } from '../../stream/aggregate.ts'
import { approversOf, supportersOf } from '../approvers.ts'
import type { Call } from '../call.ts'
import { type Decided, policyHash } from '../decided.ts'
import { CommandRejected } from '../errors.ts'
import type { CallBodyOf } from '../events/events.ts'
import { approvalHash, type SeenFile, storedFile } from '../question-hash.ts'
import type { CallDecision } from './decision.ts'

// Questions to people about calls that need an approval, and people's decisions.

/** Asks a person about a call. The request expires after the policy's `approvalTtlMs`. */
export function askApproval(d: CallDecision, call: Call, reason: string): void {
  const { id, toolName, argumentsRef, argumentsHash } = call
  const expiresAt = instantText(d.context.now + d.caller.spec.policy.approvalTtlMs)
  // A changed tool may have given the call another effect.
  const approvers = approversOf(d.caller, d.calls.find((one) => one.id === id) ?? call)
  const several = approvers === null ? {} : { approvers }
  const body = { toolName, argumentsRef, argumentsHash, expiresAt, reason, ...several }
  d.emit('approval_requested', body, { toolCallId: id })
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

/** What the rules of access say now about the person who decides, and those who approved the call before. */
export interface Approvers {
  /** Other ids of the person who decides. */
  readonly otherIds?: readonly string[] | undefined
  /** Ids of people whose approvals do not count any more. */
  readonly lapsed?: readonly string[] | undefined
}

/** A person's decision on a call. `questionHash` and `files`: the question as the person saw it. */
export interface ApprovalDecision extends Approvers {
  readonly toolCallId: string
  readonly decision: 'approved' | 'rejected'
  readonly questionHash?: string | undefined
  readonly files?: readonly SeenFile[] | undefined
  readonly reason?: string | undefined
}

/**
 * Records a person's decision on a call that waits for it. Where several people must approve, all but the last approval
 * only support the call. A rejection decides at once. Throws CommandRejected CALL_NOT_OPEN, APPROVAL_NOT_PENDING,
 * APPROVAL_EXPIRED, APPROVAL_REPEATED or QUESTION_CHANGED.
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
  const { files = [], decision, reason, lapsed, otherIds } = command
  const hash = approvalHash(call, call.stage.expiresAt, files)
  mustBeAsked(command, hash)
  const { spec, hashSalt } = d.caller
  const decided: Decided = {
    method: 'person',
    policyHash: policyHash(spec.policy),
    askedAt: instantText(call.stage.expiresAt - spec.policy.approvalTtlMs),
    ...(command.questionHash !== undefined && { shownHash: saltedHash(hashSalt, hash) }),
  }
  const question = saltedHash(hashSalt, hash)
  const needed = call.stage.needed ?? 1
  if (decision === 'approved' && recordSupport(d, call, { needed, question, decided, reason, lapsed, otherIds })) return
  const seen = files.map((file) => storedFile(hashSalt, file))
  emitDecided(d, call, {
    decision,
    decided,
    reason,
    ...(decision === 'approved' && seen.length > 0 && { files: seen }),
  })
}

interface Support extends Approvers {
  /** How many people must approve. */
  readonly needed: number
  readonly question: string
  readonly decided: Decided
  readonly reason?: string | undefined
}

/**
 * Records the approval of one of several people. False: the person is the last one, and nothing is recorded. Throws
 * CommandRejected APPROVAL_REPEATED if the person has approved this question before, under this or another id.
 */
export function recordSupport(
  d: CallDecision,
  call: Call,
  { needed, question, decided, reason, lapsed, otherIds = [] }: Support,
): boolean {
  const before = supportersOf(call, question)
  const supporters = supportersOf(call, question, lapsed)
  const missing = needed - supporters.length
  const { id } = approver(d.context)
  const own = supporters.find(({ by }) => by === id || otherIds.includes(by))
  if (own !== undefined) {
    const who = own.by === id ? echo(id) : `${echo(id)}, who is also ${echo(own.by)},`
    throw new CommandRejected(
      'APPROVAL_REPEATED',
      `${who} has approved ${call.id} before; ${missing === 1 ? 'another person' : `${missing} other people`} must approve it`,
    )
  }
  if (missing <= 1) return false
  const gone = before.filter((one) => !supporters.includes(one)).map(({ by }) => by)
  const body = {
    ...{ decided, argumentsHash: call.argumentsHash, question },
    ...(gone.length > 0 && { lapsed: gone }),
    ...(reason !== undefined && { reason }),
  }
  d.emit('approval_supported', body, { toolCallId: call.id, actor: approver(d.context) })
  return true
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
