import type { z } from 'zod'
import { omitUndefined } from '../omit-undefined.ts'
import { notFound } from '../problem.ts'
import { mustGovern, runOfAgent } from '../runs/run-of-agent.ts'
import type { Services } from '../services.ts'
import type { CheckpointsQuery } from './checkpoint-schemas.ts'

/** An agent's checkpoints, in order of their steps. Rejects with 404, `RUN_UNGOVERNED`. The tables must be caught up. */
export async function listCheckpoints(
  s: Services,
  agentId: string,
  { limit, after, include }: z.output<typeof CheckpointsQuery>,
) {
  await mustHaveCheckpoints(s, agentId)
  const { position, value } = await s.read.checkpoints(
    agentId,
    omitUndefined({ limit, after, whole: include === 'state' }),
  )
  return { position, ...value }
}

/** A whole checkpoint. Rejects with 404, `RUN_UNGOVERNED`. The tables must be caught up. */
export async function getCheckpoint(s: Services, agentId: string, step: number) {
  await mustHaveCheckpoints(s, agentId)
  const { position, value: checkpoint } = await s.read.checkpoint(agentId, step)
  if (checkpoint === null) throw notFound('checkpoint', `${agentId}.s${step}`)
  return { position, checkpoint }
}

async function mustHaveCheckpoints(s: Services, agentId: string): Promise<void> {
  await runOfAgent(s, agentId)
  await mustGovern(s, agentId, 'a checkpoint')
}
