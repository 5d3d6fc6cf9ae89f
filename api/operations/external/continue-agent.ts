import { external } from '../../../domain/external/aggregate.ts'
import { AgentError } from '../../../domain/external/errors.ts'
import type { ExternalEvent, RecordedRequest } from '../../../domain/external/events.ts'
import { isRunOver, usedInSession } from '../../../domain/external/state.ts'
import { externalStream } from '../../../domain/log/ids.ts'
import { history } from '../../../domain/stream/runtime/history.ts'
import type { RunShown } from '../../../projections/index.ts'
import { notFound } from '../problem.ts'
import type { RunRow } from '../read-model.ts'
import { hasEnded } from '../runs/drive-end.ts'
import { keyedRunId } from '../runs/idempotency.ts'
import { mustWrite } from '../runs/record-command.ts'
import type { RequestOptions } from '../runs/request-options.ts'
import { isUngoverned, mustBeRun } from '../runs/run-of-agent.ts'
import type { ContinueRun, StartedRun } from '../runs/schemas.ts'
import type { Services } from '../services.ts'
import { type Agents, externalAgents } from './agents.ts'
import { startAgent } from './start-agent.ts'

const RESUME = 'agent_api.session.resume.v1'
const FORK = 'agent_api.session.fork.v1'

/**
 * Whether a run's session can be continued in this process: the run has ended, its request is not erased, no other run
 * has continued it, and its backend resumes sessions.
 */
export const isContinuable = (
  { agents }: Pick<Services, 'agents'>,
  run: Pick<RunRow, 'status' | 'backend'> & Pick<RunShown, 'sessionId' | 'isContinued' | 'isRequestErased'>,
): boolean =>
  run.sessionId !== null &&
  !run.isContinued &&
  !run.isRequestErased &&
  hasEnded(run.status) &&
  agents !== null &&
  resumes(agents, run.backend)

const resumes = (agents: Agents, kind: string | null): boolean =>
  agents.list().some((one) => one.kind === kind && one.capabilities.includes(RESUME))

/**
 * Starts a run that continues the session of an ended one with a further task: the same agent, folder, model, limits and
 * extensions. Rejects with `INVALID_REQUEST` if the run has not ended, named no session, was continued before or has an
 * erased request, with `UNSUPPORTED_CAPABILITY` if its backend resumes none, and like {@link startAgent}.
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
  await mustHaveRequest(s, runId)
  const { workingDir: workspace, timeoutMs, budget } = request
  const asked = {
    ...{ agent: backend, task, drive: true, extensions: extensionsFor(request, sessionId) },
    ...(workspace !== undefined && { workspace }),
    ...(timeoutMs !== undefined && { limits: { wallClockMs: timeoutMs } }),
    ...(budget !== undefined && { budget }),
    ...(env !== undefined && { env }),
    ...(by !== undefined && { by }),
  }
  const { key } = options
  const own = key === undefined ? null : keyedRunId(s, 'run', key)
  return agents.continuing(runId, async () => {
    const later = await continuationOf(s, runId, own)
    // Each run's usage is the session's without that of the run before it, so a second continuation would count twice.
    if (later !== null)
      throw new AgentError('InvalidRequest', `${later} has continued the session of ${runId}; continue ${later}`)
    return startAgent(s, asked, options, network, { agentId: runId, used: usedInSession(state) })
  })
}

/** An erased request has no folder and no permission mode, so the agent would continue with other rights elsewhere. */
async function mustHaveRequest({ log, blobs }: Services, runId: string): Promise<void> {
  for await (const [first] of history<ExternalEvent>({ log, blobs }, external, externalStream(runId), { to: 0 }))
    if (first?.recorded.erased === true)
      throw new AgentError('InvalidRequest', `the request of ${runId} is erased; start another run`)
}

/**
 * The newest run that goes on with the session after a run; null: none. A run that ended without a session has used
 * nothing of it. `except`: the run that the same request started.
 */
async function continuationOf(s: Services, runId: string, except: string | null): Promise<string | null> {
  await s.read.caughtUp()
  const { log } = await externalAgents(s).log()
  const seen = new Set([runId])
  let newest: string | null = null
  for (let at: string | null = runId; at !== null; ) {
    const { value } = await s.read.run(at)
    const states = await Promise.all(
      (value?.continuedBy ?? []).filter((id) => id !== except).map((id) => log.state(id)),
    )
    const next = states.findLast((state) => state !== null && (!isRunOver(state) || state.sessionId !== null))
    at = next === undefined || next === null || seen.has(next.agentId) ? null : next.agentId
    if (at !== null) seen.add(at)
    newest = at ?? newest
  }
  return newest
}

/** The extensions of a request that resumes its session. */
function extensionsFor(
  { extensions = {} }: RecordedRequest,
  sessionId: string,
): NonNullable<RecordedRequest['extensions']> {
  const { [FORK]: _, ...others } = extensions
  return { ...others, [RESUME]: { selector: 'id', id: sessionId } }
}
