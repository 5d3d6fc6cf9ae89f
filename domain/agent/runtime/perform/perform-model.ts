import type { Message } from '../../../calls/content.ts'
import { ModelError } from '../../../calls/errors.ts'
import type { ResolvedPaths } from '../../../calls/events/event-parts.ts'
import { RETRY_AFTER_CAP_MS } from '../../../calls/judge-retry.ts'
import { argumentsHash } from '../../../calls/plan-calls.ts'
import { readCalls, requestedCalls, textOf } from '../../../calls/requested-calls.ts'
import { pathsOf } from '../../../calls/runtime/paths.ts'
import { thenRefreshed } from '../../../calls/runtime/redact-result.ts'
import { thrownByModel } from '../../../calls/thrown-errors.ts'
import { toolNamed } from '../../../calls/tools/tools.ts'
import type { ModelOutcome, ModelRequest } from '../../../ports/index.ts'
import type { Environment, RuntimePorts } from '../../../ports/runtime.ts'
import { limited } from '../../../stream/runtime/time-limit.ts'
import { inSteps, yielder } from '../../../stream/runtime/yield-to-event-loop.ts'
import type { OutcomeCommand } from '../../decide/commands.ts'
import { modelOutcome } from '../../events/model-outcome.ts'
import { modelInfo } from '../../routing/routing.ts'
import { modelTime } from '../../rules/recovery.ts'
import { type AgentState, activityOf } from '../../state/state.ts'
import { ownEstimate } from '../../window/own-estimate.ts'
import { assemblerFor, assemblerOf, requestInputs } from '../../window/request.ts'
import { endOfFailure } from '../model-health.ts'
import { redactOutcome } from '../redact.ts'
import { answerOf, keepAnswer, requestKey } from './request-cache.ts'

