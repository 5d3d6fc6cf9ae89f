import type { Command } from 'commander'
import type { Json } from '../../../../domain/log/json.ts'
import type { ErasureCode } from '../../../../domain/stream/erasure.ts'
import { asOne, take } from '../../../http/answers.ts'
import { hasEnded } from '../../../operations/runs/drive-end.ts'
import type { Recorded } from '../../../operations/schemas.ts'
import { approvalOf, asks, decideCall, previewLines, showApproval, showDoubt } from '../../ask/ask-person.ts'
import { askToErase, erasureCode, filesStay } from '../../ask/erasing.ts'
import { continueHint } from '../../ask/question-lines.ts'
import type { Context } from '../../context.ts'
import { CliError, EXIT, UsageError } from '../../exit.ts'
import { driveToEnd, type From, resuming, stepping } from '../../follow/drive.ts'
import { statusOf } from '../../output/run-status.ts'
import { choice, type Kit, readAll, whole } from '../kit.ts'

const EXPIRY = `A question waits for 24 hours (policy.approvalTtlMs of POST /v1/runs and of the library sets another time). Then it counts
as refused: the agent is told so (APPROVAL_EXPIRED), and may ask again.`

/** Reports the recorded command. If the run has no driver, also prints the next command. */
async function recorded(ctx: Context, done: Recorded, said = 'recorded'): Promise<number> {
  ctx.show(done, () => [`${said} ${done.agentId} at revision ${done.revision}`])
  if (done.note !== undefined) ctx.note(done.note)
  if (done.driving) return EXIT.done
  const detail = await take((await ctx.client('write')).v1.runs[':id'].$get({ param: { id: done.runId } }))
  ctx.note(hasEnded(detail.run.status) ? `the run is ${statusOf(detail.run)}` : continueHint(ctx, detail))
  return EXIT.done
}

/** The log's head, to follow only new events. */
async function fromHead(ctx: Context, id: string): Promise<From> {
  const { position } = await take((await ctx.client('write')).v1.runs[':id'].$get({ param: { id } }))
  return { cursor: position }
}

