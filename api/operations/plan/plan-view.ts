import { mustBeRun, mustGovern } from '../runs/run-of-agent.ts'
import type { Services } from '../services.ts'
import type { PlanView } from './schemas.ts'

/**
 * The plans of a run and the tasks of one of its agents (default: the root agent). Rejects with RUN_UNKNOWN or
 * NOT_FOUND, and with RUN_UNGOVERNED for an external agent's run.
 */
export async function planView(
  s: Pick<Services, 'runtime' | 'read' | 'log' | 'plans'>,
  runId: string,
  agentId: string = runId,
): Promise<PlanView> {
  await mustBeRun(s, runId)
  await mustGovern(s, runId, 'a plan')
  const { state } = await s.runtime.stateAt(agentId, null)
  const plans = await s.plans.keep(runId)
  const tasks = [...(state.tasks?.tasks ?? [])]
  return { runId, agentId, revision: state.revision, tasks, plans: [...plans] }
}
