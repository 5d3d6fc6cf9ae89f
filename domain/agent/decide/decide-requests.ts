import { decideApproval, emitDecided, questionChanged } from '../../calls/decide/approvals.ts'
import { allowedBy } from '../../calls/decided.ts'
import { CommandRejected } from '../../calls/errors.ts'
import { needsApproval } from '../rules/policy.ts'
import { isFinished } from '../state/state.ts'
import { isHidden } from '../window/compression-state.ts'
import type { TurnRange } from '../window/segment.ts'
import type { UserCommand } from './commands.ts'
import { resolveAfterEnd, resolveDoubt } from './decide-doubt.ts'
import { releaseLoss } from './decide-losses.ts'
import { refuseStanding, revokePermission } from './decide-permissions.ts'
import { publishForPerson, takeFromPerson } from './decide-person-messages.ts'
import type { DecisionBuilder } from './decision-builder.ts'
import { forwardPause, forwardResume } from './forward-to-children.ts'
import { settleCancel } from './proceed.ts'

// Requests of people are only recorded; a driver takes the steps that follow.

type Request = Exclude<UserCommand, { kind: 'start' | 'erase' }>

export function decideRequest(d: DecisionBuilder, command: Request): void {
  if (isFinished(d.state) && command.kind === 'resolve_doubt' && command.decision !== 'run')
    return resolveAfterEnd(d, command)
  if (isFinished(d.state)) {
    const { machine } = d.state
    const cancelled = machine.status === 'ERROR' && machine.code === 'CANCELLED'
    const how = cancelled ? 'was cancelled' : `has ended in ${machine.status}`
    throw new CommandRejected('RUN_FINISHED', `the run ${how}; fork it to go on from there`)
  }
  switch (command.kind) {
    case 'input':
      if (command.toolCallId !== undefined && !isAsked(d, command.toolCallId)) throw questionChanged(ANSWERED)
      d.emit('user_input', { text: command.text })
      return
    case 'send_message':
      return takeFromPerson(d, command)
    case 'publish':
      return publishForPerson(d, command)
    case 'pause':
      if (d.state.paused) return
      d.emit('paused', command.reason === undefined ? {} : { reason: command.reason })
      return forwardPause(d, command.reason)
    case 'resume':
      // A run that was never driven waits for this request.
      if (!d.state.paused && !d.state.stepping && d.state.driver !== null) return
      d.emit('resumed', {})
      return forwardResume(d)
    case 'step':
      // The step ends with its turn, and the turn with its children. Children are resumed instead of stepped.
      if (d.state.paused) forwardResume(d)
      d.emit('step_requested', {})
      return
    case 'cancel': {
      if (d.state.cancel !== null) return
      const reason = command.reason === undefined ? {} : { reason: command.reason }
      d.emit('cancel_requested', { ...reason, deadlineMs: command.deadlineMs })
      settleCancel(d)
      return
    }
    case 'standing_approval': {
      refuseStanding(d.state.spec, command.tools)
      const reason = command.reason === undefined ? {} : { reason: command.reason }
      d.emit('standing_approval', { tools: command.tools, ...reason })
      for (const call of d.calls) {
        const { stage, toolName } = call
        if (stage.at !== 'approval' || d.context.now >= stage.expiresAt) continue
        if (needsApproval(d.state, call) === null)
          emitDecided(d, call, {
            decision: 'approved',
            decided: allowedBy(d.caller, toolName, undefined),
            reason: command.reason,
          })
      }
      return
    }
    case 'expand_context':
      return expandContext(d, command.turns)
    case 'decide_approval':
      return decideApproval(d, command)
    case 'revoke_permission':
      return revokePermission(d, command)
    case 'resolve_doubt':
      return resolveDoubt(d, command)
    case 'release_loss':
      return releaseLoss(d, command)
  }
}

function expandContext(d: DecisionBuilder, turns: TurnRange | undefined): void {
  const hidden = d.state.compression.segments.filter(isHidden).map((segment) => segment.turns)
  const meant = hidden.some(({ from, to }) => turns === undefined || (from <= turns.to && to >= turns.from))
  if (!meant) {
    const which = hidden.map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`)).join(', ')
    const why = hidden.length === 0 ? 'requests show every turn' : `these turns are not; hidden are ${which}`
    throw new CommandRejected('NOTHING_HIDDEN', `there is nothing hidden to show: ${why}`)
  }
  d.emit('context_expanded', turns === undefined ? {} : { turns })
}

/** Does the agent wait for the answer to this call of `ask_user`? */
function isAsked({ state, agentId }: DecisionBuilder, toolCallId: string): boolean {
  return state.machine.status === 'IDLE' && state.unread === 0 && toolCallId.startsWith(`${agentId}.t${state.turn}.c`)
}

const ANSWERED = 'it was answered, or the agent asks another one'
