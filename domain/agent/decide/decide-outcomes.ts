import { requestedCalls } from '../../calls/requested-calls.ts'
import { READER } from '../../log/envelope.ts'
import { cost } from '../../tree/money.ts'
import type { AgentSpec } from '../../tree/spec.ts'
import type { BodyOf } from '../events/events.ts'
import { afterFailure } from '../routing/after-model-failure.ts'
import { modelInfo } from '../routing/routing.ts'
import { undecided } from '../state/loss-rules.ts'
import { followsRecord } from '../state/reuse-rules.ts'
import { activityOf, type ModelStage } from '../state/state.ts'
import { planAgentCalls } from '../tasks/plan.ts'
import { contextLimit } from '../window/compression-plan.ts'
import { summaryAnswered, summaryFailed } from '../window/make-room.ts'
import type { OutcomeCommand } from './commands.ts'
import { lateAnswer } from './decide-late.ts'
import { endPermissions, endUsed } from './decide-permissions.ts'
import { decideLeave, leaveRecord, withRecord } from './decide-reuse.ts'
import { decideToolFact } from './decide-tools.ts'
import type { DecisionBuilder } from './decision-builder.ts'
import { endRun, endTurn } from './endings.ts'
import { loseAttempt, proceed } from './proceed.ts'
import type { FailureOfRecord } from './reuse-commands.ts'

// Outcomes from a driver. A repeated or late outcome changes nothing.

type Fact<K extends OutcomeCommand['kind']> = Extract<OutcomeCommand, { kind: K }>

export function decideOutcome(d: DecisionBuilder, fact: OutcomeCommand): void {
  switch (fact.kind) {
    case 'claim': {
      if (d.state.driver?.id === fact.driverId) return
      const epoch = (d.state.driver?.epoch ?? 0) + 1
      d.emit('driver_claimed', { driverId: fact.driverId, epoch, minReader: READER, keepup: fact.build })
      return
    }
    case 'proceed':
      break
    case 'model_answered':
      modelAnswered(d, fact)
      break
    case 'model_failed':
      modelFailed(d, fact)
      break
    case 'model_held':
      modelHeld(d, fact)
      break
    case 'tool_succeeded':
    case 'tool_failed':
    case 'tool_in_doubt':
    case 'tool_changed':
    case 'files_changed':
    case 'tool_reused':
      decideToolFact(d, fact)
      break
    case 'reuse_left':
      decideLeave(d, fact)
      break
    case 'versioned':
      versioned(d, fact)
      break
    case 'drift_found':
      drifted(d, fact)
      break
  }
  if (d.drives) proceed(d)
}

function openAttempt(
  d: DecisionBuilder,
  { turn, attempt }: { turn: number; attempt: number },
): Extract<ModelStage, { at: 'calling' }> | null {
  const activity = activityOf(d.state.machine)
  const model = activity?.status === 'THINKING' ? activity.model : null
  return model?.at === 'calling' && d.state.turn === turn && model.attempt === attempt ? model : null
}

/** Turn 0 identifies a summary, because summaries are made between turns. */
const isOfSummary = ({ turn }: { turn: number }) => turn === 0

/** The lowest limit of a request among the run's models: a later turn may be routed to any of them. */
const leastLimit = (spec: AgentSpec): number => Math.min(...spec.models.known.map((info) => contextLimit(spec, info)))

