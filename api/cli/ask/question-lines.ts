import type { z } from 'zod'
import type { AskRow } from '../../operations/read-model.ts'
import { hasEnded } from '../../operations/runs/drive-end.ts'
import type { Run, RunDetail } from '../../operations/runs/schemas.ts'
import { visible } from '../../operations/text/visible-text.ts'
import type { Context } from '../context.ts'
import { oneLine, quoted, truncateToWidth } from '../output/text.ts'

const WIDTH = 200

/** The path to an agent below the root by roles, such as `architect › coder`. Empty for the root. */
export const byWhom = ({ agentPath }: Pick<AskRow, 'agentPath'>): string =>
  agentPath.length < 2 ? '' : oneLine(agentPath.map(({ role }) => role ?? 'agent').join(' › '))

/** The text of a question to a person, with its subject and the commands that answer it. */
export function askLines(ctx: Context, ask: AskRow): string[] {
  const call = ask.toolCallId ?? ''
  const said = oneLine(ask.text)
  const who = byWhom(ask)
  const from = who === '' ? '' : ` (${who})`
  const about = `    ${truncateToWidth(oneLine(visible(JSON.stringify(ask.arguments))), WIDTH)}`
  switch (ask.for) {
    case 'approval':
      return [
        `  ${oneLine(ask.toolName ?? 'a call')} waits for approval${from}: ${said}`,
        about,
        `    ${ctx.command('approve', call, '--dry-run')}  (all of it)`,
        `    ${ctx.command('approve', call)}`,
        `    ${ctx.command('reject', call, '--reason', '"…"')}`,
      ]
    case 'doubt':
      return [
        `  it is unknown whether ${oneLine(ask.toolName ?? 'a call')} happened${from}: ${said}`,
        about,
        `    it happened:               ${ctx.command('resolve', call, 'happened')}`,
        `    it did not, so run it:     ${ctx.command('resolve', call, 'run')}`,
        `    give it up, tell the agent: ${ctx.command('resolve', call, 'abandon')}`,
      ]
    case 'input': {
      const agent = who === '' ? [] : ['--agent', ask.agentId]
      const question = ask.toolCallId === null ? [] : ['--answers', ask.toolCallId]
      return [
        said === '' ? `  the agent waits to be told what to do${from}` : `  the agent asks${from}: ${said}`,
        `    ${ctx.command('input', ask.runId, '"…"', ...agent, ...question)}`,
      ]
    }
  }
}

/** Why the tables contain only a part of a run, and how to make them read it again. */
export const parkedLines = (
  ctx: Context,
  { run, parked }: Pick<z.infer<typeof RunDetail>, 'run' | 'parked'>,
): string[] =>
  parked.length === 0
    ? []
    : [
        ...parked.map(
          ({ stream, revision, code, error }) =>
            `  ${stream} is read up to ${revision}, no further: ${oneLine(error)} (${code})`,
        ),
        `    what is shown is older than the run. What is wrong with it: ${ctx.command('verify', run.runId)}; when it is back:`,
        `    ${ctx.command('release', run.runId)}`,
      ]

interface Going {
  readonly run: Pick<
    Run,
    'runId' | 'status' | 'driving' | 'interrupted' | 'waiting' | 'ungoverned' | 'backend' | 'workspace' | 'error'
  >
  readonly asks: readonly AskRow[]
  readonly missingTools: readonly string[]
  readonly missingProviders: readonly string[]
  readonly workersDrive: boolean
  /** The session of another agent can be continued. */
  readonly continuable: boolean
}

/**
 * Whether the process that ran another agent was killed. No answer reaches that agent. The next process that owns the data
 * folder records the end, with an unknown outcome.
 */
const isAgentGone = ({ ungoverned, interrupted, error }: Pick<Run, 'ungoverned' | 'interrupted' | 'error'>): boolean =>
  ungoverned && (interrupted === true || error?.code === 'UNKNOWN_OUTCOME')

/** How to continue the work of another agent whose process is gone. */
function continueSession(ctx: Context, { run, continuable }: Pick<Going, 'run' | 'continuable'>): string {
  const gone = 'the run was interrupted: the process that ran the agent is gone'
  if (continuable) return `${gone}; continue its session with: ${ctx.command('continue', run.runId, '"TASK"')}`
  if (!hasEnded(run.status)) {
    const [end, look] = [ctx.command('cancel', run.runId), ctx.command('runs', 'show', run.runId)]
    return `${gone}; record the end with: ${end}; then see how to go on with: ${look}`
  }
  const where = run.workspace === null ? [] : ['--workspace', quoted(run.workspace)]
  const again = ctx.command('run', '--agent', run.backend ?? 'KIND', ...where, '"TASK"')
  return `${gone}, and its session cannot be continued here; start it again with (add the options of this run): ${again}`
}

/** How a run without a driver can continue. */
export function continueHint(ctx: Context, going: Omit<Going, 'asks'>): string {
  const { run, missingTools, missingProviders, workersDrive } = going
  if (isAgentGone(run)) return continueSession(ctx, going)
  if (workersDrive && !run.waiting.some((one) => one.for === 'pause'))
    return `it goes on by itself where a worker runs; look with: ${ctx.command('runs', 'show', run.runId)}`
  if (run.ungoverned && run.interrupted === null)
    return `another process may run the agent; if it is gone, the next process that starts records the end; look with: ${ctx.command('runs', 'show', run.runId)}`
  if (run.ungoverned) return `the agent works; look with: ${ctx.command('runs', 'show', run.runId)}`
  if (missingTools.length > 0)
    return `it goes on in the program that has its tools; this one does not have ${missingTools.map(oneLine).join(', ')}`
  if (missingProviders.length > 0)
    return `it goes on in the program that has the providers of its models; this one does not have ${missingProviders.map(oneLine).join(', ')}`
  return `go on with: ${ctx.command('resume', run.runId)}`
}

/**
 * The next commands for a run: answers to its questions, then `resume`. Without `resume` if the run has a driver; empty
 * if it has ended.
 */
export function nextLines(ctx: Context, going: Going): string[] {
  const { run, asks } = going
  if (isAgentGone(run)) return [`  ${continueHint(ctx, going)}`]
  if (hasEnded(run.status)) return []
  const answers = asks.flatMap((ask) => askLines(ctx, ask))
  return run.driving ? answers : [...answers, `  ${continueHint(ctx, going)}`]
}
