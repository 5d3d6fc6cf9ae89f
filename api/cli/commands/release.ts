import type { Command } from 'commander'
import { asOne, Refused, take } from '../client.ts'
import type { Context } from '../context.ts'
import { EXIT, UsageError } from '../exit.ts'
import { oneLine } from '../output/text.ts'
import type { Kit } from './kit.ts'

async function release(ctx: Context, run: string | undefined, all: boolean): Promise<number> {
  if ((run === undefined) !== all) throw new UsageError('name a run, or give --all')
  const json = run === undefined ? { all: true as const } : { runId: await ctx.runId(run, 'write') }
  const client = await ctx.client('write')
  const done = await take(client.v1.projections.release.$post({ json })).catch(async (error: unknown) => {
    // A run that is not parked may wait to be released after an accepted loss.
    if (!isRefused(error, 'TABLES_NOT_PARKED') || !('runId' in json) || json.runId === undefined) throw error
    if (!(await releaseLoss(ctx, json.runId))) throw error
    return null
  })
  if (done === null) return EXIT.done
  const { released, parked } = done
  const left = parked.filter(({ runId }) => !('runId' in json) || runId === json.runId)
  ctx.show({ released, parked: left }, () => [
    `${released} released, ${left.length} still parked`,
    ...left.map((p) => `  ${p.stream} at revision ${p.revision}: ${oneLine(p.error)} (${p.code})`),
  ])
  return left.length === 0 ? EXIT.done : EXIT.failed
}

const isRefused = (error: unknown, code: string): boolean => error instanceof Refused && error.code === code

/** After an accepted loss: lets the irreversible calls of the run begin again. False: it has none to be released from. */
async function releaseLoss(ctx: Context, id: string): Promise<boolean> {
  const client = await ctx.client('write')
  try {
    const asked = { param: { id }, header: asOne(), json: { by: ctx.by } }
    const done = await take(client.v1.runs[':id'].release.$post(asked))
    ctx.show(done, () => [`${id}: irreversible calls may begin again`])
    return true
  } catch (error) {
    if (isRefused(error, 'NO_LOSS_TO_RELEASE') || isRefused(error, 'RUN_FINISHED')) return false
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
