import { decideApproval } from '../calls/decide/approvals.ts'
import { type Decided, policyHash } from '../calls/decided.ts'
import { CommandRejected } from '../calls/errors.ts'
import { questionHash } from '../calls/question-hash.ts'
import { isDelivery } from '../courier/delivery-commands.ts'
import { READER } from '../log/envelope.ts'
import { instantText } from '../log/instant.ts'
import type { StreamPlace } from '../stream/aggregate.ts'
import { cost } from '../tree/money.ts'
import type { Price } from '../tree/spec.ts'
import type { ExternalCommand, ExternalContext, ExternalFact } from './commands.ts'
import { decideCalls, settleExternalCalls } from './decide-calls.ts'
import { decideExternalDelivered, decideExternalDelivery } from './decide-deliveries.ts'
import { CANCELLED_UNSTARTED, type ExternalDecision, ExternalDecisionBuilder, RUNTIME } from './decision-builder.ts'
import { decideHosted, endIfCancelled, settleModelCalls } from './hosted/decide.ts'
import { decideReport, NEVER_REPORTED } from './reported/decide.ts'
import { type ExternalState, goesOn, inDoubt, isReported, isRunOver, nextAskId } from './state.ts'
import { overBudget, type ReportedUsage, withoutEarlier } from './usage.ts'

/**
 * Decides a command. Throws `RUN_EXISTS` for a second start and `RUN_UNKNOWN` for a request to an unknown run. A
 * decision that is not waited for throws `APPROVAL_NOT_PENDING` or `QUESTION_CHANGED`. A cancel of a finished run
 * records nothing.
 */
export function decideExternal(
  state: ExternalState | null,
  place: StreamPlace,
  command: ExternalCommand,
  context: ExternalContext,
): ExternalDecision {
  const d = new ExternalDecisionBuilder(state, place, context)
  take(d, command, context)
  return d.decision
}

function take(d: ExternalDecisionBuilder, command: ExternalCommand, context: ExternalContext): void {
  const { state } = d
  if (command.kind === 'series') for (const one of command.commands) take(d, one, context)
  else if (command.kind === 'start') start(d, state, command, context)
  else if (command.kind === 'report') decideReport(d, command)
  else if (isDelivery(command)) decideExternalDelivery(d, state, command)
  else if (state === null) throw new CommandRejected('RUN_UNKNOWN', 'there is no such external run; start it first')
  else if (command.kind === 'cancel') cancel(d, state, command)
  else if (command.kind === 'decide_permission') permit(d, state, command)
  else if (command.kind === 'delivered') decideExternalDelivered(d, state, command)
  else bring(d, state, command)
}

function start(
  d: ExternalDecisionBuilder,
  state: ExternalState | null,
  command: Extract<ExternalCommand, { kind: 'start' }>,
  { commandId }: ExternalContext,
): void {
  if (state?.commands[0] === commandId) return
  if (state !== null) throw new CommandRejected('RUN_EXISTS', 'this external run was started before')
  const { backend, request, capabilities, parent, hosting, continues } = command
  const started = {
    ...{ backend, request, capabilities: [...capabilities] },
    ...(hosting !== undefined && { hosting: { ...hosting, hashSalt: d.hashSalt() } }),
    ...(continues !== undefined && { continues }),
  }
  if (parent === undefined) return d.emit('external_started', started)
  const { runId, ...from } = parent
  d.emit('external_started', { ...started, parent: from }, { runId })
}

function cancel(
  d: ExternalDecisionBuilder,
  state: ExternalState,
  { reason, by }: Extract<ExternalCommand, { kind: 'cancel' }>,
): void {
  // The program of a hosted run may never come back, so a second cancel ends the run without it.
  if (state.cancelledAt !== null) return endIfCancelled(d, true)
  if (isRunOver(state)) return
  d.emit('cancel_requested', reason === undefined ? {} : { reason }, by === undefined ? {} : { actor: by })
  if (isReported(state)) d.emit('external_ended', NEVER_REPORTED)
  else if (state.stage.at === 'requested') d.emit('external_ended', CANCELLED_UNSTARTED)
  else endIfCancelled(d)
}

