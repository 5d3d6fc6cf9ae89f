import type { Command } from 'commander'
import { asOne, Refused, take } from '../client.ts'
import type { Context } from '../context.ts'
import { EXIT, UsageError } from '../exit.ts'
import { oneLine } from '../output/text.ts'
import type { Kit } from './kit.ts'

async function release(ctx: Context, run: string | undefined, all: boolean): Promise<number> {
  if ((run === undefined) !== all) throw new UsageError('name a run, or give --all')
  if (run !== undefined && (await releasedLoss(ctx, run))) return EXIT.done
  const json = run === undefined ? { all: true as const } : { runId: await ctx.runId(run, 'write') }
  const { released, parked } = await take((await ctx.client('write')).v1.projections.release.$post({ json }))
  const left = parked.filter(({ runId }) => !('runId' in json) || runId === json.runId)
  ctx.show({ released, parked: left }, () => [
    `${released} released, ${left.length} still parked`,
    ...left.map((p) => `  ${p.stream} at revision ${p.revision}: ${oneLine(p.error)} (${p.code})`),
  ])
  return left.length === 0 ? EXIT.done : EXIT.failed
}

/** After an accepted loss: lets the irreversible calls of the run begin again. False: it has none to be released from. */
async function releasedLoss(ctx: Context, run: string): Promise<boolean> {
  const [id, client] = [await ctx.runId(run, 'write'), await ctx.client('write')]
  const asked = { param: { id }, header: asOne(), json: { by: ctx.by } }
  try {
    const done = await take(client.v1.runs[':id'].release.$post(asked))
    ctx.show(done, () => [`${id}: irreversible calls may begin again`])
    return true
  } catch (error) {
    if (error instanceof Refused && ['NO_LOSS_TO_RELEASE', 'RUN_FINISHED'].includes(error.code)) return false
    throw error
  }
}

export function releaseCommand(program: Command, kit: Kit): void {
  program
    .command('release')
    .description(
      'let the tables read a run again that they had to leave at an event, such as one whose body was missing; or, after an ' +
        'accepted loss, let the run begin irreversible calls again',
    )
    .argument('[run]')
    .option('--all', 'all such runs')
    .action(kit.action<{ all?: boolean }>((ctx, [run], { all = false }) => release(ctx, run, all)))
}
