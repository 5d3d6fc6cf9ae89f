import { textOf } from '../../calls/requested-calls.ts'
import { byteLength } from '../../calls/truncate.ts'
import { canonicalText } from '../../log/canonical.ts'
import { cost } from '../../tree/money.ts'
import type { ModelInfo } from '../../tree/spec.ts'
import type { OutcomeCommand } from '../decide/commands.ts'
import { leaveRecord } from '../decide/decide-reuse.ts'
import type { DecisionBuilder } from '../decide/decision-builder.ts'
import { modelInfo, route, routingFacts } from '../routing/routing.ts'
import { estimateInput, reserveSummary } from '../rules/own-budget.ts'
import { followsRecord } from '../state/reuse-rules.ts'
import { SUMMARY_PROMPT_BYTES, summaryText } from './compressed-request.ts'
import {
  contextLimit,
  hiding,
  type Plan,
  pruned,
  type ShownContext,
  toSummarise,
  unchanged,
} from './compression-plan.ts'
import { segmentsOf } from './compression-state.ts'
import { assemblerFor, inputsHash, requestFacts, requestInputs, sameTools } from './request.ts'
import type { TurnRange } from './segment.ts'
import { shownContext } from './shown-context.ts'

// TurnExecutor: makes room in the context before a turn begins (seed 000, 5.11). Compression happens between turns,
// when all results have arrived. Inputs of the next turn are always kept.

/** Consecutive failed summaries before the context is compressed without one. */
const MOST_FAILED = 2

type Strategy = 'truncate' | 'summarize' | 'hybrid'

/**
 * Compresses the context if the next request would be too long for this model, or if a person asked for hidden turns.
 * True: a step was taken; false: a summary is pending; null: nothing to do. `hurried`: the run is about to end, so no
 * summary is made.
 */
export function makeRoom(d: DecisionBuilder, model: ModelInfo, hurried: boolean): boolean | null {
  const { compression, driver, messages, spec } = d.state
  if (compression.summarizing !== null) {
    if (compression.summarizing.epoch === driver?.epoch) return false
    loseSummary(d)
    return true
  }
  if (messages.count === 0) return null
  const asked = compression.expanding
  if (asked.length > 0) {
    expand(d, model, asked)
    return true
  }
  if (!isDue(d, model)) return null
  const shown = shownContext(d.state, d.told, model, [])
  const { compressionStrategy: strategy } = spec.context
  const less = strategy === 'hybrid' ? pruned(shown) : null
  if (less !== null) return compress(d, shown, less, strategy)
  const tries = strategy !== 'truncate' && !hurried && compression.failed < MOST_FAILED
  if (tries && askForSummary(d, shown, model)) return true
  return compress(d, shown, hiding(shown, null), 'truncate')
}

function isDue(d: DecisionBuilder, model: ModelInfo): boolean {
  const { spec } = d.state
  const tokens = estimateInput(d.state, requestFacts(d.state, model).bytes)
  return tokens >= spec.context.compressionThreshold * contextLimit(spec, model)
}

/** Null: nothing changed, because everything left must be kept. */
function compress(d: DecisionBuilder, shown: ShownContext, plan: Plan, strategy: Strategy): true | null {
  const { compression, messages } = d.state
  const before = canonicalText(segmentsOf(compression, messages.count))
  const without = !plan.fits && shown.pinned.length > 0 ? hiding({ ...shown, pinned: [] }, null) : plan
  if (canonicalText(without.segments) === before) return null
  recorded(d, 'threshold', strategy, shown, without)
  return true
}

function recorded(
  d: DecisionBuilder,
  reason: 'threshold' | 'expanded',
  strategy: Strategy,
  shown: ShownContext,
  plan: Plan,
): void {
  const tokens = { before: shown.tokens, after: plan.tokens, limit: shown.limit }
  d.emit('context_compressed', { reason, strategy, segments: [...plan.segments], tokens })
}

/**
 * Shows the turns that a person asked for and hides other turns that no longer fit. If the requested turns alone do not
 * fit, they stay hidden.
 */
function expand(d: DecisionBuilder, model: ModelInfo, asked: readonly TurnRange[]): void {
  const shown = shownContext(d.state, d.told, model, asked)
  const whole = unchanged(shown)
  const plan = whole.fits ? whole : hiding(shown, null)
  const { compressionStrategy } = d.state.spec.context
  const best = plan.fits ? plan : unchanged(shownContext(d.state, d.told, model, []))
  recorded(d, 'expanded', plan === whole ? compressionStrategy : 'truncate', shown, best)
}

