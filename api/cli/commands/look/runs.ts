import type { Command } from 'commander'
import type { z } from 'zod'
import { counted } from '../../../../projections/engine/text.ts'
import { take } from '../../../http/answers.ts'
import { omitUndefined } from '../../../operations/omit-undefined.ts'
import { hasEnded } from '../../../operations/runs/drive-end.ts'
import type { RunQuery } from '../../../operations/runs/query-schema.ts'
import type { RunDetail, RunList } from '../../../operations/runs/schemas.ts'
import type { Parked } from '../../../operations/system/schemas.ts'
import { visible } from '../../../operations/text/visible-text.ts'
import { OwnerError } from '../../../process/owner/backend.ts'
import { pendingApprovals } from '../../ask/ask-person.ts'
import { askLines, byWhom, nextLines, parkedLines } from '../../ask/question-lines.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { acceptedLines, noteLoss } from '../../output/loss-text.ts'
import { listedAs, statusOf } from '../../output/run-status.ts'
import { oneLine } from '../../output/text.ts'
import { bytes, dollars, estimateText, used } from '../../output/units.ts'
import { alone, choice, type Kit, whole } from '../kit.ts'
import { annotationCommands } from './annotations.ts'
import { taskLines } from './plan.ts'

const SHOWN = 100
const PAGE = 500
/** The statuses that the column STATUS shows. */
const STATUSES = ['active', 'completed', 'failed', 'cancelled', 'recovering', 'interrupted'] as const

/** `people`: an approval, a decision about an unknown outcome, or an input. */
const WAITING = ['people', 'input', 'approval', 'doubt', 'pause', 'model'] as const

type RunQueryInput = z.input<typeof RunQuery>

type Detail = z.infer<typeof RunDetail>
type Run = Detail['run']

/** An external agent's run. keepup's policy does not apply to its actions. */
const agentOf = ({ backend }: Run): string | null => (backend === null ? null : `${backend}, ungoverned`)
const DISK = { title: 'DISK', of: (r: Run) => bytes(r.bytes), side: 'right' as const, optional: true }
const TAGS = { title: 'TAGS', of: (r: Run) => r.tags.join(', '), optional: true }
const COLUMNS = [
  { title: 'RUN', of: (r: Run) => r.runId },
  { title: 'STATUS', of: (r: Run) => listedAs(r) },
  { title: 'ROLE', of: (r: Run) => r.role, optional: true },
  { title: 'AGENT', of: (r: Run) => agentOf(r), optional: true },
  { title: 'TURN', of: (r: Run) => r.turn, side: 'right' as const },
  { title: 'COST', of: (r: Run) => dollars(r.total.nanoDollars), side: 'right' as const },
  DISK,
  { title: 'UPDATED', of: (r: Run) => r.updatedAt, optional: true },
  TAGS,
  { title: 'TASK', of: (r: Run) => r.task, flexible: true },
]

/** A run whose first event cannot be read. */
interface DamagedRun {
  readonly runId: string
  readonly status: 'damaged'
  readonly error: { readonly code: string; readonly message: string }
}
const damagedRun = ({ runId, code, error }: z.infer<typeof Parked>): DamagedRun => ({
  ...{ runId, status: 'damaged', error: { code, message: error } },
})

/** A column that also shows damaged runs: their id, status and fault. */
const withDamaged = (column: (typeof COLUMNS)[number]) => ({
  ...column,
  of: (run: Run | DamagedRun) => {
    if (run.status !== 'damaged') return column.of(run)
    return (
      { RUN: run.runId, STATUS: run.status, TASK: `${run.error.code}: ${oneLine(run.error.message)}` }[column.title] ??
      ''
    )
  },
})

/** When the owner does not answer, we cannot know which runs it drives. */
async function told(ctx: Context): Promise<(run: Run) => Run> {
  const silent = (await ctx.backend('read')).besideSilent === true
  return (run) => (silent && run.interrupted ? { ...run, interrupted: null } : run)
}

interface ListOptions
  extends Pick<
    RunQueryInput,
    'error' | 'waiting' | 'role' | 'model' | 'over' | 'file' | 'person' | 'since' | 'until' | 'tag' | 'text'
  > {
  readonly status?: (typeof STATUSES)[number]
  readonly limit: number
}

/**
 * The query for the API. `interrupted` is not part of it: the command line itself checks whether a process drives a
 * run.
 */
function queryOf(o: ListOptions): Omit<RunQueryInput, 'limit' | 'after'> {
  const { error, waiting, role, model, over, file, person, since, until, tag, text } = o
  const stored = o.status === 'interrupted' ? undefined : o.status
  const ended = stored === 'cancelled' ? ({ status: 'failed', error: 'CANCELLED' } as const) : { status: stored, error }
  return omitUndefined({ ...ended, waiting, role, model, over, file, person, since, until, tag, text })
}

