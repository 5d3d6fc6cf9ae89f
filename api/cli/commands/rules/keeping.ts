import type { Command } from 'commander'
import { KEPT, type Kept } from '../../../../domain/access/keeping.ts'
import { counted } from '../../../../projections/engine/text.ts'
import { asOne, take } from '../../../http/answers.ts'
import { agreed } from '../../ask/choose.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { bytes } from '../../output/units.ts'
import { alone, type Kit } from '../kit.ts'

const NO_EFFECT = 'this event store cannot empty bodies, so nothing is erased by policy'

function subjectOf(word: string): Kept {
  const subject = KEPT.find((one) => one === word)
  if (subject === undefined) throw new UsageError(`"${word}" has no retention: ${KEPT.join(', ')}`)
  return subject
}

function daysOf(text: string): number | null {
  if (text === 'never') return null
  if (/^\d{1,5}$/.test(text)) return Number(text)
  throw new UsageError(`"${text}": write a number of days, or never`)
}

interface SweepOptions {
  readonly dryRun?: boolean
  readonly limit?: string
  readonly yes?: boolean
}

async function sweep(ctx: Context, { dryRun = false, limit = '100', yes }: SweepOptions): Promise<number> {
  if (!/^\d{1,4}$/.test(limit)) throw new UsageError(`--limit: "${limit}" is no number`)
  const client = await ctx.client('write')
  const ask = (dry: boolean) =>
    take(client.v1.retention.sweep.$post({ header: {}, json: { dryRun: dry, limit: Number(limit) } }))
  const found = await ask(true)
  type Sweep = typeof found
  const lines = ({ erased, spared, more }: Sweep) => [
    ...erased.map((one) => `${one.of} ${one.id}: since ${one.since}, ${one.bodies} bodies, ${bytes(one.bytes)}`),
    ...spared.map((one) => `spared: ${one.of} ${one.id}: ${one.why}`),
    ...(more ? ['others are left for the next sweep'] : []),
  ]
  if (dryRun || found.erased.length === 0) {
    ctx.show(found, () => [found.erased.length === 0 ? 'nothing is to be erased' : 'This would empty', ...lines(found)])
    return EXIT.done
  }
  ctx.note('This empties for ever:')
  for (const line of lines(found)) ctx.note(line)
  if (!(await agreed(ctx, yes, 'Empty them? Nothing brings them back.'))) {
    ctx.note('nothing was erased')
    return EXIT.interrupted
  }
  const done = await ask(false)
  ctx.show(done, () => [`erased the texts of ${counted(done.erased.length, 'subject')}`])
  return EXIT.done
}

/** The commands `retention` and `hold` with their subcommands. */
export function keepingCommands(program: Command, kit: Kit): void {
  const retention = program.command('retention').description('after how many days texts are erased by policy')
  alone(
    retention
      .command('show', { isDefault: true })
      .description('the retention of each subject')
      .action(
        kit.action(async (ctx) => {
          const { retention: found, erases } = await take((await ctx.client('read')).v1.retention.$get({}))
          ctx.list(found, [
            { title: 'SUBJECT', of: (one) => one.of },
            { title: 'DAYS', of: (one) => one.days ?? 'never', side: 'right' },
            { title: 'BY', of: (one) => one.by ?? '' },
            { title: 'SINCE', of: (one) => one.at ?? '' },
          ])
          if (!erases && found.some(({ days }) => days !== null)) ctx.note(NO_EFFECT)
          return EXIT.done
        }),
      ),
  )
  retention
    .command('set')
    .description('erase texts some days after the end of a run, or after the last change of the others')
    .argument('<subject>', KEPT.join(', '))
    .argument('<days>', 'a number, or never')
    .option('--yes', 'do not ask before 0 days; needed where there is no terminal')
    .action(
      kit.action<{ yes?: boolean }>(async (ctx, [subject = '', days = ''], { yes }) => {
        const json = { of: subjectOf(subject), days: daysOf(days), by: ctx.by }
        if (json.days === 0) {
          ctx.note(`With 0 days the next sweep empties every ${subject} that no hold keeps, for ever.`)
          if (!(await agreed(ctx, yes, 'Set 0 days?', `"${ctx.command('retention', 'sweep', '--dry-run')}"`))) {
            ctx.note('nothing was changed')
            return EXIT.interrupted
          }
        }
        const client = await ctx.client('write')
        const done = await take(client.v1.retention.$put({ header: {}, json }))
        ctx.show(done, () => [done.recorded ? `${subject}: ${days}` : `${subject}: it was so before`])
        if (!(await take(client.v1.retention.$get({}))).erases) ctx.note(NO_EFFECT)
        return EXIT.done
      }),
    )
  retention
    .command('sweep')
    .description('erase now what is old enough, as the process that owns the data folder does once an hour')
    .option('--dry-run', 'only show what would be emptied')
    .option('--limit <n>', 'the most subjects to erase (default 100)')
    .option('--yes', 'do not ask; needed where there is no terminal')
    .action(kit.action<SweepOptions>((ctx, _, options) => sweep(ctx, options)))

  const hold = program.command('hold').description('legal holds: what nobody can erase')
  alone(
    hold
      .command('list', { isDefault: true })
      .description('the holds in force')
      .option('--all', 'also those that were lifted')
      .action(
        kit.action<{ all?: boolean }>(async (ctx, _, { all }) => {
          const query = all ? ({ all: 'true' } as const) : {}
          const { holds } = await take((await ctx.client('read')).v1.holds.$get({ query }))
          ctx.list(holds, [
            { title: 'HOLD', of: (one) => one.hold },
            { title: 'OF', of: (one) => one.of },
            { title: 'BY', of: (one) => one.by },
            { title: 'SINCE', of: (one) => one.at },
            { title: 'LIFTED', of: (one) => one.lifted?.at ?? '' },
            { title: 'REASON', of: (one) => one.reason, flexible: true },
          ])
          return EXIT.done
        }),
      ),
  )
  hold
    .command('set')
    .description('hold a run with all its agents, or one stream')
    .argument('<target>', 'a run, or the name of a stream, such as document-…')
    .requiredOption('--reason <text>', 'required; recorded')
    .action(
      kit.action<{ reason: string }>(async (ctx, [of = ''], { reason }) => {
        // Ids of runs have no hyphen, names of streams do.
        const target = of.includes('-') ? of : await ctx.runId(of, 'write')
        const json = { of: target, reason, by: ctx.by }
        const done = await take((await ctx.client('write')).v1.holds.$post({ header: asOne(), json }))
        ctx.show(done, () => [`${done.hold}: holds ${done.of}; ${ctx.command('hold', 'lift', done.hold)} lifts it`])
        return EXIT.done
      }),
    )
  hold
    .command('lift')
    .description('lift a hold; with separation of duties, another person must then erase')
    .argument('<hold>', 'its id, as "hold list" shows it')
    .requiredOption('--reason <text>', 'required; recorded')
    .action(
      kit.action<{ reason: string }>(async (ctx, [id = ''], { reason }) => {
        const json = { reason, by: ctx.by }
        const asked = { param: { hold: id }, header: {}, json }
        const done = await take((await ctx.client('write')).v1.holds[':hold'].lift.$post(asked))
        ctx.show(done, () => [done.recorded ? `${id}: lifted` : `${id}: was lifted before`])
        return EXIT.done
      }),
    )
}
