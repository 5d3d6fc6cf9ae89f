import type { z } from 'zod'
import { keyedRunId } from '../../operations/runs/idempotency.ts'
import type { Run, RunDetail } from '../../operations/runs/schemas.ts'
import { Refused, take } from '../client.ts'
import type { Context } from '../context.ts'

// A session of an editor is a chain of runs: a run ends with its task, and the next prompt starts the next run in the same
// folder. The session bears the id of its first run. The id of each later one follows from a key that is made of it, so
// that any process finds the chain again.

/** The Idempotency-Key of the session's run after `runs` others. */
export const keyOf = (sessionId: string, runs: number): string => `acp:${sessionId}:${runs}`

/** The id of the run that a start under this key makes. */
export async function runIdOf(ctx: Context, key: string): Promise<string> {
  const { logId } = await take((await ctx.client('write')).v1.health.$get({}))
  return keyedRunId({ log: { logId } }, 'run', key)
}

export type Detail = z.infer<typeof RunDetail>

/** A run; null where there is none. */
export async function detailOf(ctx: Context, id: string): Promise<Detail | null> {
  try {
    return await take((await ctx.client('write')).v1.runs[':id'].$get({ param: { id } }))
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null
    throw error
  }
}

/** The runs of a session, in order; none where there is no such run. */
export async function runsOf(ctx: Context, sessionId: string): Promise<Run[]> {
  const runs: Run[] = []
  for (let id = sessionId; ; id = await runIdOf(ctx, keyOf(sessionId, runs.length))) {
    const detail = await detailOf(ctx, id)
    if (detail === null) return runs
    runs.push(detail.run)
  }
}

const REMEMBERED = 10
const MAX_TEXT = 2_000

/** The earlier runs as a new run sees them: the last tasks and their results. */
export const conversation = (runs: readonly Run[]) =>
  runs.slice(-REMEMBERED).map(({ runId, task, summary, error }) => ({
    run: runId,
    asked: (task ?? '').slice(0, MAX_TEXT),
    result: (summary ?? error?.code ?? '').slice(0, MAX_TEXT),
  }))