function modelAnswered(d: DecisionBuilder, fact: Fact<'model_answered'>): void {
  if (isOfSummary(fact) && summaryAnswered(d, fact)) return
  const open = openAttempt(d, fact)
  if (open === null) return lateAnswer(d, fact)
  // The calls of this answer would reuse the ids of undecided lost calls. The model is asked again instead.
  if (undecided(d.state).length > 0) {
    loseAttempt(d, open)
    return lateAnswer(d, fact)
  }
  const { content, stopReason, usage, servedBy, requestId, cut } = fact.outcome
  const { price } = modelInfo(d.state, open.model)
  const { inputEstimate = 0 } = fact
  const calls = stopReason === 'refusal' ? [] : requestedCalls(content)
  const { reused } = fact
  const cutOff = cut ?? (stopReason === 'max_tokens' ? 'limit' : null)
  endPermissions(d)
  const planned = planAgentCalls(d.state, calls, fact.paths, cutOff).map((call, index) =>
    withRecord(call, reused?.calls[index] ?? null),
  )
  d.emit(
    'model_call_end',
    {
      attempt: fact.attempt,
      purpose: 'turn',
      content: [...content],
      stopReason,
      usage,
      nanoDollars: price === null ? null : cost(usage, price),
      durationMs: fact.durationMs,
      servedBy,
      ...(requestId === undefined ? {} : { requestId }),
      calls: planned,
      ...(cut === undefined ? {} : { cut }),
      ...(fact.cached === undefined ? {} : { cached: fact.cached }),
      ...(inputEstimate * 4 < leastLimit(d.state.spec) ? {} : { inputEstimate }),
      ...(reused === undefined ? {} : { reused: { ...reused.place, usage: reused.usage } }),
    },
    { actor: { kind: 'model', id: open.model } },
  )
  endUsed(d, planned)
}

/** Adds up to a tenth of random delay, so that delayed runs do not all retry at the same time. */
function modelHeld(d: DecisionBuilder, { turn, attempt, delayMs }: Fact<'model_held'>): void {
  if (openAttempt(d, { turn, attempt }) === null) return
  d.emit('model_held', { attempt, delayMs: Math.round(delayMs * (1 + d.context.jitter() / 10)) })
}

function modelFailed(d: DecisionBuilder, { turn, attempt, error, reused }: Fact<'model_failed'>): void {
  if (isOfSummary({ turn })) return void summaryFailed(d, attempt, error)
  const open = openAttempt(d, { turn, attempt })
  if (open === null) return
  const failure = { error: error.message, code: error.code, recoverable: true, attempt }
  if (reused !== undefined) return failedBefore(d, failure, reused)
  const after = afterFailure(d.state, open, error, d.context)
  if (after.next === 'again') {
    const { next: _, ...wait } = after
    d.emit('error', { ...failure, ...wait })
    return
  }
  d.emit('error', failure)
  endTurn(d, 'failed')
  if (after.next === 'turn') return
  endRun(d, error.code === 'CONTEXT_OVERFLOW' ? 'CONTEXT_OVERFLOW' : 'MODEL_FAILED', after.why)
}

/** Repeats a recorded failure and its consequence, without its delay. */
function failedBefore(d: DecisionBuilder, failure: BodyOf<'error'>, { place, next }: FailureOfRecord): void {
  d.emit('error', { ...failure, ...(next === 'again' ? { delayMs: 0 } : {}), reused: place })
  if (next === 'again') return
  endTurn(d, 'failed')
  if (next !== 'turn') endRun(d, next.code, next.why)
}

/** Whether the driver that saw the files still owns the agent. Otherwise the next driver checks the files itself. */
const sawTheFiles = ({ context, state }: DecisionBuilder) => context.driver?.epoch === state.driver?.epoch

function versioned(d: DecisionBuilder, { step, version }: Fact<'versioned'>): void {
  const { unversioned } = d.state
  if (unversioned === null || step < unversioned.from || !sawTheFiles(d)) return
  d.emit('workspace_versioned', { step, ...version })
}

function drifted(d: DecisionBuilder, { expected, found, changed }: Fact<'drift_found'>): void {
  if (d.state.tree === found || d.state.unversioned !== null || !sawTheFiles(d)) return
  d.emit('workspace_drifted', { expected, found, changed: [...changed] })
  if (followsRecord(d.state)) leaveRecord(d, { reason: 'the files of the workspace are not those of the record' })
}
