import type { Call } from '../../calls/call.ts'
import { failCall } from '../../calls/decide/endings.ts'
import { allowedBy } from '../../calls/decided.ts'
import type { PlannedCall } from '../../calls/events/event-parts.ts'
import { followsRecord } from '../state/reuse-rules.ts'
import { callsOf } from '../state/state.ts'
import type { DecisionBuilder } from './decision-builder.ts'
import type { CallOfRecord, LeaveRecord, RecordedOfCall } from './reuse-commands.ts'

// Decisions of a fork that copies recorded outcomes (seed 000, 5.9).

/** Adds the place of the recorded outcome to a planned call, if the recorded call has the same tool and arguments. */
export function withRecord(planned: PlannedCall, found: RecordedOfCall | null): PlannedCall {
  if (found === null || planned.refused !== undefined) return planned
  if (found.toolName !== planned.toolName || found.argumentsHash !== planned.argumentsHash) return planned
  const { place, refused } = found
  if (refused === null) return { ...planned, recorded: place }
  const { secrets: _, ...call } = planned
  return { ...call, refused, recorded: place }
}

/**
 * Starts a planned call from the record; false: the call begins normally. Outcomes are copied one at a time in recorded
 * order, because each restores files. At the first call without an outcome, once no copy is running, the fork stops
 * following the record.
 */
export function beginsFromRecord(d: DecisionBuilder, call: Call): boolean {
  const calls = callsOf(d.state)
  if (calls.some(({ reused, stage }) => reused && stage.at === 'running')) return true
  if (call.stage.at !== 'planned' || !followsRecord(d.state)) return false
  if (call.recorded === undefined) {
    leaveRecord(d, { toolCallId: call.id, reason: 'the record has no outcome of this call that could be taken' })
    return false
  }
  const before = calls.some(
    ({ recorded, refused, stage }) =>
      recorded !== undefined &&
      refused === null &&
      stage.at === 'planned' &&
      recorded.revision < (call.recorded?.revision ?? 0),
  )
  if (before) return true
  const { toolName, index, argumentsRef, argumentsHash, effect } = call
  const start = {
    toolName,
    index,
    argumentsRef,
    argumentsHash,
    attempt: 1,
    effect,
    intent: true,
    decided: allowedBy(d.caller, toolName, undefined),
    reused: true,
  } as const
  d.emit('tool_call_start', start, { toolCallId: call.id })
  return true
}

/** Ends a call with the recorded outcome and the files after it. */
export function endFromRecord(d: DecisionBuilder, call: Call, fact: CallOfRecord): void {
  const { end, attached, durationMs, place, tree, artifacts } = fact
  for (const artifact of artifacts) d.emit('artifact_registered', { artifact }, { toolCallId: call.id })
  const attachment = attached === undefined ? {} : { attachment: attached.attachment }
  const body = { ...end, ...attachment, step: d.state.step + 1, attempt: call.attempt, durationMs, reused: place }
  d.emit('tool_call_end', body, { toolCallId: call.id })
  const { unversioned } = d.state
  if (unversioned !== null && tree !== null) d.emit('workspace_versioned', { step: unversioned.to, tree })
}

type Left = Pick<LeaveRecord, 'reason'> & Partial<Pick<LeaveRecord, 'toolCallId' | 'differs' | 'recorded'>>

export function leaveRecord(d: DecisionBuilder, { reason, toolCallId = null, differs = [], recorded }: Left): void {
  const compared = recorded === undefined ? {} : { recorded }
  d.emit('reuse_ended', { reason, differs: [...differs], ...compared }, toolCallId === null ? {} : { toolCallId })
}

/** A call whose recorded outcome cannot be copied fails. It does not run instead, because no person approved that. */
export function decideLeave(d: DecisionBuilder, fact: LeaveRecord): void {
  if (!followsRecord(d.state) || d.state.turn !== fact.turn) return
  const { toolCallId } = fact
  if (toolCallId === null) return leaveRecord(d, fact)
  const call = callsOf(d.state).find(({ id }) => id === toolCallId)
  if (call?.stage.at !== 'running' || !call.reused) return
  leaveRecord(d, fact)
  const message = `it was not performed: ${fact.reason}; call it again where it is still needed`
  failCall(d, call, { code: 'INTERRUPTED', message })
}
