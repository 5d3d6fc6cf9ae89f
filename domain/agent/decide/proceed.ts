import { MAX_LOST } from '../../calls/decide/proceed.ts'
import { phaseTools } from '../../calls/tools/phase-tools.ts'
import { controlKind } from '../../calls/tools/tools.ts'
import { cost } from '../../tree/money.ts'
import type { ModelInfo } from '../../tree/spec.ts'
import { MAX_MODEL_FAILURES, mayFail, modelInfo, route, routingFacts } from '../routing/routing.ts'
import { leastTokens, reserve } from '../rules/own-budget.ts'
import { graceIsOver, lastTurn, limitReached, warningText } from '../rules/recovery.ts'
import { MAX_VIOLATIONS } from '../state/failures.ts'
import { undecided } from '../state/loss-rules.ts'
import { followsRecord } from '../state/reuse-rules.ts'
import {
  type AgentState,
  activityOf,
  isFinished,
  type ModelStage,
  type Observation,
  type Recovery,
  recoveryOf,
  type Thinking,
  turnIsOpen,
} from '../state/state.ts'
import { contextLimit } from '../window/compression-plan.ts'
import { knowledgeIsDue } from '../window/knowledge.ts'
import { loseSummary, makeRoom } from '../window/make-room.ts'
import { assemblerFor, inputsHash, requestFacts, requestInputs, sameTools } from '../window/request.ts'
import { askForTurn } from './decide-budgets.ts'
import { endPermissions } from './decide-permissions.ts'
import type { DecisionBuilder } from './decision-builder.ts'
import { endRun, endTurn } from './endings.ts'
import { forwardCancel } from './forward-to-children.ts'
import { proceedCalls, settleOpenCalls } from './proceed-calls.ts'

// Orchestrator: takes the steps that follow from the state until an effect is due or the agent waits for a person (seed
// 000, section 6). Only a driver that owns the agent proceeds. Every step emits at least one event.

export function proceed(d: DecisionBuilder): void {
  while (!isFinished(d.state) && (d.state.cancel === null ? step(d) : settleCancel(d)));
}

function step(d: DecisionBuilder): boolean {
  if (undecided(d.state).length > 0) return false
  const activity = activityOf(d.state.machine)
  if (activity === null) return d.state.unread > 0 ? beginTurn(d) : false
  switch (activity.status) {
    case 'THINKING':
      return think(d, activity)
    case 'TOOL_WAIT':
      return failedByGrace(d) || proceedCalls(d)
    case 'OBSERVATION':
      return observe(d, activity)
  }
}

function beginTurn(d: DecisionBuilder): boolean {
  if (d.state.paused) return false
  endPermissions(d)
  const routed = resolve(d)
  const hurried = recoveryOf(d.state.machine) !== null || limitReached(d.state, d.context.now) !== null
  const room = makeRoom(d, modelInfo(d.state, routed.resolved), hurried)
  if (room !== null) return room
  const reason = recoveryOf(d.state.machine) === null ? limit(d, routed.resolved) : null
  const asked = reason === 'budget' ? askForTurn(d) : null
  if (asked !== null) return asked
  const turn = d.state.turn + 1
  if (reason !== null) warn(d, reason, turn)
  d.emit('turn_start', { unread: d.state.unread }, { turn })
  // Routing sees the warning and the inputs that the turn reads.
  d.emit('model_routed', resolve(d))
  return true
}

const resolve = ({ state, context }: DecisionBuilder) => route(routingFacts(state, 'turn', null, context.health))

/** Why the next turn is the warning turn, or null. */
function limit(d: DecisionBuilder, model: string): Recovery['reason'] | null {
  const reached = limitReached(d.state, d.context.now)
  if (reached !== null) return reached
  const info = modelInfo(d.state, model)
  return reserve(d.state, info, requestFacts(d.state, info).bytes) === null ? 'budget' : null
}

function warn(d: DecisionBuilder, reason: Recovery['reason'], turn: number): void {
  const { limits, recovery } = d.state.spec
  d.emit(
    'recovery',
    {
      phase: 'final_warning',
      reason,
      maxTurns: limits.maxTurns,
      graceTurns: recovery.graceTurns,
      deadlineMs: recovery.graceTimeoutMs,
      warning: warningText(d.state, reason),
    },
    { turn },
  )
}

