import { inputOf } from '../../calls/content.ts'
import { textOf } from '../../calls/requested-calls.ts'
import type { AppendRoot } from '../../log/root.ts'
import { ImpossibleEvent } from '../../stream/impossible.ts'
import type { AgentEvent, EventOf } from '../events/events.ts'
import { failedSinceAnswer, waitedFor } from '../routing/outage-state.ts'
import { hasSucceeded } from './controls.ts'
import { openedCalls, settleCalls } from './evolve-calls.ts'
import { evolveSummaryAnswer, summaryBegun, summaryLost, unpinned } from './evolve-context.ts'
import {
  type AgentState,
  activityOf,
  addSpent,
  callsOf,
  LOST_KEPT,
  type LostAttempt,
  type ModelStage,
  type Spent,
  turnIsOpen,
  withActivity,
} from './state.ts'
import { joinsMessages, NOTES } from './transcript.ts'

// The fold of a turn's model call and its end.

export const thinking = (state: AgentState, model: ModelStage) =>
  withActivity(state.machine, { status: 'THINKING', model })

export const grown = (state: AgentState, bytes: number) => ({ ...state.context, bytes: state.context.bytes + bytes })

function modelStage(state: AgentState, event: AgentEvent): ModelStage {
  const activity = activityOf(state.machine)
  if (activity?.status !== 'THINKING') throw new ImpossibleEvent(event, 'the agent is not thinking')
  return activity.model
}

/** One decision before each model call (5.7.1). Within a turn the model stays the same (5.7.4). */
export function evolveRouted(state: AgentState, event: EventOf<'model_routed'>): AgentState {
  // The intent that follows contains the model of a summary.
  if (event.body.purpose === 'summary') return state
  const stage = modelStage(state, event)
  const { resolved } = event.body
  if (stage.at !== 'unrouted' && stage.at !== 'backoff') throw new ImpossibleEvent(event, 'no model call is due')
  if (stage.at === 'backoff' && stage.model !== resolved)
    throw new ImpossibleEvent(event, `the turn has ${stage.model}`)
  const { attempt, lost } = stage.at === 'backoff' ? stage : { attempt: 1, lost: 0 }
  const outage = stage.at === 'backoff' && stage.outage ? { outage: stage.outage } : {}
  const held = stage.at === 'backoff' ? heldOf(stage) : {}
  return { ...state, machine: thinking(state, { at: 'routed', model: resolved, attempt, lost, ...outage, ...held }) }
}

/** The intent of a model call, with the model that the turn was routed to. */
export function called(state: AgentState, event: EventOf<'model_call_start'>): AgentState {
  if (event.body.purpose === 'summary') return summaryBegun(state, event)
  const stage = modelStage(state, event)
  const { model, attempt, estimate } = event.body
  if (stage.at !== 'routed' || stage.attempt !== attempt) throw new ImpossibleEvent(event, 'no model call is due')
  if (stage.model !== model) throw new ImpossibleEvent(event, `the turn was routed to ${stage.model}`)
  const epoch = state.driver?.epoch ?? 0
  const { lost } = stage
  const outage = stage.outage ? { outage: { waitedMs: stage.outage.waitedMs, from: event.at } } : {}
  const since = event.revision
  const calling = { at: 'calling', model, attempt, lost, epoch, estimate, since, ...outage, ...heldOf(stage) } as const
  return { ...state, machine: thinking(state, calling) }
}

type Billed = Pick<LostAttempt, 'usage' | 'nanoDollars'>

const spend = (spent: Spent, { usage, nanoDollars }: Billed, sign?: -1): Spent =>
  addSpent(spent, { ...usage, nanoDollars: nanoDollars ?? 0 }, sign)

/** The model's answer opens its calls; an answer without calls ends the model's part of the turn. */
export function answered(state: AgentState, event: EventOf<'model_call_end'>, append: AppendRoot): AgentState {
  if (event.body.purpose === 'summary')
    return { ...evolveSummaryAnswer(state, event), spent: spend(state.spent, event.body) }
  const model = modelStage(state, event)
  if (model.at !== 'calling' || model.attempt !== event.body.attempt) {
    throw new ImpossibleEvent(event, `model attempt ${event.body.attempt} is not open`)
  }
  const { content, calls, stopReason, cached, reused } = event.body
  // The messages have the same size, whether this run or the record paid for them.
  const usage = reused?.usage ?? cached ?? event.body.usage
  const next: AgentState = {
    ...state,
    spent: spend(state.spent, event.body),
    context: { tokens: Math.max(inputOf(usage), event.body.inputEstimate ?? 0) + usage.output, bytes: 0 },
    compression: unpinned(state.compression),
    messages: joinsMessages(event.body) ? append(state.messages, event.bodyHash) : state.messages,
    modelFailures: 0,
    failedModel: null,
    failedModels: [],
    lastText: textOf(content) || state.lastText,
  }
  if (calls.length > 0) {
    return { ...next, machine: withActivity(state.machine, { status: 'TOOL_WAIT', calls: openedCalls(state, event) }) }
  }
  const outcome = WITHOUT_CALLS[stopReason]
  return { ...next, machine: withActivity(state.machine, { status: 'OBSERVATION', outcome, calls: [], ended: false }) }
}

const WITHOUT_CALLS = {
  tool_use: 'text',
  end_turn: 'text',
  max_tokens: 'cut',
  pause_turn: 'paused',
  refusal: 'refused',
} as const

