import { setTimeout as wait } from 'node:timers/promises'
import type { EventView } from '../../operations/events/schemas.ts'
import type { Ended } from '../../operations/runs/drive-end.ts'
import { OwnerError } from '../../process/owner/backend.ts'
import { askFor } from '../ask/ask-person.ts'
import { asOne, Refused, take } from '../client.ts'
import type { Context } from '../context.ts'
import { CliError, EXIT } from '../exit.ts'
import { hardExit } from '../hard-exit.ts'
import { Voices } from '../output/agent-headings.ts'
import { eventLine } from '../output/render.ts'
import { safe } from '../output/text.ts'
import { type Begin, follow, type Watch } from './follow.ts'
import { onInterrupt } from './interrupt.ts'
import { report } from './outcome.ts'

/** A process that ends may take its time over what is at work before it lets go. */
const HANDOVERS = 80
const handoverMs = (nth: number): number => Math.min(500, 50 * nth)

/** How long what is broken off may take to end; then it is ended by force. */
const ABORT_MS = 1000

/** Where the showing of a run begins. */
export type From = Pick<Watch, 'cursor'>

export const FROM_BIRTH: From = { cursor: null }

/** Lifts a pause, if there is one, and drives. Asked again it is the same request. */
export function resuming(ctx: Context, id: string): Begin {
  const header = asOne()
  return async (backend) => {
    const client = ctx.clientOver(backend)
    return take(client.v1.runs[':id'].resume.$post({ param: { id }, header, json: { by: ctx.by } }))
  }
}

/** Drives to the next end of a turn. */
export function stepping(ctx: Context, id: string): Begin {
  const header = asOne()
  return async (backend) => {
    const client = ctx.clientOver(backend)
    return take(client.v1.runs[':id'].step.$post({ param: { id }, header, json: { by: ctx.by } }))
  }
}

/**
 * Drives a run to the point where it ends or a person is needed, shows it from the cursor `from` on, and asks the person
 * at a terminal. Gives the exit code. Where the process that drives goes away, this one takes over.
 */
export async function driveToEnd(ctx: Context, runId: string, from: From, first: Begin): Promise<number> {
  let summary: string | null = null
  const voices = new Voices(runId, (text) => ctx.io.stderr.write(text), ctx.paint)
  // Agents that were born before the first event that is shown.
  if (from.cursor !== null) for (const agent of await agentsOf(ctx, runId)) voices.meet(agent)
  const watch: Watch = {
    runId,
    ...from,
    onEvent: (event) => {
      const agentId = event.stream.replace(/^agent-/, '')
      if (event.type === 'agent_started') voices.meet({ agentId, ...bornAs(event) })
      if (event.type === 'completion' && agentId === runId) summary = String(event.payload?.summary ?? '')
      const line = eventLine(event, ctx.paint)
      if (line !== null) voices.line(agentId, line)
    },
    onText: (agentId, text) => voices.text(agentId, safe(text)),
  }
  let aborting: Promise<never> | null = null
  const interrupts = onInterrupt(
    () => {
      ctx.note('\npausing; what runs may finish. Press Ctrl-C again to abort.')
      void pause(ctx, runId)
    },
    () => {
      if (aborting !== null) process.exit(EXIT.interrupted)
      ctx.note(`\naborted; go on with: ${ctx.command('resume', runId)}`)
      aborting = abort(ctx)
    },
    () => void terminate(ctx),
  )
  let begin = first
  try {
    for (;;) {
      const end = await toEnd(ctx, watch, begin)
      if (aborting !== null) return await aborting
      voices.end()
      const asks = end.end === 'waiting' && ctx.interactive && interrupts.count() === 0
      // A signal at a question ends the question; there is nothing at work to pause.
      if (asks) interrupts.stop()
      const again = asks && (await askFor(ctx, runId, end))
      if (asks) interrupts.start()
      if (!again) return await report(ctx, runId, end, summary)
      begin = resuming(ctx, runId)
    }
  } catch (error) {
    // A request that was broken off fails; the message has been shown.
    if (aborting !== null) return await aborting
    throw error
  } finally {
    interrupts.stop()
  }
}

/** The agents of a run, as far as the tables know them: names only, without which the run is followed all the same. */
async function agentsOf(ctx: Context, id: string) {
  const client = await ctx.client('write')
  const tree = await take(client.v1.runs[':id'].tree.$get({ param: { id } })).catch((error: unknown) => {
    if (error instanceof Refused) return null
    throw error
  })
  return tree?.agents ?? []
}

function bornAs({ payload }: EventView): { depth: number; role: string | null } {
  const { depth, spec } = (payload ?? {}) as { depth?: number; spec?: { role?: { name?: string } | null } }
  return { depth: depth ?? 1, role: spec?.role?.name ?? null }
}

/** Follows over changes of owner. */
export async function toEnd(ctx: Context, watch: Watch, begin: Begin): Promise<Ended> {
  for (let handovers = 0; handovers < HANDOVERS; handovers++) {
    if (handovers > 1) await wait(handoverMs(handovers))
    try {
      const backend = await ctx.backend('write')
      const end = await follow(backend, watch, begin)
      if (end.end !== 'overtaken' && !(end.end === 'interrupted' && backend.kind === 'remote')) return end
    } catch (error) {
      // A run that another process drove may have ended there: then no drive is left to begin.
      const ended =
        error instanceof Refused && error.status === 409 && handovers > 0 ? await endOf(ctx, watch.runId) : null
      if (ended) return ended
      if (!(error instanceof OwnerError && error.code === 'OWNER_GONE')) throw error
    }
    await ctx.leave()
  }
  throw new CliError(
    `the run is handed from process to process; look who drives it, then: ${ctx.command('resume', watch.runId)}`,
  )
}

/** How a run ended, or null where it has not. */
async function endOf(ctx: Context, id: string): Promise<Ended | null> {
  const { run } = await take((await ctx.client('write')).v1.runs[':id'].$get({ param: { id } }))
  if (run.status === 'completed') return { end: 'done' }
  return run.status === 'failed' && run.error ? { end: 'error', code: run.error.code, error: run.error.message } : null
}

async function pause(ctx: Context, runId: string): Promise<void> {
  try {
    const client = await ctx.client('write')
    await take(
      client.v1.runs[':id'].pause.$post({
        param: { id: runId },
        header: asOne(),
        json: { by: ctx.by, reason: 'Ctrl-C' },
      }),
    )
  } catch (error) {
    ctx.note(`cannot pause: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Lets what this process drives come to rest, which ends the drive; what another one drives is not ours to end. */
async function terminate(ctx: Context): Promise<void> {
  const backend = await ctx.backend('write')
  if (backend.kind === 'remote') process.exit(EXIT.interrupted)
  // Not called off: what comes after the drive may hang as well.
  hardExit(ctx.config.drainMs, EXIT.interrupted, (text) => ctx.note(text))
  await backend.drain()
}

/** Breaks off what this process drives, but does not wait long for it. */
async function abort(ctx: Context): Promise<never> {
  const leave = async () => {
    await (await ctx.backend('write')).drain(0)
    await ctx.leave()
  }
  await Promise.race([leave().catch(() => {}), wait(ABORT_MS)])
  process.exit(EXIT.interrupted)
}
