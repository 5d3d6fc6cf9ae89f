import type { Context } from '../cli/context.ts'
import { Refused, take } from '../http/answers.ts'
import type { StartRunInput } from '../operations/runs/start-schemas.ts'

/** Starts a run. If commands cannot be confined, tells the person and starts it without a sandbox, which is recorded. */
export async function startDemoRun(ctx: Context, asked: StartRunInput): Promise<string> {
  const client = await ctx.client('write')
  const start = async (json: StartRunInput) =>
    (await take(client.v1.runs.$post({ header: {}, json: { ...json, drive: false, by: ctx.by } }))).runId
  try {
    return await start(asked)
  } catch (error) {
    if (!(error instanceof Refused && error.code === 'SANDBOX_UNAVAILABLE')) throw error
    ctx.note(`No sandbox here: ${error.message}`)
    ctx.note('The demo runs its own harmless commands without one; this is recorded with the run.')
    return start({ ...asked, policy: { ...asked.policy, sandboxed: false } })
  }
}
