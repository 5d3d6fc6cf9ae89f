import type { Call } from '../../calls/call.ts'
import { failCall } from '../../calls/decide/endings.ts'
import { beginCall, settleCall, settleOpenCall } from '../../calls/decide/proceed.ts'
import { startable } from '../../calls/scheduling.ts'
import { needsApproval } from '../rules/policy.ts'
import { undecided } from '../state/loss-rules.ts'
import { REQUEST_MS } from '../state/message-bus.ts'
import { heldByLoss } from './decide-losses.ts'
import { endPermissions, withdrawn } from './decide-permissions.ts'
import { beginsFromRecord } from './decide-reuse.ts'
import type { DecisionBuilder } from './decision-builder.ts'
import { leaveChild } from './forward-to-children.ts'

/** Processes each open call once. Returns whether an event was emitted. */
export function proceedCalls(d: DecisionBuilder): boolean {
  const before = d.drafts.length
  endPermissions(d)
  for (const call of d.calls) settleOne(d, call)
  if (!d.state.paused) {
    for (const call of startable(d.state, d.calls)) begin(d, call)
  }
  return d.drafts.length > before
}

function settleOne(d: DecisionBuilder, call: Call): void {
  const { stage } = call
  if (stage.at !== 'reply') return settleCall(d, call, d.state.paused)
  if (d.context.now >= stage.until) failCall(d, call, { code: 'TIMEOUT', message: NO_ANSWER, rule: 'no_reply' })
}

const NO_ANSWER = `no answer came within ${REQUEST_MS / 1_000} s; one that still comes is shown as a message`

function begin(d: DecisionBuilder, call: Call): void {
  if (heldByLoss(d, call) || beginsFromRecord(d, call) || withdrawn(d, call)) return
  beginCall(d, call, needsApproval(d.state, call))
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
  for (const call of d.calls) {
    const { stage } = call
    if (stage.at === 'ended') continue
    if (lost.has(call.id)) {
      failCall(d, call, { code: 'UNKNOWN_OUTCOME', message: `${message}; whether this call happened is not known` })
    } else if (stage.at === 'child') {
      if (!force) {
        settled = false
        continue
      }
      leaveChild(d, stage.childId, message)
      failCall(d, call, { code, message: `${message}; the agent ${stage.childId} was not reached in time` })
    } else if (!settleOpenCall(d, call, { code, message }, force)) settled = false
  }
  return settled
}
