import type { z } from 'zod'
import { Refused, take } from '../../http/answers.ts'
import { keyedRunId } from '../../operations/runs/idempotency.ts'
import type { Run, RunDetail } from '../../operations/runs/schemas.ts'
import type { Context } from '../context.ts'

// An editor session is a chain of runs: a run ends with its task, and the next prompt starts the next run in the same
// folder. The session id is the id of the first run. The id of each later run derives from its Idempotency-Key, so any
// process can find the chain.

/** The Idempotency-Key of the session's run after `runs` earlier runs. */
export const sessionRunKey = (sessionId: string, runs: number): string => `acp:${sessionId}:${runs}`

/** The id of the run that a start with this key creates. */
export async function runIdOfKey(ctx: Context, key: string): Promise<string> {
  const { logId } = await take((await ctx.client('write')).v1.health.$get({}))
  return keyedRunId({ log: { logId } }, 'run', key)
}

type Detail = z.infer<typeof RunDetail>

/** Reads a run. Null: it does not exist. */
export async function detailOf(ctx: Context, id: string): Promise<Detail | null> {
  try {
    return await take((await ctx.client('write')).v1.runs[':id'].$get({ param: { id } }))
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null
    throw error
  }
}

/** The runs of a session in order. Empty: the session does not exist. */
export async function sessionRuns(ctx: Context, sessionId: string): Promise<Run[]> {
  const runs: Run[] = []
  for (let id = sessionId; ; id = await runIdOfKey(ctx, sessionRunKey(sessionId, runs.length))) {
    const detail = await detailOf(ctx, id)
    if (detail === null) return runs
    runs.push(detail.run)
  }
}

const REMEMBERED = 10
const MAX_TEXT = 2_000

/** A summary of the earlier runs for a new run: the last tasks and their results. */
export const conversation = (runs: readonly Run[]) =>
  runs.slice(-REMEMBERED).map(({ runId, task, summary, error }) => ({
    run: runId,
    asked: (task ?? '').slice(0, MAX_TEXT),
    result: (summary ?? error?.code ?? '').slice(0, MAX_TEXT),
  }))
