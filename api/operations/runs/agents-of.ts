import { notFound } from '../problem.ts'
import type { Services } from '../services.ts'
import { mustBeRun } from './run-of-agent.ts'

/** The ids of a run's agents, the root first, or only `only`. Rejects with 404 if the run does not have this agent. */
export async function agentsOf(s: Services, runId: string, only?: string): Promise<readonly string[]> {
  await mustBeRun(s, runId)
  await s.read.current()
  const heads = (await s.read.heads(runId)).value
  const all = [...new Set([runId, ...heads.keys()])]
  if (only === undefined) return all
  if (!all.includes(only)) throw notFound('agent', only)
  return [only]
}
