import type { Command } from 'commander'
import { take } from '../client.ts'
import type { Context } from '../context.ts'
import { EXIT, UsageError } from '../exit.ts'
import { accepted, lossLines, lossReport } from '../loss-text.ts'
import type { Kit } from './kit.ts'

interface Wishes {
  readonly acceptLoss?: true | string
  readonly reason?: string
}

async function show(ctx: Context): Promise<number> {
  const report = await lossReport(ctx, true)
  ctx.show(report, () => (report.loss === null ? ['the log holds all that was seen of it'] : lossLines(report.loss)))
  if (report.loss === null) return EXIT.done
  ctx.note('restore a backup of the log that holds it; or, where there is none, accept the loss:')
  ctx.note(`  ${ctx.command('repair', '--accept-loss', report.loss.id)}`)
  return EXIT.verification
}

/** `id`: what an earlier look has shown; without it, what is found now, which is shown with the answer. */
async function accept(ctx: Context, id: string | null, reason: string | undefined): Promise<number> {
  const client = await ctx.client('write')
  const meant = id ?? (await lossReport(ctx, true)).loss?.id
  const nothing = { loss: null, runs: [], unreadable: [] }
  const json = { by: ctx.by, ...(reason === undefined ? {} : { reason }) }
  const done =
    meant === undefined ? nothing : await take(client.v1.losses.accept.$post({ json: { ...json, id: meant } }))
  ctx.show(done, () =>
    done.loss === null
      ? ['there is nothing to accept: the log holds all that was seen of it']
      : [...lossLines(done.loss), accepted(done.runs)],
  )
  for (const { stream, code } of done.unreadable)
    ctx.note(`${stream} cannot be read (${code}) and is not driven; mend the cause, then run "keepup repair" again`)
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
    .option('--accept-loss [id]', 'record that the loss is accepted; with the id, only if that one is found')
    .option('--reason <text>', 'why; recorded')
    .action(
      kit.action<Wishes>((ctx, _, { acceptLoss, reason }) => {
        if (reason !== undefined && !acceptLoss) throw new UsageError('--reason belongs to --accept-loss')
        if (acceptLoss === undefined) return show(ctx)
        return accept(ctx, acceptLoss === true ? null : acceptLoss, reason)
      }),
    )
}
