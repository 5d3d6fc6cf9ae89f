import type { Right } from '../../../domain/access/rights.ts'
import { take } from '../../http/answers.ts'
import type { Context } from '../context.ts'
import { CliError } from '../exit.ts'

/** To follow a run: its state, and the texts of its events. */
const TO_FOLLOW = ['runs.read', 'bodies.read'] as const satisfies readonly Right[]

/**
 * Refuses before anything is recorded if the key of this command line may not follow the run that it would start.
 * `drives`: the command line also drives the run.
 */
export async function mustFollow(ctx: Context, drives: boolean): Promise<void> {
  const { rights } = await take((await ctx.client('write')).v1.access.me.$get({}))
  const needed: readonly Right[] = drives ? ['runs.steer', ...TO_FOLLOW] : TO_FOLLOW
  const missing = needed.filter((right) => !rights.includes(right))
  if (missing.length === 0) return
  const lack = `this key does not have the right ${missing.join(' and ')}, which following a run needs`
  throw new CliError(`${lack}; nothing was recorded; use another key, or only record the run with --no-drive`)
}
