import { resolve } from 'node:path'
import type { Command } from 'commander'
import { counted } from '../../../../projections/engine/text.ts'
import { Refused, refusal } from '../../../http/answers.ts'
import { ExportError } from '../../../operations/export/export-error.ts'
import { type ExportSource, runExport } from '../../../operations/export/export-thread.ts'
import { type ExportFormat, FORMATS } from '../../../operations/export/manifest.ts'
import type { Exported } from '../../../operations/export/thread-protocol.ts'
import type { Context } from '../../context.ts'
import { CliError, EXIT, UsageError } from '../../exit.ts'
import { bytes } from '../../output/units.ts'
import { choice, type Kit } from '../kit.ts'
import { flowExport } from '../look/history.ts'

interface ExportOptions {
  agent?: string
  events?: boolean
  tables?: boolean
  to?: string
  format?: ExportFormat
  since?: string
}

async function exportRun(ctx: Context, run: string, { agent, ...others }: ExportOptions): Promise<number> {
  for (const name of ['to', 'format', 'since'] as const)
    if (others[name] !== undefined)
      throw new UsageError(`--${name} belongs to --events and --tables; a run is written to stdout`)
  const id = await ctx.runId(run, 'read')
  const backend = await ctx.backend('read')
  const query = agent === undefined ? '' : `?agent=${encodeURIComponent(agent)}`
  return flowExport(ctx, await backend.fetch(new Request(`http://localhost/v1/runs/${id}/export${query}`)))
}

/** The lines of an export, from the owner of the data folder. */
const sourceOf = (ctx: Context): ExportSource =>
  async function* (asked) {
    const query = new URLSearchParams()
    if (asked.of === 'events' && asked.after !== null) query.set('after', asked.after)
    if (asked.of === 'events' && asked.last !== null) query.set('last', String(asked.last))
    const backend = await ctx.backend('read')
    const response = await backend.fetch(new Request(`http://localhost/v1/exports/${asked.of}?${query}`))
    if (!response.ok || !response.body) throw await refusal(response)
    yield* counting(ctx, response.body)
  }

/** Passes lines on, and shows the progress: the first line has the position of the log's head, and each event its own. */
async function* counting({ progress }: Context, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const last = (text: string, name: string) => [...text.matchAll(new RegExp(`"${name}":(\\d+)`, 'g'))].at(-1)?.[1]
  let [size, head] = [0, null as number | null]
  for await (const piece of body) {
    if (progress !== null) {
      const text = Buffer.from(piece).toString('latin1')
      if (size === 0) head = Number(last(text.slice(0, text.indexOf('\n')), 'head') ?? Number.NaN) || null
      size += piece.length
      const position = last(text, 'position')
      if (head === null || position === undefined) progress.at({ done: size, total: null, unit: '', amount: bytes })
      else progress.at({ done: Number(position), total: head, unit: 'positions of the log' })
    }
    yield piece
  }
}

async function exportAll(ctx: Context, o: ExportOptions): Promise<number> {
  const { to, format = 'parquet', since, events = false, tables = false } = o
  if (to === undefined) throw new UsageError('export: name the folder with --to FOLDER')
  if (tables && format === 'cloudevents')
    throw new UsageError('--format cloudevents: a format of events; export tables into another folder')
  if (since !== undefined && !events) throw new UsageError('--since: belongs to --events')
  if (o.agent !== undefined)
    throw new UsageError('--agent: names an agent of one run; name the run, and leave out --events and --tables')
  const folder = resolve(ctx.io.cwd, to)
  const work = { folder, format, events: events ? { since: since ?? null } : null, tables }
  try {
    const exported = await runExport(work, sourceOf(ctx))
    ctx.show({ folder, ...exported }, () => linesOf(to, exported))
    return EXIT.done
  } catch (error) {
    if (error instanceof ExportError) throw new CliError(error.message)
    if (error instanceof Refused && error.code === 'CURSOR_MISMATCH' && since === undefined)
      throw new CliError(`${to} cannot be continued: ${MISMATCH}; export into a new folder`)
    throw error
  }
}

const MISMATCH = 'it holds events of another log, or of a later state of this one than was restored'

function linesOf(to: string, { events, tables }: Exported): string[] {
  const lines: string[] = []
  if (events !== null)
    lines.push(
      `${to}: ${counted(events.rows, 'event')} in ${counted(events.files.length, 'new file')}`,
      ...events.rewritten.map((file) => `  ${file}: written again without what was erased since`),
    )
  if (events !== null && events.outdated.length > 0)
    lines.push(
      `${to}: ${counted(events.outdated.length, 'table')} may still show what was erased since; export again with --tables`,
    )
  if (tables !== null) {
    const rows = Object.values(tables.tables)
    const sum = rows.reduce((all, n) => all + n, 0)
    lines.push(`${to}: ${counted(rows.length, 'table')} with ${counted(sum, 'row')}`)
  }
  return lines
}

/** The command `export`. */
export function exportCommand(program: Command, kit: Kit): void {
  program
    .command('export')
    .description(
      "a run's sealed events as NDJSON on stdout, to be verified elsewhere; or everything as files for analysts",
    )
    .argument('[run]')
    .option('--agent <id>', 'only this agent of the run')
    .option('--events', 'all events, into the folder --to; again: those that came since')
    .option('--tables', 'all tables at one position of the log, into the folder --to; again: replaces them')
    .option('--to <folder>', 'a new folder, or that of an earlier export')
    .option('--format <format>', `of the files: ${FORMATS.join(', ')} (default: parquet)`, choice('--format', FORMATS))
    .option('--since <cursor>', 'with --events: a new export begins after this cursor')
    .action(
      kit.action<ExportOptions>((ctx, [run], options) => {
        const isAll = options.events === true || options.tables === true
        if ((run === undefined) !== isAll)
          throw new UsageError('export: name a run, or --events and --tables for everything')
        return run === undefined ? exportAll(ctx, options) : exportRun(ctx, run, options)
      }),
    )
}
