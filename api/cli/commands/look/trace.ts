import { relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { counted } from '../../../../projections/engine/text.ts'
import { take } from '../../../http/answers.ts'
import type { Trace } from '../../../operations/trace/schemas.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { cells, oneLine, pad, truncateToWidth } from '../../output/text.ts'
import { type Kit, whole } from '../kit.ts'

interface TraceOptions {
  run?: string
  agent?: string
  step?: number
  limit?: number
  untrusted?: true
}

const EVENT = /^.+@\d{1,15}$/
const CALL = /^([\w.-]+)\.(t\d+\.c\d+)$/
const LINE = /^(.+):(\d{1,15})$/
/** The most cells of a quoted text. */
const QUOTE = 100

/** The query for a target as a person names it. */
async function queryOf(ctx: Context, target: string, o: TraceOptions): Promise<Record<string, string>> {
  const more = { ...(o.limit !== undefined && { limit: `${o.limit}` }), ...(o.untrusted && { untrusted: 'true' }) }
  const [, path, line] = LINE.exec(target) ?? []
  if (path !== undefined && line !== undefined) return { ...(await fileOf(ctx, path, o)), line, ...more }
  if (o.run !== undefined || o.agent !== undefined || o.step !== undefined)
    throw new UsageError('--run, --agent and --step go with FILE:LINE only')
  if (EVENT.test(target)) return { event: target, ...more }
  const [, agent, place] = CALL.exec(target) ?? []
  if (agent === undefined || place === undefined)
    throw new UsageError(
      `"${target}" is no line, event or call; name src/a.ts:3, agent-a1@0, or a call such as 06dw.t3.c0; the writes of a whole file: ${ctx.command('ask', 'files_written', '--path', target)}`,
    )
  return { call: await callOf(ctx, agent, place), ...more }
}

/** A call's id. The run's part may be a prefix; agents below the root have ids that cannot be shortened. */
async function callOf(ctx: Context, agent: string, place: string): Promise<string> {
  const client = await ctx.client('read')
  const { runs } = await take(client.v1.runs.$get({ query: { prefix: agent, limit: '2' } }))
  return `${runs.length === 1 ? runs[0]!.runId : agent}.${place}`
}

/** A file of a run. Without `--run`: of the newest run whose tools have read or written the file. */
async function fileOf(ctx: Context, path: string, { run, agent, step }: TraceOptions): Promise<Record<string, string>> {
  const client = await ctx.client('read')
  const file = resolve(ctx.io.cwd, path)
  const query = run === undefined ? { file, limit: '1' } : { prefix: await ctx.runId(run, 'read'), limit: '1' }
  const { runs } = await take(client.v1.runs.$get({ query }))
  const found = runs[0]
  if (found === undefined)
    throw new UsageError(`no run has read or written ${file} with its file tools; name one with --run`)
  const inside = found.workspace === null ? path : relative(found.workspace, file)
  return {
    file: inside.startsWith('..') ? path : inside,
    run: found.runId,
    ...(agent !== undefined && { agent }),
    ...(step !== undefined && { step: `${step}` }),
  }
}

/** The chain, one step a line, and the texts that the model had read. */
function traceLines({ steps, person, missing, others, texts }: Trace): string[] {
  const eventOf = (one: { stream: string; revision: number }) => `${one.stream}@${one.revision}`
  const width = Math.max(...[...steps, ...texts.newest].map((one) => cells(eventOf(one))))
  const said = (quote = '') => (quote === '' ? '' : `: ${truncateToWidth(oneLine(quote), QUOTE)}`)
  const lines = steps.map((step) => {
    const erased = step.erased ? ' (erased)' : ''
    return `${pad(step.kind, 10)}  ${pad(eventOf(step), width)}  ${step.text}${erased}${said(step.quote)}`
  })
  const claimed = person?.claimed ? ', as the request said' : ''
  lines.push(person === null ? `no person: ${missing}` : `on the authority of ${person.id}${claimed}`)
  if (others.length > 0) lines.push(`may have written it too: ${others.join(', ')}`)
  if (texts.total === 0) return lines
  lines.push('', `the model had read ${counted(texts.total, 'text')} before, ${texts.untrusted} untrusted (!)`)
  for (const text of texts.newest) {
    const about = `${text.from} (${text.source})`
    const head = text.erased ? ' (erased)' : said(text.head)
    lines.push(`${pad(text.untrusted ? '!' : '', 10)}  ${pad(eventOf(text), width)}  ${about}${head}`)
  }
  return lines
}

/** `keepup trace`: where a value came from. */
export function traceCommand(program: Command, kit: Kit): void {
  program
    .command('trace')
    .description(
      'where a line, an event or a call came from: calls, approvals, rules, people, and what the model had read',
    )
    .argument('<target>', 'FILE:LINE, STREAM@REVISION, or a call, whose run may be shortened')
    .option('--run <run>', 'the run of the file (default: the newest one that has read or written it)')
    .option('--agent <id>', 'the agent of the file (default: the root agent)')
    .option('--step <n>', 'the file as it is at this step (default: now)', whole('--step'))
    .option('--limit <n>', 'at most so many of the read texts (default: 20)', whole('--limit'))
    .option('--untrusted', 'only untrusted texts')
    .action(
      kit.action<TraceOptions>(async (ctx, [target = ''], options) => {
        const query = await queryOf(ctx, target, options)
        const found = await take((await ctx.client('read')).v1.trace.$get({ query }))
        ctx.show(found, () => traceLines(found))
        if (found.texts.more > 0) ctx.note(`${found.texts.more} more texts; --limit shows more at once`)
        return EXIT.done
      }),
    )
}
