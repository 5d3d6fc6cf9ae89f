import { Refused, take } from '../../http/answers.ts'
import type { Ended } from '../../operations/runs/drive-end.ts'
import { nextLines } from '../ask/question-lines.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit.ts'
import { statusOf } from '../output/run-status.ts'
import { oneLine } from '../output/text.ts'
import { estimateText, used } from '../output/units.ts'

const WHY: Readonly<Record<string, string>> = {
  approval: 'the run waits for an approval',
  doubt: 'it is unknown whether a call happened; say what became of it',
  input: 'the run waits for input',
  pause: 'the run is paused',
}

/**
 * Reports the end of a followed run: the result on stdout, the next commands on stderr. Returns the exit code. The end
 * and the `summary`, if seen, come from the log, so only figures are missing if the tables do not show the run.
 */
export async function reportEnd(ctx: Context, runId: string, end: Ended, summary: string | null): Promise<number> {
  if (end.end === 'fault') {
    ctx.note(`the run could not go on (${end.code}): ${end.message}`)
    for (const line of await afterFault(ctx, runId, end.code)) ctx.note(line)
    return EXIT.failed
  }
  if (end.end === 'interrupted' || end.end === 'overtaken') {
    ctx.note(`interrupted; go on with: ${ctx.command('resume', runId)}`)
    return EXIT.interrupted
  }
  const client = await ctx.client('write')
  const detail = await take(client.v1.runs[':id'].$get({ param: { id: runId } })).catch((error: unknown) => {
    if (!(error instanceof Refused && error.code.startsWith('TABLES_'))) throw error
    ctx.note(`the run is recorded, but the tables do not show it yet: ${error.message}`)
    return null
  })
  if (detail === null) {
    if (end.end === 'error') ctx.note(whyEnded(end))
    const ended = end.end === 'error' ? { status: 'failed', ...end } : { status: end.end }
    ctx.show({ runId, ...ended, summary }, () => [summary ?? `${runId} ${ended.status}`])
    return exitOf(end)
  }
  const { run } = detail
  ctx.note(`run ${runId}: ${run.turn} turns, ${used(run.total)}${estimateText(run.total.inDoubt)}`)
  if (end.end === 'waiting') {
    ctx.note(`${WHY[end.for]}; next:`)
    for (const line of nextLines(ctx, { ...detail, run: { ...run, driving: false } })) ctx.note(line)
    if (end.for === 'pause') ctx.note(`  one turn more: ${ctx.command('step', runId)}`)
  }
  if (end.end === 'error') {
    ctx.note(whyEnded(end))
    if (end.code === 'MODEL_FAILED') for (const line of afterModelFailure(ctx, runId, end.error)) ctx.note(line)
  }
  const unmet = run.unmetGates.length > 0
  if (unmet) ctx.note(`gates that do not hold: ${run.unmetGates.join(', ')}`)
  ctx.show(run, () => (end.end === 'done' && run.summary !== null ? [run.summary] : [`${runId} ${statusOf(run)}`]))
  return unmet && end.end === 'done' ? EXIT.unmetGates : exitOf(end)
}

const whyEnded = ({ code, error }: Extract<Ended, { end: 'error' }>): string =>
  `${code === 'CANCELLED' ? 'the run was cancelled' : `the run ended in ERROR ${code}`}: ${oneLine(error)}`

/** A reason that begins with the code of an error is permanent: no longer wait would have helped. */
function afterModelFailure(ctx: Context, runId: string, reason: string): string[] {
  const fork = ctx.command('fork', runId)
  if (/^SCRIPT_[A-Z]+: /.test(reason)) return [`mend the script, then go on from there with: ${fork}`]
  if (/^[A-Z_]+: /.test(reason)) return [`mend the cause, then go on from there with: ${fork}`]
  return [
    `go on from there with: ${fork}`,
    'a run that is started with a longer --model-outage (retry.modelOutageMs) waits longer for its model',
  ]
}

/** The advice for a run that failed to continue. A process that runs `serve` retries by itself. */
async function afterFault(ctx: Context, runId: string, code: string): Promise<string[]> {
  // The messages of these errors say where the run can continue.
  if (code === 'TOOLS_MISSING' || code === 'PROVIDER_MISSING') return []
  const { drivesDue } = await take((await ctx.client('write')).v1.health.$get({}))
  if (!drivesDue) return [`go on with: ${ctx.command('resume', runId)}`]
  return [
    `the process that serves this folder tries it again by itself; look with: ${ctx.command('runs', 'show', runId)}`,
    `to stop that: ${ctx.command('pause', runId)}, or for ever: ${ctx.command('cancel', runId)}`,
  ]
}

const exitOf = ({ end }: Ended): number => (end === 'done' ? EXIT.done : end === 'error' ? EXIT.runError : EXIT.waiting)
