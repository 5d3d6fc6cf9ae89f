import { claimKey } from '../../../domain/agent/runtime/claim-key.ts'
import { CommandRejected } from '../../../domain/calls/errors.ts'
import { AgentError } from '../../../domain/external/errors.ts'
import { externalStream, keyedCommand } from '../../../domain/log/ids.ts'
import type { AgentRunRequest } from '../../../domain/ports/external.ts'
import { keyedRunId, madeBefore, shown } from '../runs/idempotency.ts'
import type { RequestOptions } from '../runs/request-options.ts'
import { actorOf } from '../runs/request-options.ts'
import type { StartedRun } from '../runs/schemas.ts'
import type { StartRun } from '../runs/start-schemas.ts'
import type { Services } from '../services.ts'
import { agentsOf } from './agents.ts'
import { mustBeAllowed } from './allowed.ts'

/** Starts a run of another agent. */
export type StartAgent = StartRun & { readonly agent: string }

/** The request of the Universal Agent API that a start stands for. */
export function agentRequest({ task, workspace, model, limits, env, extensions }: StartAgent): AgentRunRequest {
  const given = { ...extensions, ...(model !== undefined && { 'agent_api.config.model.v1': model }) }
  const timeoutMs = limits?.wallClockMs
  return {
    prompt: task ?? '',
    ...(workspace !== undefined && { workingDir: workspace }),
    ...(timeoutMs != null && { timeoutMs }),
    ...(env !== undefined && { env }),
    ...(Object.keys(given).length > 0 && { extensions: given as AgentRunRequest['extensions'] & object }),
  }
}

/**
 * Starts a run of another agent in this process, or finds the one that the same Idempotency-Key started. `network`: the
 * request came over it, so that the settings' lists count. Rejects as `AgentGateway.run` does, and with `AGENT_NOT_ALLOWED`.
 */
export async function startAgent(
  s: Services,
  asked: StartAgent,
  { key }: RequestOptions,
  network: boolean,
): Promise<StartedRun> {
  const agents = agentsOf(s)
  const request = agentRequest(asked)
  if (network) mustBeAllowed(agents.allowed, request)
  const idle = agents.withoutRights(asked.agent, request)
  if (idle !== null) throw new AgentError('InvalidRequest', idle)
  const runId = key === undefined ? s.runtime.newRunId() : keyedRunId(s, 'run', key)
  // A value of the environment may be a secret, which nothing that is kept may tell.
  const { by, drive: _, env = {}, ...rest } = asked
  const what = { ...rest, envNames: Object.keys(env).sort() }
  const commandId = key === undefined ? `${runId}.start` : keyedCommand(s.log.logId, key, what)
  const start = async (): Promise<boolean> => {
    if (key !== undefined && (await madeBefore(s, runId, key, what))) return false
    if (key !== undefined) await claimKey(s, key, { start: what })
    const budget = asked.budget && {
      tokens: asked.budget.tokens ?? null,
      nanoDollars: asked.budget.nanoDollars ?? null,
    }
    const { sandboxed } = asked.policy ?? {}
    const started = {
      ...{ by: actorOf('user', by), agentId: runId, commandId },
      ...(budget !== undefined && { budget }),
      ...(sandboxed !== undefined && { sandboxed }),
    }
    return begun(agents.run(asked.agent, request, started))
  }
  // The folder is held before the start is recorded: of requests that come at the same time one does that.
  const created = await agents.starting.run(runId, start)
  await shown(s)
  const revision = (await s.log.head(externalStream(runId)))?.revision ?? 0
  const driving = agents.at(runId) !== undefined
  return { runId, agentId: runId, revision, driving, created, workspace: asked.workspace ?? null, warnings: [] }
}

/** False: of requests that came at the same time another one started it. */
async function begun(run: Promise<unknown>): Promise<boolean> {
  try {
    await run
    return true
  } catch (error) {
    const cause = error instanceof AgentError ? error.cause : null
    if (cause instanceof CommandRejected && cause.code === 'RUN_EXISTS') return false
    throw error
  }
}