function think(d: DecisionBuilder, { model }: Thinking): boolean {
  switch (model.at) {
    case 'unrouted':
      if (d.state.paused) return false
      d.emit('model_routed', resolve(d))
      return true
    case 'routed':
      return callModel(d, model.model, model.attempt)
    case 'backoff':
      if (failedByGrace(d)) return true
      if (d.state.paused || d.context.now < model.until) return false
      d.emit('model_routed', route(routingFacts(d.state, 'turn', model.model)))
      return true
    case 'calling':
      if (failedByGrace(d)) return true
      if (model.epoch === d.state.driver?.epoch) return false
      loseAttempt(d, model)
      // Each attempt costs money, so a call whose drivers keep dying is repeated only a limited number of times.
      if (model.lost >= MAX_LOST && !followsRecord(d.state))
        endRun(d, 'MODEL_FAILED', `${model.lost + 1} drivers in a row were lost during a call of ${model.model}`)
      return true
  }
}

/** Estimated output tokens of a lost answer, for the bill. */
const TYPICAL_ANSWER = 500

/** The end of the call is unknown; usage and price are estimated from the reservation. */
export function loseAttempt(d: DecisionBuilder, model: Extract<ModelStage, { at: 'calling' }>): void {
  const { price } = modelInfo(d.state, model.model)
  const { input, maxOutput } = model.estimate
  // No provider is asked while the run follows the record.
  const asked = !followsRecord(d.state)
  const output = asked ? Math.min(maxOutput, TYPICAL_ANSWER) : 0
  const usage = { input: asked ? input : 0, output, cacheRead: 0, cacheWrite: 0 }
  const nanoDollars = price === null ? null : cost(usage, price)
  d.emit('model_attempt_lost', { attempt: model.attempt, purpose: 'turn', usage, nanoDollars })
}

/** The least token budget for one working turn and the warning turn, as a clause; empty without a token budget. */
function leastBudget(state: AgentState, info: ModelInfo): string {
  const { tokens } = state.spec.budget
  if (tokens === null) return ''
  const working = { ...state, machine: { status: 'IDLE' } } as const
  const least = leastTokens(state, info, requestFacts(working, info).bytes)
  return `; ${least} tokens are needed at least, not ${tokens}`
}

function callModel(d: DecisionBuilder, id: string, attempt: number): boolean {
  if (d.state.paused) return false
  const info = modelInfo(d.state, id)
  const { prompt, tools, knowledge, bytes } = requestFacts(d.state, info)
  const estimate = reserve(d.state, info, bytes)
  if (estimate === null) {
    // Earlier attempts of this turn used up the budget: the turn ends, and the next one is the warning turn.
    if (recoveryOf(d.state.machine) === null) endTurn(d, 'failed')
    else endRun(d, 'BUDGET_EXCEEDED', `the budget leaves no room for another model call${leastBudget(d.state, info)}`)
    return true
  }
  const most = contextLimit(d.state.spec, info)
  if (estimate.input >= most) {
    endRun(d, 'CONTEXT_OVERFLOW', overflow(estimate.input, most, id))
    return true
  }
  if (d.state.prompt?.system !== prompt.system) d.emit('prompt_set', prompt)
  if (!sameTools(d.state.toolset, tools)) d.emit('tools_changed', tools)
  if (knowledgeIsDue(d.state, knowledge.items)) d.emit('knowledge_added', knowledge)
  const inputs = requestInputs(d.state, { purpose: 'turn', model: id, maxOutputTokens: estimate.maxOutput })
  const request = {
    assembler: assemblerFor(inputs),
    revision: d.state.revision,
    prompt: inputs.prompt.revision,
    tools: inputs.toolset.revision,
    inputs: inputsHash(d.state.hashSalt, inputs, d.rendered),
  }
  d.emit('model_call_start', { attempt, purpose: 'turn', model: id, request, estimate, timeoutMs: info.timeoutMs })
  return true
}

const overflow = (tokens: number, most: number, model: string): string =>
  `about ${tokens} tokens do not fit into the ${most} of ${model}, and everything that may be hidden is; fork the run with a ` +
  'model that takes more, or start one with shorter inputs, knowledge and instructions, or with a lower context.preserveLastN'

function observe(d: DecisionBuilder, activity: Observation): boolean {
  if (!activity.ended) {
    if (d.state.unversioned !== null) return false
    endTurn(d, activity.outcome)
    return true
  }
  const end = endAfterTurn(d.state, activity, d.context.now)
  if (end === null) return beginTurn(d)
  endRun(d, end.code, end.why)
  return true
}

interface End {
  readonly code: Parameters<typeof endRun>[1]
  readonly why: string
}