async function list(ctx: Context, options: ListOptions): Promise<number> {
  const { status, limit } = options
  if (status === 'cancelled' && options.error !== undefined)
    throw new UsageError('a cancelled run has the code CANCELLED; give only one of --status cancelled and --error')
  const client = await ctx.client('read').catch((error: unknown) => {
    if (error instanceof OwnerError && error.code === 'NOTHING_YET') return error
    throw error
  })
  // A new folder or a misspelt namespace gives an empty list, not an error.
  if (client instanceof OwnerError) {
    ctx.list([], COLUMNS)
    ctx.note(client.message)
    return EXIT.done
  }
  const asTold = await told(ctx)
  const rows: Run[] = []
  const damaged: DamagedRun[] = []
  let damagedCount = 0
  let after: string | null = null
  while (rows.length < limit) {
    const left = status === 'interrupted' ? PAGE : Math.min(PAGE, limit - rows.length)
    const query = { ...queryOf(options), limit: String(left), ...(after === null ? {} : { after }) }
    const page: z.infer<typeof RunList> = await take(client.v1.runs.$get({ query }))
    // A damaged run has no known status.
    if (status === undefined) {
      damaged.push(...Object.values(page.damaged).map(damagedRun))
      damagedCount += page.damagedCount
    }
    const runs = page.runs.map(asTold)
    rows.push(...(status === 'interrupted' ? runs.filter((run) => statusOf(run) === status) : runs))
    after = page.next
    if (after === null) break
  }
  // Servers do not count bytes per run, so hide the column.
  const counted = rows.length === 0 || rows.some((run) => run.bytes !== null)
  const tagged = rows.some(({ tags }) => tags.length > 0)
  ctx.list(
    [...damaged, ...rows.slice(0, limit)],
    COLUMNS.filter((column) => (counted || column !== DISK) && (tagged || column !== TAGS)).map(withDamaged),
  )
  if (after !== null || rows.length > limit)
    ctx.note(
      `these are the newest ${limit}, there are more: ${ctx.command('runs', 'list', '--limit', `${10 * limit}`)}`,
    )
  if (damagedCount > damaged.length)
    ctx.note(`${damagedCount} runs are damaged; the first ${damaged.length} are listed; all: ${ctx.command('verify')}`)
  if (damaged[0] !== undefined && ctx.format === 'table')
    ctx.note(
      `not even the beginning of a damaged run can be read; why: ${ctx.command('runs', 'show', damaged[0].runId)}`,
    )
  await noteLoss(ctx)
  return EXIT.done
}

