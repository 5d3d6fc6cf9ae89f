import type { Command } from 'commander'
import type { Message } from '../../../../domain/calls/content.ts'
import { counted } from '../../../../projections/engine/text.ts'
import { refusal, take } from '../../../http/answers.ts'
import { isAltered } from '../../../operations/events/export.ts'
import { eventTypes } from '../../../operations/events/filter.ts'
import { EVENT_MEMBERS, type EventView } from '../../../operations/events/schemas.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { eventPages } from '../../follow/pages.ts'
import { linesOf } from '../../output/body-lines.ts'
import { comparisonLines } from '../../output/comparison-text.ts'
import { csvRows } from '../../output/csv.ts'
import { days, eventRow } from '../../output/event-row.ts'
import { changeText, messageLine, recordedLines, stateLines, telling } from '../../output/state-text.ts'
import { type Kit, known, whole } from '../kit.ts'

/** Shows events one by one. A new day gets a separate line. */
function shower(ctx: Context, ofManyRuns: boolean): (event: EventView) => Promise<void> {
  const dayOf = days()
  const csv = csvRows(EVENT_MEMBERS)
  return async (event) => {
    if (ctx.format === 'csv') return ctx.flow(csv([event]))
    if (ctx.format !== 'table') return ctx.flow(`${JSON.stringify(event)}\n`)
    const day = dayOf(event)
    await ctx.flow(`${day === null ? '' : `${day}\n`}${eventRow(event, ofManyRuns)}\n`)
  }
}

/** One element of a JSON array, indented like the complete array. */
const member = (event: EventView, nth: number): string =>
  `${nth === 0 ? '[\n' : ',\n'}${JSON.stringify(event, null, 2).replace(/^/gm, '  ')}`

/** Maps the options for a point of a history to query parameters. */
export function pointQuery(o: { to?: number; turn?: number; event?: number }): {
  step?: string
  turn?: string
  event?: string
} {
  const given = [o.to, o.turn, o.event].filter((v) => v !== undefined)
  if (given.length > 1) throw new UsageError('give only one of --to, --turn and --event')
  if (o.to !== undefined) return { step: String(o.to) }
  if (o.turn !== undefined) return { turn: String(o.turn) }
  return o.event === undefined ? {} : { event: String(o.event) }
}

/**
 * The exit code of a view. An altered event, whose stored body does not match its sealed hash, is damage that scripts
 * must notice.
 */
export function seen(ctx: Context, altered: number): number {
  if (altered === 0) return EXIT.done
  ctx.note(`${counted(altered, 'event')} altered: what is stored is not what was sealed, so it is not shown as true`)
  ctx.note(`  ${ctx.command('verify')}`)
  return EXIT.verification
}

/** Writes an export while it arrives. Returns the exit code. */
export async function flowExport(ctx: Context, response: Response): Promise<number> {
  if (!response.ok || !response.body) throw await refusal(response)
  let altered = 0
  for await (const line of linesOf(response.body)) {
    await ctx.flow(`${line}\n`)
    if (isAltered(line)) altered++
  }
  return seen(ctx, altered)
}

interface EventsOptions {
  agent?: string
  type?: string[]
  turn?: number
}

async function events(ctx: Context, run: string, { agent, type, turn }: EventsOptions): Promise<number> {
  const id = await ctx.runId(run, 'read')
  const client = await ctx.client('read')
  const show = shower(ctx, false)
  let shown = 0
  let altered = 0
  const wanted = {
    ...(agent ? { agent } : {}),
    ...(type ? { type: type.join(',') } : {}),
    ...(turn === undefined ? {} : { turn: String(turn) }),
  }
  for await (const page of eventPages(client, id, wanted)) {
    for (const event of page.events) await (ctx.format === 'json' ? ctx.flow(member(event, shown++)) : show(event))
    altered += page.events.filter((event) => event.altered).length
  }
  if (ctx.format === 'json') ctx.data(shown === 0 ? '[]\n' : '\n]\n')
  return seen(ctx, altered)
}

interface TailOptions {
  run?: string
  type?: string[]
  after?: string
  all?: boolean
  follow?: boolean
}

async function tail(ctx: Context, o: TailOptions): Promise<number> {
  const query = new URLSearchParams({ from: o.all || o.follow === false ? 'start' : 'head' })
  if (o.run) query.set('run', await ctx.runId(o.run, 'read'))
  if (o.type) query.set('type', o.type.join(','))
  if (o.after) query.set('after', o.after)
  if (o.follow === false) query.set('follow', 'false')
  const headers = { accept: 'application/x-ndjson' }
  const backend = await ctx.backend('read')
  const response = await backend.fetch(new Request(`http://localhost/v1/events?${query}`, { headers }))
  if (!response.ok || !response.body) throw await refusal(response)
  const show = shower(ctx, o.run === undefined)
  let altered = 0
  for await (const line of linesOf(response.body)) {
    if (line === '') continue
    const event = JSON.parse(line) as EventView
    if (event.altered) altered++
    await (ctx.isJson ? ctx.flow(`${line}\n`) : show(event))
  }
  return seen(ctx, altered)
}