function permit(
  d: ExternalDecisionBuilder,
  { permissions, tools }: ExternalState,
  command: Extract<ExternalCommand, { kind: 'decide_permission' }>,
): void {
  const { toolCallId, decision, reason } = command
  if (tools?.open.some(({ id }) => id === toolCallId)) return decideApproval(d, command)
  const asked = permissions.last.find((one) => one.toolCallId === toolCallId)
  if (asked?.decision !== null)
    throw new CommandRejected('APPROVAL_NOT_PENDING', `${toolCallId} waits for no approval; look at the run`)
  const { argumentsHash, askedAt } = asked
  const hash = questionHash({ for: 'approval', toolCallId, argumentsHash, asked: null })
  if (command.questionHash !== undefined && command.questionHash !== hash)
    throw new CommandRejected('QUESTION_CHANGED', `${toolCallId} asks for something else; look at it again`)
  const said = reason === undefined ? {} : { reason }
  const decided: Decided = {
    method: 'person',
    policyHash: tools === undefined ? null : policyHash(tools.spec.policy),
    askedAt: instantText(askedAt),
    ...(command.questionHash !== undefined && { shownHash: hash }),
  }
  d.emit('permission_decided', { toolCallId, requestHash: argumentsHash, decision, decided, ...said })
}

/** Rejects a permission for whose decision the agent no longer waits. False: no such permission is open. */
function leavePermission(d: ExternalDecisionBuilder, { permissions, tools }: ExternalState, id: string): boolean {
  const asked = permissions.last.find(({ toolCallId, decision }) => toolCallId === id && decision === null)
  if (asked === undefined) return false
  const hash = tools === undefined ? null : policyHash(tools.spec.policy)
  const body = { toolCallId: id, requestHash: asked.argumentsHash, decision: 'rejected' } as const
  const decided = { method: 'policy', rule: 'unanswered', policyHash: hash } as const
  d.emit('permission_decided', { ...body, decided, reason: 'the agent did not wait any longer' }, { actor: RUNTIME })
  return true
}

/** Facts of a hosted run that only its present program may record, because a later program continues the run. */
const OF_PROGRAM: ReadonlySet<ExternalFact['kind']> = new Set(['permission', 'call_left', 'end'])