/** A run as text: its definition, status and usage. Lists the agents only if there are several. */
function runLines({ run, tree, acceptedLosses, reuse, restoring, continuedBy }: Detail): string[] {
  const rows: [string, string | null][] = [
    ['run', run.runId],
    ['task', run.task],
    ['status', statusOf(run)],
    ['state', hasEnded(run.status) || run.ungoverned ? null : `${run.machineState}${run.paused ? ', paused' : ''}`],
    ['error', run.error && `${run.error.code}: ${run.error.message}`],
    ['summary', run.summary],
    ['last words', run.partialOutput],
    ['unmet gates', run.unmetGates.join(', ') || null],
    ['role', run.role && [run.role, run.phase && `phase ${run.phase}`].filter(Boolean).join(', ')],
    ['agent', agentOf(run)],
    ['model', run.model],
    ['workspace', run.workspace],
    ['restore', restoring && restoreOf(run.runId, restoring)],
    ['forked from', run.source && `${run.source.agentId} after step ${run.source.step}`],
    ['continues', run.continues],
    ['continued by', continuedBy.join(', ') || null],
    ['record', reuse && recordOf(reuse)],
    ['turn, step', `${run.turn}, ${run.step}`],
    [
      'used',
      `${run.total.modelCalls} model calls, ${run.total.toolCalls} tool calls, ${used(run.total)}${estimateText(run.total.inDoubt)}`,
    ],
    ['disk', run.bytes === null ? null : bytes(run.bytes)],
    ['tags', run.tags.join(', ') || null],
    ['started', run.createdAt],
    ['updated', run.updatedAt],
    ['shortened', run.shortened ? 'the log holds less of it than was seen; see "keepup repair"' : null],
    ['incomplete', run.incomplete ? 'something could not be read; the figures may be too low' : null],
  ]
  const agents = tree.length < 2 ? [] : tree
  return [
    ...rows.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(12)} ${oneLine(value)}`])),
    ...agents.map((a) => `agent ${'  '.repeat(a.depth)}${a.agentId} ${a.role ?? ''} ${a.status}, turn ${a.turn}`),
    ...acceptedLosses.flatMap(acceptedLines),
  ]
}

/** The warning about an unfinished restore, which may have restored only some of the files. */
function restoreOf(runId: string, { step, tree, replaces }: NonNullable<Detail['restoring']>): string {
  const point = step ?? `--tree ${tree}`
  return `has not ended; if its process is gone, files may be half put back: keepup restore ${runId} ${point}, or --tree ${replaces} for those of before`
}

/** How much of its source's record a fork has reused. */
function recordOf({ source, models, tools, left }: NonNullable<Detail['reuse']>): string {
  const taken = `${counted(models, 'answer')} and ${counted(tools, 'result')} taken from ${source}`
  if (left === null) return `${taken}, not left`
  const differs = left.differs.length === 0 ? '' : ` (${left.differs.join(', ')})`
  const at = left.turn === 0 ? 'between turns' : `in turn ${left.turn}`
  return `${taken}; left ${left.toolCallId === null ? at : `at ${left.toolCallId}`}: ${left.reason}${differs}`
}

async function show(ctx: Context, run: string): Promise<number> {
  const id = await ctx.runId(run, 'read')
  const found = (await take((await ctx.client('read')).v1.runs[':id'].$get({ param: { id } }))) as Detail
  const detail = { ...found, run: (await told(ctx))(found.run) }
  const tasks = ctx.format === 'table' && !found.run.ungoverned ? await tasksOf(ctx, id) : []
  ctx.show(detail, () => [...runLines(detail), ...taskLines(tasks)])
  // For a parked run the tables may show an outdated state, so show that first.
  const next =
    ctx.format !== 'table' ? [] : detail.parked.length > 0 ? parkedLines(ctx, detail) : nextLines(ctx, detail)
  if (next.length > 0) ctx.note('next:')
  for (const line of next) ctx.note(line)
  return EXIT.done
}

/** The tasks of the root agent. Empty if its stream is unreadable. */
async function tasksOf(ctx: Context, id: string) {
  const client = await ctx.client('read')
  const answer = await client.v1.runs[':id'].plan.$get({ param: { id }, query: {} })
  return answer.ok ? (await take(Promise.resolve(answer))).tasks : []
}

const WAITS_FOR = { approval: 'an approval', doubt: 'what became of it', input: 'an answer' }

/** All open questions to people: approvals, calls with unknown outcomes, and questions of agents. */
async function waiting(ctx: Context): Promise<number> {
  const client = await ctx.client('read')
  const approvals = await pendingApprovals(client)
  const { doubts } = await take(client.v1.doubts.$get({ query: {} }))
  const { questions } = await take(client.v1.questions.$get({ query: {} }))
  const rows = [
    ...approvals.map((a) => ({ ...a, for: 'approval' as const, text: a.reason })),
    ...[...doubts, ...questions].map((d) => ({ ...d, expiresAt: null })),
  ]
  ctx.list(rows, [
    { title: 'CALL', of: (a) => a.toolCallId ?? a.runId },
    { title: 'WAITS FOR', of: (a) => WAITS_FOR[a.for] },
    { title: 'TOOL', of: (a) => a.toolName },
    { title: 'AGENT', of: byWhom, optional: true },
    { title: 'EXPIRES', of: (a) => a.expiresAt, optional: true },
    { title: 'ARGUMENTS', of: (a) => visible(JSON.stringify(a.arguments ?? {})), flexible: true },
  ])
  if (ctx.format === 'table') for (const line of rows.flatMap((row) => askLines(ctx, row))) ctx.note(line)
  return EXIT.done
}

export function runsCommands(program: Command, kit: Kit): void {
  const runs = program.command('runs').description('list, show and tag runs, and write notes on them')
  alone(runs.command('list', { isDefault: true }))
    .description('runs, newest first')
    .option('--status <status>', STATUSES.join(', '), choice('--status', STATUSES))
    .option('--error <code>', 'that ended with this code, such as MODEL_FAILED')
    .option('--waiting <for>', `that wait: ${WAITING.join(', ')}`, choice('--waiting', WAITING))
    .option('--role <name>', 'of this role')
    .option('--model <id>', 'that ask for this model')
    .option('--over <dollars>', 'that have cost more')
    .option(
      '--file <path>',
      'of which a file tool read or wrote this file: a path in the workspace, or an absolute one',
    )
    .option('--person <name>', 'that this person started, decided an approval of, or gave input to')
    .option('--since <time>', 'started then or later: 2026-11-23, 2026-11-23T08:00:00Z, or 30m, 12h, 2d, 1w ago')
    .option('--until <time>', 'started before then')
    .option('--tag <tag>', 'that have this tag')
    .option(
      '--text <text>',
      'that hold this text: in the task, the result, a note, the paths and errors of calls, or a text that "search" finds',
    )
    .option('--limit <n>', 'how many', whole('--limit', 1), SHOWN)
    .action(kit.action<ListOptions>((ctx, _, options) => list(ctx, options)))
  runs
    .command('show')
    .description('a run, what it used, and what it waits for')
    .argument('<run>')
    .action(kit.action((ctx, [run]) => show(ctx, run!)))
  annotationCommands(runs, kit)
  program
    .command('approvals')
    .description('all that runs ask of people, and the commands that answer')
    .action(kit.action((ctx) => waiting(ctx)))
}
