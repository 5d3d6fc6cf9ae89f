import type { z } from 'zod'
import { recordedAt } from '../../../domain/external/runtime/recorded-at.ts'
import { type RecordedPoint, recordedPointOf } from '../external/recorded-point.ts'
import { isUngoverned } from '../runs/run-of-agent.ts'
import type { AtQuery } from '../schemas.ts'
import type { Services } from '../services.ts'
import { type AgentPoint, atOf, pointOf } from './point.ts'

/** The state of an agent at a point; of another agent its record. */
export async function stateAt(
  s: Services,
  runId: string,
  query: z.output<typeof AtQuery>,
): Promise<AgentPoint | RecordedPoint> {
  const { agent: agentId = runId } = query
  return (await isUngoverned(s, agentId))
    ? recordedPointOf(await recordedAt(s, agentId, atOf(query)))
    : pointOf(await s.runtime.at(agentId, atOf(query)))
}
