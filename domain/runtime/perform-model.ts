import type { DriverFact, ResolvedPaths } from '../agent/commands.ts'
import type { Message } from '../agent/content.ts'
import { isTame, MAX_DEPTH, requestedCalls } from '../agent/content.ts'
import { ModelError } from '../agent/errors.ts'
import type { Failure } from '../agent/events.ts'
import { assemble } from '../agent/request.ts'
import { modelInfo } from '../agent/routing.ts'
import { type AgentState, activityOf } from '../agent/state.ts'
import { wireName } from '../agent/tools.ts'
import type { ModelFailure, ModelOutcome } from '../ports.ts'
import type { Environment, RuntimePorts } from './ports.ts'
import { redactOutcome } from './redact.ts'
import { limited } from './time-limit.ts'

/** TurnExecutor: makes the model call that is open in the state, and turns its end into a fact, redacted. */
export async function performModel(
  ports: RuntimePorts,
  env: Environment,
  state: AgentState,
  messages: readonly Message[],
  attempt: number,
  signal: AbortSignal,
): Promise<DriverFact> {
  const activity = activityOf(state.machine)
  if (activity?.status !== 'THINKING' || activity.model.at !== 'calling') throw new Error('no model call is open')
  const { model: id, estimate } = activity.model
  const info = modelInfo(state, id)
  const request = assemble(state, info, messages, estimate.maxOutput)
  const { runId, agentId, turn } = state
  const stream = env.secrets.stream()
  const publish = (text: string) => text !== '' && ports.feed.publish({ runId, agentId, turn, kind: 'text', text })
  const ended = await limited(ports.clock, info.timeoutMs, signal, async (own) => {
    const answer = await ports.provider(id).call(request, { signal: own, onText: (text) => publish(stream.push(text)) })
    return acceptable(env, answer)
  })
  publish(stream.end())
  if (ended.end === 'value') {
    const outcome = ended.value
    const paths = await resolvedPaths(env, state, outcome)
    return { kind: 'model_answered', attempt, outcome, durationMs: ended.durationMs, paths }
  }
  const timedOut = ended.end === 'hung' || ended.timedOut
  const error = timedOut
    ? new ModelError('TIMEOUT', `no answer within ${info.timeoutMs} ms`, { transient: true })
    : asFailure(ended.error)
  const { code, transient, retryAfterMs } = error
  const message = env.secrets.text(error.message)
  return {
    kind: 'model_failed',
    attempt,
    error: { code, message, transient, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
  }
}

/** An answer that can be recorded, without secrets. One that cannot is the model's failure: asking again gives it again. */
function acceptable(env: Environment, answer: ModelOutcome): ModelOutcome {
  if (!isTame(answer.content)) {
    throw new ModelError(
      'INVALID_RESPONSE',
      `the answer is nested deeper than ${MAX_DEPTH} levels, or holds no numbers`,
    )
  }
  return redactOutcome(env.secrets, answer)
}

function asFailure(error: unknown): ModelFailure {
  if (error instanceof Error && error.name === 'ModelError') return error as ModelFailure
  return new ModelError('INVALID_RESPONSE', error instanceof Error ? error.message : String(error))
}

/** Where the path arguments of the requested calls really lead; a path that leads out is a failure of its own. */
async function resolvedPaths(env: Environment, state: AgentState, outcome: ModelOutcome): Promise<ResolvedPaths[]> {
  const all: ResolvedPaths[] = []
  for (const call of requestedCalls(outcome.content)) {
    const spec = state.spec.tools.find((tool) => wireName(tool.name) === call.name || tool.name === call.name)
    const resolved: Record<string, string | Failure> = {}
    for (const name of Object.keys(spec?.paths ?? {})) {
      const path = call.arguments?.[name]
      if (typeof path === 'string' && path.isWellFormed() && !path.includes('\0'))
        resolved[name] = await resolve(env, path)
      else if (path === undefined && spec?.paths[name] !== 'write') resolved[name] = '.'
    }
    all.push(resolved)
  }
  return all
}

async function resolve(env: Environment, path: string): Promise<string | Failure> {
  if (env.workspace === null) return { code: 'SANDBOX_VIOLATION', message: 'this run has no workspace' }
  try {
    return await env.workspace.resolve(path)
  } catch (error) {
    const code = (error as { code?: unknown }).code
    // Only a way out is refused here; anything else the tool itself will meet and tell.
    if (code !== 'SANDBOX_VIOLATION') return path
    return { code, message: (error as Error).message }
  }
}
