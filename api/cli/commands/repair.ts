import type { Command } from 'commander'
import { take } from '../client.ts'
import type { Context } from '../context.ts'
import { EXIT, UsageError } from '../exit.ts'
import { accepted, lossLines, lossReport } from '../losses.ts'
import type { Kit } from './kit.ts'

interface Wishes {
  readonly acceptLoss?: true
  readonly reason?: string
}

async function show(ctx: Context): Promise<number> {
  const report = await lossReport(ctx, true)
  ctx.show(report, () => (report.loss === null ? ['the log holds all that was seen of it'] : lossLines(report.loss)))
  if (report.loss === null) return EXIT.done
  ctx.note('restore a backup of the log that holds it; or, where there is none, accept the loss:')
  ctx.note(`  ${ctx.command('repair', '--accept-loss')}`)
  return EXIT.verification
}

async function accept(ctx: Context, reason: string | undefined): Promise<number> {
  const client = await ctx.client('write')
  const json = { by: ctx.by, ...(reason === undefined ? {} : { reason }) }
  const done = await take(client.v1.losses.accept.$post({ json }))
  ctx.show(done, () =>
    done.loss === null
      ? ['there is nothing to accept: the log holds all that was seen of it']
      : [...lossLines(done.loss), accepted(done.runs)],
  )
  if (done.runs.length > 0) {
    ctx.note('calls that began in the lost part are unknown outcomes; say what became of them:')
    ctx.note(`  ${ctx.command('approvals')}`)
  }
  return EXIT.done
}

export function repairCommand(program: Command, kit: Kit): void {
  program
    .command('repair')
    .description('show what the log has lost of what its mark or the tables have seen; accept it, so that runs go on')
    .option('--accept-loss', 'record that the loss is accepted')
    .option('--reason <text>', 'why; recorded')
    .action(
      kit.action<Wishes>((ctx, _, { acceptLoss, reason }) => {
        if (reason !== undefined && !acceptLoss) throw new UsageError('--reason belongs to --accept-loss')
        return acceptLoss ? accept(ctx, reason) : show(ctx)
      }),
    )
}
