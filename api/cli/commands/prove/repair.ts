import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import { agreed } from '../../ask/choose.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { accepted, acceptedLines, fetchLossReport, lossLines } from '../../output/loss-text.ts'
import type { Kit } from '../kit.ts'

interface Options {
  readonly acceptLoss?: true | string
  readonly reason?: string
  readonly yes?: boolean
}

const NOTHING_MISSING = 'the log holds all that was seen of it'

async function show(ctx: Context): Promise<number> {
  const report = await fetchLossReport(ctx, true)
  const { loss, accepted: before = [] } = report
  ctx.show(report, () => [...(loss === null ? [NOTHING_MISSING] : lossLines(loss)), ...before.flatMap(acceptedLines)])
  if (loss === null) return EXIT.done
  ctx.note('restore a backup of the log that holds it; or, where there is none, accept the loss:')
  ctx.note(`  ${ctx.command('repair', '--accept-loss', loss.id)}`)
  return EXIT.verification
}

/**
 * Shows the loss, asks for confirmation, and records its acceptance. `id`: the loss that the person has seen; null: the
 * current one.
 */
async function accept(ctx: Context, id: string | null, { reason, yes }: Options): Promise<number> {
  const client = await ctx.client('write')
  const { loss } = await fetchLossReport(ctx, true)
  if (loss === null) {
    ctx.show({ loss: null, runs: [], unreadable: [] }, () => [`there is nothing to accept: ${NOTHING_MISSING}`])
    return EXIT.done
  }
  if (id === null || id === loss.id) {
    for (const line of lossLines(loss)) ctx.note(line)
    const question = 'Accept that this is lost? The log records it, and nothing brings it back.'
    if (!(await agreed(ctx, yes, question, '"repair" alone'))) {
      ctx.note('nothing was accepted')
      return EXIT.interrupted
    }
  }
  // The API refuses the acceptance if the loss differs from the one shown.
  const json = { by: ctx.by, id: id ?? loss.id, ...(reason === undefined ? {} : { reason }) }
  const done = await take(client.v1.losses.accept.$post({ json }))
  ctx.show(done, () => [accepted(done.runs)])
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
    .option(
      '--accept-loss [id]',
      'show the loss, ask, and record that it is accepted; with the id, only if it is that one',
    )
    .option('--reason <text>', 'why; recorded')
    .option('--yes', 'accept without a question')
    .action(
      kit.action<Options>((ctx, _, options) => {
        const { acceptLoss, reason, yes } = options
        if (acceptLoss === undefined && (reason !== undefined || yes))
          throw new UsageError(`${reason === undefined ? '--yes' : '--reason'} belongs to --accept-loss`)
        if (acceptLoss === undefined) return show(ctx)
        return accept(ctx, acceptLoss === true ? null : acceptLoss, options)
      }),
    )
}
