import { AgentError } from '../../../domain/external/errors.ts'
import type { RecordedRequest } from '../../../domain/external/events.ts'
import { isRunOver, usedInSession } from '../../../domain/external/state.ts'
import { notFound } from '../problem.ts'
import type { RunRow } from '../read-model.ts'
import { hasEnded } from '../runs/drive-end.ts'
import { mustWrite } from '../runs/record-command.ts'
import type { RequestOptions } from '../runs/request-options.ts'
import { isUngoverned, mustBeRun } from '../runs/run-of-agent.ts'
import type { ContinueRun, StartedRun } from '../runs/schemas.ts'
import type { Services } from '../services.ts'
import { type Agents, externalAgents } from './agents.ts'
import { startAgent } from './start-agent.ts'

const RESUME = 'agent_api.session.resume.v1'
const FORK = 'agent_api.session.fork.v1'

/** Whether a run's session can be continued in this process: the run has ended, and its backend resumes sessions. */
export const isContinuable = (
  { agents }: Pick<Services, 'agents'>,
  run: Pick<RunRow, 'status' | 'backend'> & { readonly sessionId: string | null },
): boolean => run.sessionId !== null && hasEnded(run.status) && agents !== null && resumes(agents, run.backend)

const resumes = (agents: Agents, kind: string | null): boolean =>
  agents.list().some((one) => one.kind === kind && one.capabilities.includes(RESUME))

/**
 * Starts a run that continues the session of an ended one with a further task: the same agent, folder, model, limits and
 * extensions. Rejects with `INVALID_REQUEST` if the run has not ended or named no session, with `UNSUPPORTED_CAPABILITY`
 * if its backend resumes none, and like {@link startAgent}.
 */
export async function continueAgent(
  s: Services,
  runId: string,
  { task, env, by }: ContinueRun,
  options: RequestOptions,
  network: boolean,
): Promise<StartedRun> {
  mustWrite(s)
  await mustBeRun(s, runId)
  if (!(await isUngoverned(s, runId)))
    throw new AgentError('InvalidRequest', `${runId} is a run of keepup's own agent; send it input, or fork it`)
  const agents = externalAgents(s)
  const state = await (await agents.log()).log.state(runId)
  if (state === null) throw notFound('run', runId)
  const { backend, request, sessionId } = state
  if (!isRunOver(state))
    throw new AgentError('InvalidRequest', `${runId} has not ended; wait for its end, or cancel it`)
  if (!resumes(agents, backend))
    throw new AgentError('UnsupportedCapability', `${backend} resumes no sessions here; start another run`)
  if (sessionId === null)
    throw new AgentError('InvalidRequest', `the agent of ${runId} named no session; start another run`)
  const { workingDir: workspace, timeoutMs, budget } = request
  const asked = {
    ...{ agent: backend, task, drive: true, extensions: extensionsFor(request, sessionId) },
    ...(workspace !== undefined && { workspace }),
    ...(timeoutMs !== undefined && { limits: { wallClockMs: timeoutMs } }),
    ...(budget !== undefined && { budget }),
    ...(env !== undefined && { env }),
    ...(by !== undefined && { by }),
  }
  return startAgent(s, asked, options, network, { agentId: runId, used: usedInSession(state) })
}

/** The extensions of a request that resumes its session. */
function extensionsFor(
  { extensions = {} }: RecordedRequest,
  sessionId: string,
): NonNullable<RecordedRequest['extensions']> {
  const { [FORK]: _, ...others } = extensions
  return { ...others, [RESUME]: { selector: 'id', id: sessionId } }
}
