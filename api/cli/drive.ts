import { setTimeout as wait } from 'node:timers/promises'
import { OwnerError } from '../owner/backend.ts'
import type { Ended } from '../runs/drivers.ts'
import { askFor } from './ask.ts'
import { Refused, take } from './client.ts'
import type { Context } from './context.ts'
import { CliError, EXIT } from './exit.ts'
import { follow, type Watch } from './follow.ts'
import { onInterrupt } from './interrupt.ts'
import { report } from './outcome.ts'
import { safe } from './output/text.ts'
import { eventLine } from './render.ts'

const HANDOVER_MS = 50
const HANDOVERS = 200

/**
 * Follows a run that this command asked to be driven, to the point where it ends or a person is needed, and answers for
 * the person at a terminal. Gives the exit code. Where the process that drives goes away, this one takes over.
 */
export async function driveToEnd(ctx: Context, runId: string, from: string | null): Promise<number> {
  let midLine = false
  const watch: Watch = {
    runId,
    cursor: from,
    onEvent: (event) => {
      const line = eventLine(event, ctx.paint)
      if (line === null) return
      ctx.line(`${midLine ? '\n' : ''}${line}`)
      midLine = false
    },
    onText: (text) => {
      ctx.io.stderr.write(safe(text))
      midLine = !text.endsWith('\n')
    },
  }
  const interrupts = onInterrupt(
    () => {
      ctx.note('\npausing; what runs may finish. Press Ctrl-C again to abort.')
      void pause(ctx, runId)
    },
    () => {
      ctx.note(`\naborted; go on with: keepup resume ${runId}`)
      void abort(ctx)
    },
  )
  try {
    for (;;) {
      const end = await toEnd(ctx, watch)
      if (midLine) ctx.line('')
      midLine = false
      const again =
        end.end === 'waiting' && ctx.interactive && interrupts.count() === 0 && (await askFor(ctx, runId, end))
      if (!again) return await report(ctx, runId, end)
      await resume(ctx, runId)
    }
  } finally {
    interrupts.stop()
  }
}

/** Follows over changes of owner. */
async function toEnd(ctx: Context, watch: Watch): Promise<Ended> {
  for (let handovers = 0; handovers < HANDOVERS; handovers++) {
    try {
      const backend = await ctx.backend('write')
      const end = await follow(backend, watch, () => revisionOf(ctx, watch.runId))
      const handedOver =
        end === null || end.end === 'overtaken' || (end.end === 'interrupted' && backend.kind === 'remote')
      if (!handedOver) return end
    } catch (error) {
      if (!(error instanceof OwnerError && error.code === 'OWNER_GONE')) throw error
    }
    await ctx.leave()
    if (handovers > 0) await wait(HANDOVER_MS)
    const resumed = await takeOver(ctx, watch.runId)
    if (resumed) return resumed
  }
  throw new CliError(
    `the run is handed from process to process; look who drives it, then: keepup resume ${watch.runId}`,
  )
}

/** Asks the new owner, which may be this process, to go on. Gives the end where the run has ended meanwhile. */
async function takeOver(ctx: Context, runId: string): Promise<Ended | null> {
  try {
    await resume(ctx, runId)
    return null
  } catch (error) {
    if (error instanceof OwnerError && error.code === 'OWNER_GONE') return null
    if (!(error instanceof Refused && error.status === 409)) throw error
    const { run } = await take((await ctx.client('write')).v1.runs[':id'].$get({ param: { id: runId } }))
    if (run.status === 'completed') return { end: 'done' }
    if (run.error) return { end: 'error', code: run.error.code, error: run.error.message }
    throw error
  }
}

async function resume(ctx: Context, runId: string): Promise<void> {
  const client = await ctx.client('write')
  await take(client.v1.runs[':id'].resume.$post({ param: { id: runId }, header: {}, json: { by: ctx.by } }))
}

async function revisionOf(ctx: Context, runId: string): Promise<number> {
  const { run } = await take((await ctx.client('write')).v1.runs[':id'].$get({ param: { id: runId } }))
  return run.revision
}

async function pause(ctx: Context, runId: string): Promise<void> {
  try {
    const client = await ctx.client('write')
    await take(
      client.v1.runs[':id'].pause.$post({ param: { id: runId }, header: {}, json: { by: ctx.by, reason: 'Ctrl-C' } }),
    )
  } catch (error) {
    ctx.note(`cannot pause: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Interrupts what this process drives, but does not wait long for it. */
async function abort(ctx: Context): Promise<never> {
  await Promise.race([ctx.leave().catch(() => {}), wait(2000)])
  process.exit(EXIT.interrupted)
}
