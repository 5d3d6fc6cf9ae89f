import { claimKey } from '../../../domain/agent/runtime/claim-idempotency-key.ts'
import { CommandRejected } from '../../../domain/calls/errors.ts'
import { AgentError } from '../../../domain/external/errors.ts'
import { externalStream, keyedCommand } from '../../../domain/log/ids.ts'
import type { AgentRunRequest, StartedBy } from '../../../domain/ports/external.ts'
import { mustNeedOneApprover } from '../approvals/approver-rules.ts'
import { keyedRunId, madeBefore, untilShown } from '../runs/idempotency.ts'
import type { RequestOptions } from '../runs/request-options.ts'
import { actorOf } from '../runs/request-options.ts'
import type { StartedRun } from '../runs/schemas.ts'
import type { StartRun } from '../runs/start-schemas.ts'
import type { Services } from '../services.ts'
import { externalAgents } from './agents.ts'
import { mustBeAllowed } from './agents-allowed.ts'

/** A request to start an external agent's run. */
type StartAgent = StartRun & { readonly agent: string }

/** The Universal Agent API request for a start. */
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
 * Starts an external agent's run in this process, or returns the run that the same Idempotency-Key started. `network`:
 * the request came over the network, so the lists in the settings apply. `continues`: the run whose session the request
 * resumes. Rejects like `AgentGateway.run`, and with
 * `AGENT_NOT_ALLOWED` and `SPEC_REFUSED`.
 */
export async function startAgent(
  s: Services,
  asked: StartAgent,
  options: RequestOptions,
  network: boolean,
  continues?: StartedBy['continues'],
): Promise<StartedRun> {
  const { key } = options
  const agents = externalAgents(s)
  const request = agentRequest(asked)
  if (network) mustBeAllowed(agents.allowed, request)
  const idle = agents.withoutRights(asked.agent, request)
  if (idle !== null) throw new AgentError('InvalidRequest', idle)
  const runId = key === undefined ? s.runtime.newRunId() : keyedRunId(s, 'run', key)
  // The environment's values may be secrets, so nothing stored may derive from them.
  const { by, drive: _, env = {}, ...rest } = asked
  const what = {
    ...{ ...rest, envNames: Object.keys(env).sort() },
    ...(continues !== undefined && { continues: continues.agentId }),
  }
  const commandId = key === undefined ? `${runId}.start` : keyedCommand(s.log.logId, key, what)
  const start = async (): Promise<boolean> => {
    if (key !== undefined && (await madeBefore(s, runId, key, what))) return false
    await mustNeedOneApprover(s, asked.agent)
    if (key !== undefined) await claimKey(s, key, { start: what })
    const budget = asked.budget && {
      tokens: asked.budget.tokens ?? null,
      nanoDollars: asked.budget.nanoDollars ?? null,
    }
    const { sandboxed } = asked.policy ?? {}
    const started = {
      ...{ by: actorOf('user', by, options), agentId: runId, commandId },
      ...(budget !== undefined && { budget }),
      ...(sandboxed !== undefined && { sandboxed }),
      ...(continues !== undefined && { continues }),
    }
    return begun(agents.run(asked.agent, request, started))
  }
  // The folder is locked before the start is recorded. So only one of several simultaneous requests starts the run.
  const created = await agents.starting.run(runId, start)
  await untilShown(s)
  const revision = (await s.log.head(externalStream(runId)))?.revision ?? 0
  const driving = agents.at(runId) !== undefined
  return { runId, agentId: runId, revision, driving, created, workspace: asked.workspace ?? null, warnings: [] }
}

/** False: a simultaneous request started the run. */
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
