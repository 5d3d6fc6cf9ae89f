import { setTimeout as wait } from 'node:timers/promises'
import { asOne, Refused, take } from '../../http/answers.ts'
import type { EventView, Payload } from '../../operations/events/schemas.ts'
import type { Ended } from '../../operations/runs/drive-end.ts'
import { OwnerError } from '../../process/owner/backend.ts'
import { askFor } from '../ask/ask-person.ts'
import type { Context } from '../context.ts'
import { CliError, EXIT } from '../exit.ts'
import { hardExit } from '../hard-exit.ts'
import { notifyPerson } from '../notify.ts'
import { Voices } from '../output/agent-headings.ts'
import { eventLine } from '../output/follow-line.ts'
import { safe } from '../output/text.ts'
import { type Begin, follow, type Watch } from './follow.ts'
import { onInterrupt } from './interrupt.ts'
import { reportEnd } from './outcome.ts'

/** The most handovers. A process that ends may need time to finish its work before it releases the run. */
const HANDOVERS = 80
const handoverMs = (nth: number): number => Math.min(500, 50 * nth)

/** The time for an abort in ms, before the process exits anyway. */
const ABORT_MS = 1000

/** What a waiting run needs from a person. */
const NEEDS: Readonly<Record<string, string>> = {
  input: 'asks a question',
  approval: 'waits for an approval',
  doubt: 'needs to know what became of a call',
}

/** The event cursor after which to show a run. */
export type From = Pick<Watch, 'cursor'>

export const FROM_BIRTH: From = { cursor: null }

/** Resumes a paused run and drives it. A repetition sends the same idempotency key. */
export function resuming(ctx: Context, id: string): Begin {
  const header = asOne()
  return async (backend) => {
    const client = ctx.clientOver(backend)
    return take(client.v1.runs[':id'].resume.$post({ param: { id }, header, json: { by: ctx.by } }))
  }
}

/** Drives to the end of the next turn. */
export function stepping(ctx: Context, id: string): Begin {
  const header = asOne()
  return async (backend) => {
    const client = ctx.clientOver(backend)
    return take(client.v1.runs[':id'].step.$post({ param: { id }, header, json: { by: ctx.by } }))
  }
}

/**
 * Drives a run until it ends or needs a person, shows its events after the cursor `from`, and asks the person at a
 * terminal. If the driving process ends, this process takes over. Returns the exit code.
 */
export async function driveToEnd(ctx: Context, runId: string, from: From, first: Begin): Promise<number> {
  let summary: string | null = null
  const voices = new Voices(runId, (text) => ctx.io.stderr.write(text), ctx.paint)
  // Agents born before the first event shown.
  if (from.cursor !== null) for (const agent of await agentsOf(ctx, runId)) voices.meet(agent)
  const watch: Watch = {
    runId,
    ...from,
    onEvent: (event) => {
      const agentId = event.stream.replace(/^agent-/, '')
      if (event.type === 'agent_started') voices.meet({ agentId, ...bornAs(event.payload) })
      if (event.type === 'completion' && agentId === runId) summary = event.payload?.summary ?? ''
      const line = isEnd(event, agentId === runId) ? null : eventLine(event, ctx.paint)
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
      if (end.end === 'waiting' && NEEDS[end.for] !== undefined)
        notifyPerson(ctx, 'keepup', `${runId} ${NEEDS[end.for]}`)
      const asks = end.end === 'waiting' && ctx.interactive && interrupts.count() === 0
      // A signal at a question cancels the question, because there is no work to pause.
      if (asks) interrupts.stop()
      const again = asks && (await askFor(ctx, runId, end))
      if (asks) interrupts.start()
      if (!again) return await reportEnd(ctx, runId, end, summary)
      begin = resuming(ctx, runId)
    }
  } catch (error) {
    // The aborted request fails. Its message has already been shown.
    if (aborting !== null) return await aborting
    throw error
  } finally {
    interrupts.stop()
  }
}

/** The error that ends the run. {@link reportEnd} says it. */
const isEnd = ({ type, payload }: EventView, ofRun: boolean): boolean =>
  ofRun && type === 'error' && payload !== null && 'recoverable' in payload && payload.recoverable === false

/** The agents of a run for their names. Empty if the tables cannot list them; the run can be followed without names. */
async function agentsOf(ctx: Context, id: string) {
  const client = await ctx.client('write')
  const tree = await take(client.v1.runs[':id'].tree.$get({ param: { id } })).catch((error: unknown) => {
    if (error instanceof Refused) return null
    throw error
  })
  return tree?.agents ?? []
}

const bornAs = (payload: Payload<'agent_started'> | null) => ({
  depth: payload?.depth ?? 1,
  role: payload?.spec.role?.name ?? null,
})

/** Follows a run across changes of owner. */
export async function toEnd(ctx: Context, watch: Watch, begin: Begin): Promise<Ended> {
  for (let handovers = 0; handovers < HANDOVERS; handovers++) {
    if (handovers > 1) await wait(handoverMs(handovers))
    try {
      const backend = await ctx.backend('write')
      const end = await follow(backend, watch, begin)
      if (end.end !== 'overtaken' && !(end.end === 'interrupted' && backend.kind === 'remote')) return end
    } catch (error) {
      // The run may have ended in another process, so there is nothing left to drive.
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

/** The end of a run. Null: it has not ended. */
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

/** Lets this process's current work finish, which ends the drive. Leaves runs that another process drives alone. */
async function terminate(ctx: Context): Promise<void> {
  const backend = await ctx.backend('write')
  if (backend.kind === 'remote') process.exit(EXIT.interrupted)
  // Never cancel the timer: work after the drive may hang too.
  hardExit(ctx.config.drainMs, EXIT.interrupted, (text) => ctx.note(text))
  await backend.drain()
}

/** Aborts this process's work and waits at most {@link ABORT_MS}. */
async function abort(ctx: Context): Promise<never> {
  const leave = async () => {
    await (await ctx.backend('write')).drain(0)
    await ctx.leave()
  }
  await Promise.race([leave().catch(() => {}), wait(ABORT_MS)])
  process.exit(EXIT.interrupted)
}
