import { approver } from '../../calls/decide/approvals.ts'
import { CommandRejected } from '../../calls/errors.ts'
import { isDelivery } from '../../courier/delivery-commands.ts'
import { hex, isKeyed } from '../../log/ids.ts'
import { echo } from '../../log/issues.ts'
import type { Decision as StreamDecision } from '../../stream/aggregate.ts'
import type { AgentEvent } from '../events/events.ts'
import { admit } from '../rules/admission.ts'
import { withoutDecided } from '../state/loss-rules.ts'
import { type AgentState, isFinished } from '../state/state.ts'
import type { AgentCommand, OutcomeCommand } from './commands.ts'
import { decideChildLost, decideDelivered, decideDelivery } from './decide-deliveries.ts'
import { decideFork } from './decide-fork.ts'
import { decideLate } from './decide-late.ts'
import { refuseRequests } from './decide-messages.ts'
import { decideOutcome } from './decide-outcomes.ts'
import { refuseStanding } from './decide-permissions.ts'
import { decideRequest } from './decide-requests.ts'
import { endRestore, requestRestore } from './decide-restores.ts'
import { DecisionBuilder } from './decision-builder.ts'
import type { DecisionContext } from './decision-context.ts'
import { endRun } from './endings.ts'
import { settleOpen } from './proceed.ts'
import { report } from './report-to-parent.ts'

type Decision = StreamDecision<AgentState, AgentEvent>

/** The agent's identity, and the revision of its stream (-1: no stream). */
export interface Identity {
  readonly agentId: string
  readonly runId: string
  readonly revision: number
}

/** The mapped type makes the compiler check that every kind of outcome is listed. */
const OUTCOMES: Readonly<Record<OutcomeCommand['kind'], true>> = {
  claim: true,
  proceed: true,
  model_answered: true,
  model_failed: true,
  model_held: true,
  tool_succeeded: true,
  tool_failed: true,
  tool_in_doubt: true,
  tool_changed: true,
  files_changed: true,
  tool_reused: true,
  reuse_left: true,
  versioned: true,
  drift_found: true,
}

const isOutcome = (command: AgentCommand): command is OutcomeCommand => Object.hasOwn(OUTCOMES, command.kind)

/**
 * Decides a command. Pure, given the context. Throws CommandRejected or DeliveryRefused for requests and deliveries.
 * Outcomes are never rejected: a repeated or late outcome emits no event.
 */
export function decideAgent(
  state: AgentState | null,
  identity: Identity,
  command: AgentCommand,
  context: DecisionContext,
): Decision {
  if (command.kind === 'fork') {
    if (state !== null) throw exists(identity)
    const draft = decideFork(command.source, identity.agentId, command.link, context)
    return { drafts: [draft], state: draft.after }
  }
  const d = new DecisionBuilder(state, identity, context)
  if (command.kind === 'start') {
    if (state !== null) throw exists(identity)
    admit(command.spec)
    refuseStanding(command.spec, command.approve ?? [])
    d.emit('agent_started', {
      spec: command.spec,
      depth: command.birth?.depth ?? 0,
      hashSalt: hex(context.salt()),
      ...(command.birth ? { parent: command.birth.parent } : {}),
      ...(command.drive ? { drive: true } : {}),
    })
    if (command.task !== null) d.emit('user_input', { text: command.task })
    if (command.approve) d.emit('standing_approval', { tools: command.approve }, { actor: approver(context) })
    return { drafts: d.drafts, state: d.state }
  }
  if (isDelivery(command)) {
    decideDelivery(d, state, command)
    return state === null ? { drafts: d.drafts, state: d.state } : decided(d, state)
  }
  if (state === null) throw new CommandRejected('RUN_UNKNOWN', `there is no agent ${echo(identity.agentId)}`)
  if (command.kind === 'accept_loss') {
    d.emit('loss_accepted', { ...command.loss, calls: withoutDecided(state, command.loss.calls) })
    return decided(d, state)
  }
  if (command.kind === 'delivered' || command.kind === 'child_lost') {
    const { kind: _, ...body } = command
    if ('target' in body) decideDelivered(d, body)
    else decideChildLost(d, body)
    return decided(d, state)
  }
  if (command.kind === 'restore' || command.kind === 'restore_ended') {
    if (command.kind === 'restore') requestRestore(d, command)
    else endRestore(d, command)
    return decided(d, state)
  }
  if (isOutcome(command)) return decided(afterOutcome(state, identity, command, context), state)
  decideRequest(d, command)
  // Records an idempotency key that caused no event, so that a later repetition does nothing either.
  if (d.drafts.length === 0 && isKeyed(context.commandId)) d.emit('request_noted', { request: command.kind })
  return decided(d, state)
}

function decided(d: DecisionBuilder, before: AgentState): Decision {
  refuseRequests(d)
  report(d)
  return { drafts: d.drafts, state: d.drafts.length > 0 ? d.state : before }
}

/**
 * Decides the consequences of an outcome. If the decision throws, the run ends with INTERNAL_ERROR, because the next
 * drive would pay for the same outcome again and meet the same error.
 */
function afterOutcome(
  state: AgentState,
  identity: Identity,
  outcome: OutcomeCommand,
  context: DecisionContext,
): DecisionBuilder {
  const d = new DecisionBuilder(state, identity, context)
  try {
    if (isFinished(state)) decideLate(d, outcome)
    else decideOutcome(d, outcome)
    return d
  } catch (fault) {
    const ending = new DecisionBuilder(state, identity, context)
    if (isFinished(state) || !ending.drives) throw fault
    try {
      endByFault(ending, fault)
    } catch {
      throw fault
    }
    return ending
  }
}

function endByFault(d: DecisionBuilder, fault: unknown): void {
  const why = `what follows could not be decided: ${fault instanceof Error ? fault.message : String(fault)}`
  settleOpen(d, 'CANCELLED', 'the run has ended', true)
  endRun(d, 'INTERNAL_ERROR', why)
}

const exists = ({ agentId }: Identity) => new CommandRejected('RUN_EXISTS', `${agentId} was started before`)