/**
 * Starts a summary. False: no text, model or budget for one. `all`: includes turns that were hidden without a summary.
 */
function askForSummary(d: DecisionBuilder, shown: ShownContext, turnModel: ModelInfo, all = true): boolean {
  const segments = toSummarise(shown, all)
  if (segments.length === 0) return false
  const routed = route(routingFacts(d.state, 'summary'))
  const info = modelInfo(d.state, routed.resolved)
  const { summary } = shown.inputs
  const text = summaryText({ segments, ...(summary && { summary }) }, (ordinal) => d.told.at(ordinal).message)
  const input = Math.ceil((SUMMARY_PROMPT_BYTES + byteLength(text)) / 3)
  const estimate = reserveSummary(d.state, info, input, shown.tokens)
  if (estimate === null) return all && askForSummary(d, shown, turnModel, false)
  if (followsRecord(d.state))
    leaveRecord(d, { reason: 'a summary of the context is due, and summaries are not taken from the record' })
  // Every intent refers to the prompt and the tools in force.
  const { prompt, tools } = requestFacts(d.state, turnModel)
  if (d.state.prompt === null) d.emit('prompt_set', prompt)
  if (d.state.toolset === null || !sameTools(d.state.toolset, tools)) d.emit('tools_changed', tools)
  d.emit('model_routed', routed)
  const call = { purpose: 'summary', model: info.id, maxOutputTokens: estimate.maxOutput } as const
  const inputs = requestInputs(d.state, call, segments)
  const request = {
    assembler: assemblerFor(inputs),
    revision: d.state.revision,
    prompt: inputs.prompt.revision,
    tools: inputs.toolset.revision,
    inputs: inputsHash(d.state.hashSalt, inputs, d.rendered),
    segments: [...segments],
  }
  const attempt = d.state.compression.attempts + 1
  const { purpose } = call
  d.emit('model_call_start', { attempt, purpose, model: info.id, request, estimate, timeoutMs: info.timeoutMs })
  return true
}

type Answered = Extract<OutcomeCommand, { kind: 'model_answered' }>

/** Records the answer to a summary request. False: no such attempt is open. */
export function summaryAnswered(d: DecisionBuilder, { attempt, outcome, durationMs }: Answered): boolean {
  const open = d.state.compression.summarizing
  if (open?.attempt !== attempt) return false
  const { content, stopReason, usage, servedBy, requestId, cut } = outcome
  const { price } = modelInfo(d.state, open.model)
  d.emit(
    'model_call_end',
    {
      ...{ attempt, purpose: 'summary', content: [...content], stopReason, usage, durationMs, servedBy, calls: [] },
      nanoDollars: price === null ? null : cost(usage, price),
      ...(requestId === undefined ? {} : { requestId }),
      ...(cut === undefined ? {} : { cut }),
    },
    { actor: { kind: 'model', id: open.model } },
  )
  if (stopReason === 'refusal' || textOf(content) === '') {
    const message = stopReason === 'refusal' ? 'the model refused to summarise' : 'the summary is empty'
    d.emit('summary_failed', { attempt, error: { code: 'INVALID_RESPONSE', message } })
    return true
  }
  const info = modelInfo(d.state, route(routingFacts(d.state, 'turn')).resolved)
  const shown = shownContext(d.state, d.told, info, [])
  const { draft } = d.state.compression
  recorded(d, 'threshold', 'summarize', shown, hiding(shown, draft, open.segments))
  return true
}

/** Records a failed summary request. False: no such attempt is open. */
export function summaryFailed(
  d: DecisionBuilder,
  attempt: number,
  { code, message }: { code: string; message: string },
): boolean {
  if (d.state.compression.summarizing?.attempt !== attempt) return false
  d.emit('summary_failed', { attempt, error: { code, message } })
  return true
}

/** Estimated output tokens of a lost summary, for the bill. */
const TYPICAL_SUMMARY = 800

/** Records a lost summary attempt with estimated usage and price. Does nothing if none is open. */
export function loseSummary(d: DecisionBuilder): void {
  const open = d.state.compression.summarizing
  if (open === null) return
  const { input, maxOutput } = open.estimate
  const usage = { input, output: Math.min(maxOutput, TYPICAL_SUMMARY), cacheRead: 0, cacheWrite: 0 }
  const { price } = modelInfo(d.state, open.model)
  const nanoDollars = price === null ? null : cost(usage, price)
  d.emit('model_attempt_lost', { attempt: open.attempt, purpose: 'summary', usage, nanoDollars })
}