/** TurnExecutor: makes the open model call and returns its redacted outcome. */
export async function performModel(
  ports: RuntimePorts,
  env: Environment,
  state: AgentState,
  messages: readonly Message[],
  { attempt, turn }: { readonly attempt: number; readonly turn: number },
  signal: AbortSignal,
): Promise<OutcomeCommand> {
  const { purpose, model: id } = openCall(state, turn)
  const info = modelInfo(state, id)
  const request = requestOf(state, messages, turn)
  const { runId, agentId } = state
  const stream = env.secrets.stream()
  // A summary is not shown to people.
  const publish = (text: string) =>
    purpose === 'turn' && text !== '' && ports.feed.publish({ runId, agentId, turn, kind: 'text', text })
  const key = state.spec.models.cache && purpose === 'turn' ? requestKey(info.provider, request) : null
  const stored = key === null ? null : await answerOf(ports, agentId, key)
  const delayMs = stored === null ? await heldFor(ports, agentId, id) : 0
  if (delayMs > 0 && purpose === 'summary') {
    // The run continues without a summary instead of waiting for one.
    const error = { code: 'RATE_LIMITED', message: 'the rate limit holds the call back', transient: true }
    return { kind: 'model_failed', turn, attempt, error }
  }
  if (delayMs > 0) return { kind: 'model_held', turn, attempt, delayMs }
  const end = stored === null ? ports.health?.begin(id) : undefined
  const limitMs = modelTime(state, info.timeoutMs, ports.clock.now())
  const ended = await limited(ports.clock, limitMs, signal, async (own) => {
    const yieldToEventLoop = yielder(ports.clock)
    const asking = { signal: own, onText: (text: string) => publish(stream.push(text)) }
    if (stored !== null) asking.onText(textOf(stored.content))
    const answer = stored ?? (await thenRefreshed(env.secrets, () => ports.provider(id).call(request, asking)))
    // A failed redaction counts as a model failure, because the same request would fail again.
    await yieldToEventLoop()
    const outcome = await redactOutcome(env.secrets, modelOutcome(answer), yieldToEventLoop)
    // Reads and hashes each call here with pauses. The decision then uses the cached values.
    for (const call of await inSteps(readCalls(outcome.content), yieldToEventLoop)) {
      if (call.arguments !== null) argumentsHash(state.hashSalt, call.arguments)
      await yieldToEventLoop()
    }
    return outcome
  })
  publish(stream.end())
  if (ended.end === 'value') {
    const outcome = ended.value
    const paths = await resolvedPaths(env, state, outcome)
    const answered = { kind: 'model_answered', turn, attempt, durationMs: ended.durationMs, paths } as const
    const inputEstimate = ownEstimate(request, outcome.usage)
    const estimated = { ...answered, ...(inputEstimate === null ? {} : { inputEstimate }) }
    if (stored !== null) return { ...estimated, outcome: { ...outcome, usage: NO_USAGE }, cached: outcome.usage }
    end?.('answer')
    if (key !== null) await keepAnswer(ports, agentId, key, outcome)
    return { ...estimated, outcome }
  }
  const timedOut = ended.end === 'hung' || ended.timedOut
  const error = timedOut
    ? new ModelError('TIMEOUT', `no answer within ${limitMs} ms`, { transient: true })
    : thrownByModel(ended.error)
  const { transient, retryAfterMs } = error
  // A call that a person or a newer driver ended shows nothing about the model.
  end?.(signal.aborted ? 'none' : endOfFailure(error.code))
  if (error.code === 'RATE_LIMITED' && retryAfterMs !== undefined) await refused(ports, agentId, id, retryAfterMs)
  const code = env.secrets.text(error.code) === error.code ? error.code : 'INVALID_RESPONSE'
  const message = shortened(env.secrets.text(error.message))
  return {
    kind: 'model_failed',
    turn,
    attempt,
    error: { code, message, transient, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
  }
}

/** The request of the open model call. `turn` 0: of the summary. */
export function requestOf(state: AgentState, messages: readonly Message[], turn: number): ModelRequest {
  const { purpose, model, estimate } = openCall(state, turn)
  const inputs = requestInputs(state, { purpose, model, maxOutputTokens: estimate.maxOutput })
  const request = assemblerOf(assemblerFor(inputs))?.(inputs, messages)
  if (request == null) throw new Error(`the request of ${state.agentId} in turn ${turn} cannot be assembled`)
  return request
}

function openCall({ machine, compression }: AgentState, turn: number) {
  if (turn === 0 && compression.summarizing !== null) return { purpose: 'summary', ...compression.summarizing } as const
  const activity = activityOf(machine)
  if (activity?.status !== 'THINKING' || activity.model.at !== 'calling') throw new Error('no model call is open')
  return { purpose: 'turn', ...activity.model } as const
}

const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/** The delay that the provider's rate limit requires, ms. 0 if the limiter does not answer. */
async function heldFor({ limiter, warn }: RuntimePorts, agentId: string, model: string): Promise<number> {
  try {
    return (await limiter?.admit(model)) ?? 0
  } catch (error) {
    warn?.(agentId, `the rate limit is not known: ${(error as Error).message}`)
    return 0
  }
}

async function refused({ limiter, warn }: RuntimePorts, agentId: string, model: string, retryAfterMs: number) {
  const capped = Math.min(retryAfterMs, RETRY_AFTER_CAP_MS)
  await limiter?.refused(model, capped).catch((error: Error) => {
    warn?.(agentId, `other runs do not learn of the rate limit: ${error.message}`)
  })
}

/** A provider's error may contain a whole page. Call only after redaction, because a cut could split a secret. */
const shortened = (text: string) =>
  text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE).toWellFormed()}…` : text
const LONGEST_MESSAGE = 600

export async function resolvedPaths(
  env: Environment,
  state: AgentState,
  outcome: Pick<ModelOutcome, 'content'>,
): Promise<ResolvedPaths[]> {
  const all: ResolvedPaths[] = []
  const calls = requestedCalls(outcome.content)
  for (const { name, arguments: args } of calls) all.push(await pathsOf(env, toolNamed(state.spec.tools, name), args))
  return all
}