/** Commands that record a person's decisions, and the two that also drive. */
export function steerCommands(program: Command, kit: Kit): void {
  program
    .command('input')
    .description('say something to a run; it is read at the next turn')
    .argument('<run>')
    .argument('<text>', '"-" reads it from standard input')
    .option('--agent <id>', 'to this agent of the run (default: the root agent)')
    .option('--answers <call>', 'the question that it answers; refused where that was answered before')
    .action(
      kit.action<{ agent?: string; answers?: string }>(async (ctx, [run, given], { agent, answers }) => {
        const text = given === '-' ? (await readAll(ctx)).trim() : given!
        if (text.trim() === '') throw new UsageError('the input is empty')
        const id = await ctx.runId(run!, 'write')
        const client = await ctx.client('write')
        const about = { ...(agent && { agent }), ...(answers && { toolCallId: answers }) }
        const json = { text, by: ctx.by, ...about }
        return recorded(ctx, await take(client.v1.runs[':id'].input.$post({ param: { id }, header: asOne(), json })))
      }),
    )

  for (const [name, decision] of [
    ['approve', 'approved'],
    ['reject', 'rejected'],
  ] as const) {
    program
      .command(name)
      .description(`${name} a call that waits; shows what it is about`)
      .addHelpText('after', `\n${EXPIRY}`)
      .argument('<call>', 'a tool call; with --dry-run also a run where only one call waits')
      .option('--reason <text>', 'recorded, and told to the agent')
      .option('--dry-run', 'only show it, in full')
      .option('--question <hash>', 'only the question that --dry-run showed with this hash')
      .option('--resume', 'go on with the run then, and follow it')
      .action(
        kit.action<DecisionOptions>(async (ctx, [call], { reason, dryRun, question, resume }) => {
          const id = await ctx.callId(call!, 'approval')
          if (dryRun) {
            const found = await approvalOf(ctx, id)
            const asked = ctx.command(name, id, '--question', found.questionHash.slice(0, SHOWN_HASH))
            const next = found.approval.state === 'pending' ? [`next: ${asked}`] : []
            ctx.show(found, () => [asks(found.approval), ...previewLines(found.preview), ...next])
            return EXIT.done
          }
          mustNameCall(ctx, name, call!, id)
          const questionHash = await showApproval(ctx, id)
          if (question !== undefined && (question.length < SHORTEST_HASH || !questionHash.startsWith(question)))
            throw new CliError('this is not the question of --question any more; nothing was decided, look again')
          const done = await decideCall(ctx, id, decision, { questionHash, ...(reason ? { reason } : {}) })
          if (!resume) return recorded(ctx, done, `${decision} ${id}; recorded`)
          ctx.note(`${decision} ${id}${done.note === undefined ? '' : `; ${done.note}`}`)
          return driveToEnd(ctx, done.runId, await fromHead(ctx, done.runId), resuming(ctx, done.runId))
        }),
      )
  }

  program
    .command('resolve')
    .description('say what became of a call whose outcome is unknown')
    .argument('<call>', 'a tool call')
    .argument('<decision>', 'happened, run (it did not: run it), or abandon')
    .option('--result <json>', 'the result, where it happened')
    .option('--reason <text>')
    .action(
      kit.action(async (ctx, [call, word], { result, reason }) => {
        const decision = choice('decision', ['happened', 'run', 'abandon'])(word!)
        const toolCallId = await ctx.callId(call!, 'doubt')
        mustNameCall(ctx, 'resolve', call!, toolCallId)
        const json = {
          decision,
          questionHash: await showDoubt(ctx, toolCallId),
          by: ctx.by,
          ...(result === undefined ? {} : { result: parseResult(result) }),
          ...(reason ? { reason } : {}),
        }
        const client = await ctx.client('write')
        const answer = client.v1.doubts[':toolCallId'].$post({ param: { toolCallId }, header: asOne(), json })
        return recorded(ctx, await take(answer))
      }),
    )

  program
    .command('cancel')
    .description('end a run')
    .argument('<run>')
    .option('--reason <text>')
    .option('--deadline <ms>', 'how long what runs may take to stop', whole('--deadline', 1))
    .action(
      kit.action(async (ctx, [run], { reason, deadline }) => {
        const id = await ctx.runId(run!, 'write')
        const client = await ctx.client('write')
        const json = { by: ctx.by, ...(reason ? { reason } : {}), ...(deadline ? { deadlineMs: deadline } : {}) }
        return recorded(ctx, await take(client.v1.runs[':id'].cancel.$post({ param: { id }, header: asOne(), json })))
      }),
    )

  program
    .command('pause')
    .description('start nothing new; what runs, finishes')
    .argument('<run>')
    .option('--reason <text>')
    .action(
      kit.action(async (ctx, [run], { reason }) => {
        const id = await ctx.runId(run!, 'write')
        const client = await ctx.client('write')
        const json = { by: ctx.by, ...(reason ? { reason } : {}) }
        return recorded(ctx, await take(client.v1.runs[':id'].pause.$post({ param: { id }, header: asOne(), json })))
      }),
    )

  program
    .command('resume')
    .description('lift a pause and drive the run until it ends or waits')
    .argument('<run>')
    .action(
      kit.action(async (ctx, [run]) => {
        const id = await ctx.runId(run!, 'write')
        return driveToEnd(ctx, id, await fromHead(ctx, id), resuming(ctx, id))
      }),
    )

  program
    .command('step')
    .description('drive the run to the next end of a turn')
    .argument('<run>')
    .action(
      kit.action(async (ctx, [run]) => {
        const id = await ctx.runId(run!, 'write')
        return driveToEnd(ctx, id, await fromHead(ctx, id), stepping(ctx, id))
      }),
    )

  program
    .command('erase')
    .description('empty bodies of events of a finished run, for ever; "verify" then says that they were erased')
    .argument('<run>')
    .option('--revision <n>', 'of this event, as "events" shows it after the @, or of a range: 3..9')
    .option('--all', 'of all events that hold words of people, models or tools')
    .requiredOption('--reason <text>', 'required; recorded, and shown wherever the body would be')
    .addOption(erasureCode())
    .option('--dry-run', 'only show what would be emptied')
    .option('--yes', 'do not ask; needed where there is no terminal')
    .option('--agent <id>', 'of this agent (default: the root agent, with --all every agent of the run)')
    .addHelpText(
      'after',
      `\nGive either --revision or --all.\n\n${filesStay()}\nNor facts that the run saved with "remember": --dry-run names them, "memory forget ID --erase" erases one.`,
    )
    .action(
      kit.action<Erasing>(async (ctx, [run], { code, reason, agent, revision, all, dryRun, yes }) => {
        if ((revision === undefined) !== (all === true)) throw new UsageError('give either --revision or --all')
        const what = revision === undefined ? ({ all: true } as const) : range(revision)
        if (reason.trim() === '') throw new UsageError('--reason: say why')
        const runId = await ctx.runId(run!, 'write')
        const json = { ...what, code, reason, by: ctx.by, ...(agent === undefined ? {} : { agent }) }
        return askToErase(ctx, { runId, json, dryRun, yes })
      }),
    )
}

/** The length of a question's hash in the output, and the shortest accepted prefix. In hex digits. */
const SHOWN_HASH = 16
const SHORTEST_HASH = 8

/** Refuses an answer to a run: the run may have a new question that the person has not read. */
function mustNameCall(ctx: Context, command: string, given: string, id: string): void {
  if (!/\.t\d+\.c\d+$/.test(given))
    throw new UsageError(`name the call that you have read: ${ctx.command(command, id)}`)
}

interface DecisionOptions {
  readonly question?: string
  readonly reason?: string
  readonly dryRun?: boolean
  readonly resume?: boolean
}

interface Erasing {
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly code: ErasureCode
  readonly reason: string
  readonly agent?: string
  readonly revision?: string
  readonly all?: true
}

function range(text: string): { revision: number; to?: number } {
  const [from, to, ...more] = text.split('..').map(whole('revision'))
  if (more.length > 0) throw new UsageError('revision: expected one, or a range such as 3..9')
  return { revision: from!, ...(to === undefined ? {} : { to }) }
}

function parseResult(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError('--result: expected JSON; put a text in double quotes')
  }
}
