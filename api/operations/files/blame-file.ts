import type { z } from 'zod'
import { Problem } from '../problem.ts'
import { mustBeRun, mustGovern } from '../runs/run-of-agent.ts'
import type { Services } from '../services.ts'
import type { BlameFileQuery, FileBlame } from './schemas.ts'

/** A file at a step of an agent, and the calls that wrote its lines. Rejects with 404, `RUN_UNGOVERNED`, `NO_WORKSPACE`. */
export async function blameFile(
  s: Services,
  runId: string,
  { path, step, agent = runId }: z.output<typeof BlameFileQuery>,
): Promise<FileBlame> {
  await mustBeRun(s, runId)
  await mustGovern(s, agent, 'to tell which call wrote a line')
  const found = await s.files.blame(agent, step, path)
  if (found === null) throw new Problem('NO_WORKSPACE', 'this run has no versioned workspace')
  return found
}