function bring(d: ExternalDecisionBuilder, state: ExternalState, fact: ExternalFact): void {
  const running = state.stage.at === 'running'
  if (OF_PROGRAM.has(fact.kind) && state.hosted !== undefined && !d.drives) return
  switch (fact.kind) {
    case 'claim': {
      if (isRunOver(state) || state.driver?.id === fact.driverId) return
      const epoch = (state.driver?.epoch ?? 0) + 1
      d.emit('driver_claimed', { driverId: fact.driverId, epoch, minReader: READER, keepup: fact.build })
      return
    }
    case 'proceed':
      if (state.stage.at === 'requested' && d.drives)
        d.emit('process_start', {
          epoch: state.driver!.epoch,
          ...(fact.confinement !== undefined && { confinement: fact.confinement }),
        })
      return
    case 'batch': {
      const events = fact.events.slice(Math.max(0, state.events.count - fact.first))
      if (fact.first > state.events.count) throw new Error('a batch is missing: bring in the batches in order')
      if (running && events.length > 0) d.emit('agent_events', { first: state.events.count, events: [...events] })
      return
    }
    case 'session':
      if (running && state.sessionId !== fact.sessionId) d.emit('session_known', { sessionId: fact.sessionId })
      return
    case 'usage':
      if (running) used(d, state, ownUsage(state, fact.usage))
      return
    case 'versioned': {
      const { kind: _, ...body } = fact
      if (!isRunOver(state)) d.emit('files_versioned', body)
      return
    }
    case 'permission': {
      const { kind: _, ...body } = fact
      if (running && body.toolCallId === nextAskId(state)) d.emit('permission_requested', body)
      return
    }
    case 'call_left':
      if (running && leavePermission(d, state, fact.toolCallId)) return
      return decideCalls(d, state, fact)
    case 'call':
    case 'calls_go_on':
    case 'tool_succeeded':
    case 'tool_failed':
    case 'tool_in_doubt':
    case 'tool_changed':
    case 'files_changed':
      return decideCalls(d, state, fact)
    case 'model_asked':
    case 'model_ended':
    case 'call_begins':
    case 'mirrored':
    case 'mirror_gap':
    case 'transcript_deleted':
      return decideHosted(d, state, fact)
    case 'end':
      if (running) settleModelCalls(d, true)
      if (running) settleExternalCalls(d, 'the agent that called has ended')
      if (running) d.emit('external_ended', fact.outcome)
      else if (state.stage.at === 'requested' && ['failed', 'cancelled'].includes(fact.outcome.outcome))
        d.emit('external_ended', fact.outcome)
      else if (state.stage.at === 'ended' && isUnlearned(state) && fact.outcome.outcome !== 'unknown')
        d.emit('outcome_learned', fact.outcome)
      return
    case 'reaped':
      if (!inDoubt(state)) return
      settleExternalCalls(d, 'the program that ran the agent was gone')
      d.emit('external_ended', { outcome: 'unknown', reason: unknownReason(fact.ended) })
  }
}

/**
 * The usage of the run alone. A session that the run started contains only the run's usage, and the usage before a
 * continued run is known. A report without a model gets the model of the request. A report without a cost is priced by
 * the request's price.
 */
function ownUsage(state: ExternalState, told: ReportedUsage): ReportedUsage {
  const { request, continues } = state
  const { extensions = {}, price } = request
  const asked = extensions['agent_api.config.model.v1']
  const usage = told.model === undefined && typeof asked === 'string' ? { ...told, model: asked } : told
  const { cost, models } = usage
  const own: ReportedUsage =
    continues !== undefined
      ? withoutEarlier(usage, continues.used)
      : goesOn(request)
        ? usage
        : {
            ...{ ...usage, scope: 'run', cost: cost && { ...cost, scope: 'run' } },
            ...(models !== undefined && { models: { ...models, scope: 'run' } }),
          }
  return own.cost === null && price !== undefined ? { ...own, cost: priced(own, price) } : own
}

/** Null: the number of tokens is unknown, or the cost is not a safe integer. */
function priced(
  { scope, inputTokens, cachedInputTokens, outputTokens }: ReportedUsage,
  price: Price,
): ReportedUsage['cost'] {
  if (inputTokens === null || outputTokens === null) return null
  const cacheRead = Math.min(cachedInputTokens ?? 0, inputTokens)
  try {
    const nanos = cost({ input: inputTokens - cacheRead, output: outputTokens, cacheRead, cacheWrite: 0 }, price)
    return { nanoDollars: nanos, scope, priced: true }
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** A run over its budget is cancelled as if by a person. */
function used(
  d: ExternalDecisionBuilder,
  { request: { budget }, cancelledAt }: ExternalState,
  usage: ReportedUsage,
): void {
  d.emit('usage_reported', usage)
  const over = budget === undefined ? null : overBudget(usage, budget)
  if (over !== null && cancelledAt === null) d.emit('cancel_requested', { reason: over }, { actor: RUNTIME })
}

const isUnlearned = ({ stage }: ExternalState): boolean =>
  stage.at === 'ended' && stage.outcome.kind === 'unknown' && !stage.outcome.learned

const unknownReason = (ended: number): string =>
  ended === 0
    ? 'the program that ran the agent was gone; how the agent ended was not seen'
    : 'the program that ran the agent was gone; its process was found and ended'
