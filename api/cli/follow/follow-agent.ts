import { setTimeout as wait } from 'node:timers/promises'
import { asOne, Refused, take } from '../../http/answers.ts'
import type { EventView } from '../../operations/events/schemas.ts'
import type { Run } from '../../operations/runs/schemas.ts'
import { OwnerError } from '../../process/owner/backend.ts'
import type { Context } from '../context.ts'
import { CliError, EXIT } from '../exit.ts'
import { hardExit } from '../hard-exit.ts'
import { AgentLines } from '../output/agent-lines.ts'
import { statusOf } from '../output/run-status.ts'
import { oneLine } from '../output/text.ts'
import { used } from '../output/units.ts'
import { onInterrupt } from './interrupt.ts'
import { serverEvents } from './server-events.ts'

/** The most changes of owner while following a run. */
const OWNERS = 20

/**
 * Follows an external agent's run to its end. Prints the agent's output to stderr as it arrives and the final text to
 * stdout. The first Ctrl-C requests a cancel. Returns the exit code.
 */
export async function followAgent(ctx: Context, runId: string): Promise<number> {
  const lines = new AgentLines(ctx.paint)
  const interrupts = onInterrupt(
    () => {
      ctx.note('\nending the agent. Press Ctrl-C again to leave without waiting.')
      void cancel(ctx, runId)
    },
    () => process.exit(EXIT.interrupted),
    () => void terminate(ctx),
  )
  try {
    await toEnd(ctx, runId, lines)
    return await told(ctx, runId)
  } finally {
    interrupts.stop()
  }
}

async function toEnd(ctx: Context, runId: string, lines: AgentLines): Promise<void> {
  let cursor: string | null = null
  for (let owners = 0; owners < OWNERS; owners++) {
    const after: string = cursor === null ? '' : `&after=${encodeURIComponent(cursor)}`
    const asked = new Request(`http://localhost/v1/events?run=${encodeURIComponent(runId)}${after}`)
    try {
      const backend = await ctx.backend('write')
      for await (const { id, data } of serverEvents(await backend.fetch(asked))) {
        if (id !== null) cursor = id
        if (data === null) continue
        const event = JSON.parse(data) as EventView
        ctx.io.stderr.write(lines.of(event))
        if (event.stream !== `external-${runId}` || event.type !== 'external_ended') continue
        ctx.io.stderr.write(lines.end())
        return
      }
    } catch (error) {
      if (!(error instanceof OwnerError && error.code === 'OWNER_GONE')) throw error
    }
    await ctx.leave()
    await wait(100)
  }
  throw new CliError(`the run is followed no further; look with: ${ctx.command('runs', 'show', runId)}`)
}

async function told(ctx: Context, runId: string): Promise<number> {
  const client = await ctx.client('write')
  const { run } = await take(client.v1.runs[':id'].$get({ param: { id: runId } }))
  ctx.note(`run ${runId}: ${used(run.total)}; ungoverned`)
  if (run.error !== null) ctx.note(`${howItEnded(run.error.code)}: ${oneLine(run.error.message)}`)
  ctx.show(run, () => [run.status === 'completed' && run.summary !== null ? run.summary : `${runId} ${statusOf(run)}`])
  return exitOf(run)
}

const howItEnded = (code: string): string =>
  code === 'CANCELLED'
    ? 'the run was cancelled'
    : code === 'UNKNOWN_OUTCOME'
      ? 'it is unknown how the agent ended'
      : 'the agent failed'

const exitOf = ({ status }: Pick<Run, 'status'>): number => (status === 'completed' ? EXIT.done : EXIT.runError)

async function cancel(ctx: Context, runId: string): Promise<void> {
  try {
    const json = { by: ctx.by, reason: 'Ctrl-C' }
    const client = await ctx.client('write')
    await take(client.v1.runs[':id'].cancel.$post({ param: { id: runId }, header: asOne(), json }))
  } catch (error) {
    if (error instanceof Refused && error.code === 'RUN_FINISHED') return
    ctx.note(`cannot cancel: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Stops following. A run that this process performs ends; a run of another process continues. */
async function terminate(ctx: Context): Promise<void> {
  const backend = await ctx.backend('write')
  if (backend.kind === 'remote') process.exit(EXIT.interrupted)
  hardExit(ctx.config.drainMs, EXIT.interrupted, (text) => ctx.note(text))
  await ctx.leave()
  process.exit(EXIT.interrupted)
}
