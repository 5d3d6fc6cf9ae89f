import type { z } from 'zod'
import type { Context } from '../cli/context.ts'
import { resuming } from '../cli/follow/drive.ts'
import { take } from '../http/answers.ts'
import { hasEnded } from '../operations/runs/drive-end.ts'
import type { RunDetail } from '../operations/runs/schemas.ts'

export type Detail = z.infer<typeof RunDetail>

export const detailOf = async (ctx: Context, id: string): Promise<Detail> =>
  (await take((await ctx.client('write')).v1.runs[':id'].$get({ param: { id } }))) as Detail

/** Drives a run. Returns false without a change if it has ended, or if a person has paused it. */
export async function goOn(ctx: Context, { runId, paused, status }: Detail['run']): Promise<boolean> {
  if (paused || hasEnded(status)) return false
  await resuming(ctx, runId)(await ctx.backend('write'))
  return true
}
