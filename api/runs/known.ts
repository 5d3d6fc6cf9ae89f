import { shortened } from '../../domain/log/errors.ts'
import { agentStream } from '../../domain/log/ids.ts'
import { runOf } from '../../domain/log/owner.ts'
import { specOf } from '../../domain/runtime/history/spec.ts'
import { lossText } from '../losses/loss.ts'
import type { Services } from '../services.ts'
import { notFound } from './commands.ts'

type Log = Pick<Services, 'log'> & Partial<Pick<Services, 'losses'>>

/** The run of an agent. Rejects with 404 where the log has no such agent, with `LOG_SHORTENED` where it may have lost it. */
export async function runOfAgent({ log, losses }: Log, agentId: string): Promise<string> {
  for await (const [first] of log.read(agentStream(agentId), { limit: 1, bodies: false })) {
    if (first !== undefined) return runOf(first.header)
  }
  if (losses?.open) throw shortened(lossText(losses.open))
  throw notFound('agent', agentId)
}

/** Rejects with 404 where the log has no such run; the id of an agent below the root is none. */
export async function mustBeRun(s: Log, runId: string): Promise<void> {
  const of = await runOfAgent(s, runId).catch((error: unknown) => {
    if ((error as { status?: unknown }).status === 404) return null
    throw error
  })
  if (of !== runId) throw notFound('run', runId)
}

/** The folder that a run works in; null: none, or nothing of its beginning can be read. */
export async function workspaceOf(s: Pick<Services, 'log' | 'blobs'>, runId: string): Promise<string | null> {
  const found = await specOf(s, runId).catch(() => null)
  return found?.spec.workspace?.path ?? null
}
