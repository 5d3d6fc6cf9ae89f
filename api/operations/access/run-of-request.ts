import { runOfAgent } from '../runs/run-of-agent.ts'
import type { Services } from '../services.ts'

const OF_RUN = /^\/v1\/runs\/([^/]+)/
/** Paths that name an agent or a call of an agent. */
const OF_AGENT = /^\/v1\/(?:agents|approvals|doubts|permissions|results)\/([0-9a-z]+)(?:\.t\d+\.c\d+)?(?:\/|$)/

/** The run that a request is about, for the record of uses. Null: none, or it is unknown. `query`: its member `run`. */
export async function runOfRequest(
  s: Pick<Services, 'log' | 'losses'>,
  path: string,
  query?: string,
): Promise<string | null> {
  const run = OF_RUN.exec(path)?.[1]
  if (run !== undefined) return run
  const agent = OF_AGENT.exec(path)?.[1]
  return agent === undefined ? (query ?? null) : runOfAgent(s, agent).catch(() => null)
}