/** A failed model attempt. Another attempt is due after its delay, or the turn ends without an answer. */
export function failedAttempt(state: AgentState, event: EventOf<'error'>): AgentState {
  const model = modelStage(state, event)
  if (model.at !== 'calling') throw new ImpossibleEvent(event, 'no model call is open')
  const { attempt, delayMs } = event.body
  if (attempt !== model.attempt) throw new ImpossibleEvent(event, `model attempt ${attempt} is not open`)
  if (delayMs !== undefined) {
    const waitedMs = waitedFor(state, model, event.at) + delayMs
    const outage = event.body.outage ? { outage: { waitedMs } } : {}
    const limited = event.body.limited ? { limited: event.body.limited } : {}
    return { ...state, machine: thinking(state, { ...tryAgain(model, event, delayMs), ...outage, ...limited }) }
  }
  return {
    ...state,
    modelFailures: state.modelFailures + 1,
    failedModel: model.model,
    ...(state.spec.models.routing && { failedModels: [...failedSinceAnswer(state), model.model] }),
    machine: withActivity(state.machine, { status: 'OBSERVATION', outcome: 'failed', calls: [], ended: false }),
  }
}

/** A rate limit delayed the attempt. It cost nothing and is due again. */
export function heldAttempt(state: AgentState, event: EventOf<'model_held'>): AgentState {
  const model = modelStage(state, event)
  const { attempt, delayMs } = event.body
  if (model.at !== 'calling' || model.attempt !== attempt)
    throw new ImpossibleEvent(event, `model attempt ${attempt} is not open`)
  const outage = model.outage ? { outage: { waitedMs: model.outage.waitedMs } } : {}
  const held = (model.held ?? 0) + 1
  const again = { ...tryAgain(model, event, delayMs), ...outage, held, limited: true } as const
  return { ...state, machine: thinking(state, again) }
}

/** Ends the turn and judges its calls. A successful question makes the agent wait. */
export function evolveTurnEnd(state: AgentState, event: EventOf<'turn_end'>, append: AppendRoot): AgentState {
  if (!turnIsOpen(state)) throw new ImpossibleEvent(event, 'no turn is open')
  if (event.body.step !== state.step + 1) throw new ImpossibleEvent(event, `step ${state.step + 1} is next`)
  const calls = callsOf(state)
  if (calls.some((call) => call.stage.at !== 'ended')) throw new ImpossibleEvent(event, 'a call has not ended')
  if (state.unversioned !== null) throw new ImpossibleEvent(event, 'its files have no version yet')
  const { outcome } = event.body
  const settled = settleCalls(state, calls, append)
  const asked = hasSucceeded(state, calls, 'waits')
  const next: AgentState = {
    ...settled,
    step: event.body.step,
    textOnly: outcome === 'text' ? state.textOnly + 1 : 0,
    paused: state.paused || state.stepping,
    stepping: false,
    messages: outcome in NOTES ? append(settled.messages, event.bodyHash) : settled.messages,
    machine: withActivity(state.machine, { status: 'OBSERVATION', outcome, calls, ended: true }),
  }
  const idles = asked && state.unread === 0 && state.machine.status !== 'RECOVERY' && outcome === 'calls'
  return idles ? { ...next, machine: { status: 'IDLE' } } : next
}

/** The driver of the attempt died. The estimate is billed, and the attempt is due again. */
export function lostAttempt(state: AgentState, event: EventOf<'model_attempt_lost'>): AgentState {
  const { summarizing } = state.compression
  if (event.body.purpose === 'summary' && summarizing !== null)
    return { ...summaryLost(state, event), ...givenUp(state, event, summarizing) }
  const model = modelStage(state, event)
  if (model.at !== 'calling') throw new ImpossibleEvent(event, 'no model call is open')
  const outage = model.outage ? { outage: { waitedMs: model.outage.waitedMs } } : {}
  const again = { ...tryAgain(model, event, 0), lost: model.lost + 1, ...outage }
  return { ...state, ...givenUp(state, event, model), machine: thinking(state, again) }
}

function givenUp(state: AgentState, event: EventOf<'model_attempt_lost'>, open: { model: string; attempt: number }) {
  const { usage, nanoDollars } = event.body
  const { model, attempt } = open
  const lost = { turn: event.turn, attempt, model, usage, nanoDollars, since: event.revision }
  return {
    spent: spend(state.spent, lost),
    lostAttempts: [...state.lostAttempts.slice(1 - LOST_KEPT), lost],
  }
}

export const lostAttemptOf = (state: AgentState, turn: number, attempt: number): LostAttempt | undefined =>
  state.lostAttempts.find((lost) => lost.turn === turn && lost.attempt === attempt)

export function evolveLateAnswer(state: AgentState, event: EventOf<'model_late'>): AgentState {
  const lost = lostAttemptOf(state, event.turn, event.body.attempt)
  if (lost === undefined) throw new ImpossibleEvent(event, 'no such model attempt was given up')
  return {
    ...state,
    spent: spend(spend(state.spent, lost, -1), event.body),
    lostAttempts: state.lostAttempts.filter((one) => one !== lost),
  }
}

function tryAgain(model: Extract<ModelStage, { at: 'calling' }>, event: AgentEvent, delayMs: number) {
  const { model: name, attempt, lost } = model
  const until = event.at + delayMs
  return {
    at: 'backoff',
    model: name,
    attempt: attempt + 1,
    lost,
    until,
    since: event.revision,
    ...heldOf(model),
  } as const
}

const heldOf = ({ held }: { readonly held?: number }) => (held === undefined ? {} : { held })