interface ReplayOptions {
  to?: number
  turn?: number
  event?: number
  agent?: string
}

async function replay(ctx: Context, run: string, o: ReplayOptions): Promise<number> {
  const query = { ...pointQuery(o), ...(o.agent ? { agent: o.agent } : {}) }
  const id = await ctx.runId(run, 'read')
  const at = await take((await ctx.client('read')).v1.runs[':id'].state.$get({ param: { id }, query }))
  ctx.show(at, () => ('backend' in at ? recordedLines(at) : stateLines(at)))
  return EXIT.done
}

async function compare(ctx: Context, a: string, b: string): Promise<number> {
  const [id, other] = [await ctx.runId(a, 'read'), await ctx.runId(b, 'read')]
  const query = { with: other, limit: '2000' }
  const found = await take((await ctx.client('read')).v1.runs[':id'].compare.$get({ param: { id }, query }))
  ctx.show(found, () => comparisonLines(found))
  return EXIT.done
}

async function diff(ctx: Context, run: string, a: string, b?: string): Promise<number> {
  if (b === undefined) return compare(ctx, run, a)
  const id = await ctx.runId(run, 'read')
  const full = async (text: string) => {
    const [agent, step] = text.includes(':')
      ? [text.slice(0, text.lastIndexOf(':')), text.split(':').at(-1)!]
      : [id, text]
    if (!/^\d+$/.test(step)) throw new UsageError(`"${text}" is no step; expected a number, or <run>:<number>`)
    return `${agent === id ? id : await ctx.runId(agent, 'read')}:${step}`
  }
  const query = { a: await full(a), b: await full(b) }
  const found = await take((await ctx.client('read')).v1.runs[':id'].diff.$get({ param: { id }, query }))
  const said = (sign: string, messages: readonly unknown[]) =>
    messages.map((m) => `  ${sign} ${messageLine(m as Message)}`)
  ctx.show(found, () => [
    'State:',
    ...found.state.filter(telling).map((d) => `  ${changeText(d)}`),
    `Messages (${found.messages.common} in common):`,
    ...said('-', found.messages.onlyA),
    ...said('+', found.messages.onlyB),
    ...(found.files && found.files.changes.length > 0
      ? ['Files:', ...found.files.changes.map((c) => `  ${c.change} ${c.path}`), ...found.files.patch.split('\n')]
      : []),
  ])
  return EXIT.done
}

/** Commands that read a run's history. */
export function historyCommands(program: Command, kit: Kit): void {
  program
    .command('events')
    .description("a run's events, in the order of the log: @revision, time, turn, type, what it says")
    .argument('<run>')
    .option('--agent <id>', 'of this agent, or of a person: user:<name> (default: all of the run)')
    .option('--type <types>', 'of these types only', known('--type', eventTypes()))
    .option('--turn <n>', 'of this turn only (0: outside of turns)', whole('--turn'))
    .action(kit.action<EventsOptions>((ctx, [run], options) => events(ctx, run!, options)))
  program
    .command('tail')
    .description('events as they come, until interrupted')
    .option('--run <run>', 'of this run only')
    .option('--type <types>', 'of these types only', known('--type', eventTypes()))
    .option('--after <cursor>', 'from here on (default: from now on)')
    .option('--all', 'from the first event on')
    .option('--no-follow', 'end at the head of now')
    .action(kit.action<TailOptions>((ctx, _, options) => tail(ctx, options)))
  program
    .command('replay')
    .description('the state at a point, folded from the log; nothing is performed')
    .argument('<run>')
    .option('--to <step>', 'after this step (0: as it was started)', whole('--to'))
    .option('--turn <n>', 'at the end of this turn', whole('--turn'))
    .option('--event <revision>', 'after this event', whole('--event'))
    .option('--agent <id>', 'of this agent (default: the root agent)')
    .action(kit.action<ReplayOptions>((ctx, [run], options) => replay(ctx, run!, options)))
  program
    .command('diff')
    .description('what differs between two runs; or between two steps, of one run or of two (<run>:<step>)')
    .argument('<run>')
    .argument('<a>', 'another run; or a step, or <agent>:<step>')
    .argument('[b]', 'another step')
    .action(kit.action((ctx, [run, a, b]) => diff(ctx, run!, a!, b)))
}