/** The end of a run that follows from its ended turn, even if the run is paused; null: the run continues. `now`: ms. */
export function endAfterTurn(state: AgentState, activity: Observation, now: number): End | null {
  const recovery = recoveryOf(state.machine)
  if (recovery !== null) return endAfterWarning(state, activity, recovery, now)
  const { outcome } = activity
  if (state.violations >= MAX_VIOLATIONS)
    return { code: 'TOO_MANY_VIOLATIONS', why: `${MAX_VIOLATIONS} turns in a row broke the rules of tool calls` }
  if (outcome === 'refused') return { code: 'MODEL_REFUSED', why: 'the model refused to answer' }
  if (outcome === 'text' && !(phaseTools(state)?.length === 0 && state.textOnly < 2))
    return { code: 'NO_COMPLETION', why: 'the agent stopped without calling complete_task' }
  if (outcome !== 'failed' || state.modelFailures < mayFail(state)) return null
  const why = `${state.modelFailures} turns in a row had no answer from a model that could be used`
  return { code: 'MODEL_FAILED', why: `${why}; fork the run to go on` }
}

/** After the warning, only a malformed completion may be corrected, and only while turns and grace time remain. */
function endAfterWarning(
  state: AgentState,
  { outcome, calls }: Observation,
  recovery: Recovery,
  now: number,
): End | null {
  const failed = outcome === 'failed'
  const onlyCompletion = calls.every((call) => controlKind(state, call.toolName) === 'completes')
  const malformed = outcome === 'cut' || outcome === 'paused' || (calls.length > 0 && onlyCompletion)
  if (!malformed && !failed) {
    const what = calls.length > 0 ? 'another tool was called' : 'no tool was called'
    return { code: 'RECOVERY_FAILED', why: `Recovery failed: ${what} after the final warning` }
  }
  if (graceIsOver(state, now)) return { code: 'RECOVERY_FAILED', why: 'Recovery failed: the grace time has passed' }
  if (state.turn < lastTurn(state, recovery) && state.modelFailures < MAX_MODEL_FAILURES) return null
  return failed
    ? { code: 'MODEL_FAILED', why: 'Recovery failed: the model gave no answer' }
    : { code: 'RECOVERY_FAILED', why: 'Recovery failed: complete_task was malformed in the last turn' }
}

/** In recovery, the grace time also bounds the model call and the completion. */
function failedByGrace(d: DecisionBuilder): boolean {
  if (!graceIsOver(d.state, d.context.now)) return false
  settleOpen(d, 'TIMEOUT', 'the grace time has passed', true)
  endRun(d, 'RECOVERY_FAILED', 'Recovery failed: no completion within the grace time')
  return true
}

/**
 * Ends everything that is open. Returns whether all has ended. `force` also ends running attempts, whose outcome is
 * then unknown if they may have had an effect, and does not wait for the version of the files.
 */
export function settleOpen(
  d: DecisionBuilder,
  code: 'CANCELLED' | 'TIMEOUT',
  message: string,
  force: boolean,
): boolean {
  const settled = settleOpenCalls(d, code, message, force) && (force || d.state.unversioned === null)
  if (settled) settleModel(d)
  return settled
}

function settleModel(d: DecisionBuilder): void {
  const activity = activityOf(d.state.machine)
  if (activity?.status === 'THINKING' && activity.model.at === 'calling') loseAttempt(d, activity.model)
  loseSummary(d)
}

/**
 * Settles a requested cancel. Calls that have not begun end at once; running calls may finish until the deadline; then
 * the run ends. Called for drivers, and for any request while no effect is running.
 */
export function settleCancel(d: DecisionBuilder): boolean {
  const { cancel } = d.state
  if (cancel === null || isFinished(d.state)) return false
  const before = d.drafts.length
  forwardCancel(d)
  if (!settleOpen(d, 'CANCELLED', 'the run was cancelled', d.context.now >= cancel.deadlineAt))
    return d.drafts.length > before
  if (turnIsOpen(d.state)) endTurn(d, 'cancelled')
  const left = Object.entries(d.state.family.children).flatMap(([id, { unreached }]) => (unreached ? [id] : []))
  const missed = left.length === 0 ? '' : `; not reached in time: ${left.join(', ')}`
  const why = cancel.reason === undefined ? '' : `: ${cancel.reason}`
  endRun(d, 'CANCELLED', `cancelled by ${cancel.by}${why}${missed}`)
  return true
}
