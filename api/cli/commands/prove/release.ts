import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { oneLine } from '../../output/text.ts'
import type { Kit } from '../kit.ts'

async function release(ctx: Context, run: string | undefined, all: boolean): Promise<number> {
  if ((run === undefined) !== all) throw new UsageError('name a run, or give --all')
  const json = run === undefined ? { all: true as const } : { runId: await ctx.runId(run, 'write') }
  const client = await ctx.client('write')
  const { released, parked } = await take(client.v1.projections.release.$post({ json }))
  const left = parked.filter(({ runId }) => !('runId' in json) || runId === json.runId)
  ctx.show({ released, parked: left }, () => [
    `${released} released, ${left.length} still parked`,
    ...left.map((p) => `  ${p.stream} at revision ${p.revision}: ${oneLine(p.error)} (${p.code})`),
  ])
  return left.length === 0 ? EXIT.done : EXIT.failed
}

export function releaseCommand(program: Command, kit: Kit): void {
  program
    .command('release')
    .description(
      'let the tables read a run again that they had to leave at an event, such as one whose body was missing',
    )
    .argument('[run]')
    .option('--all', 'all such runs')
    .action(kit.action<{ all?: boolean }>((ctx, [run], { all = false }) => release(ctx, run, all)))
}
