import type { Command } from 'commander'
import { counted } from '../../../../projections/engine/text.ts'
import { asOne, Refused, take } from '../../../http/answers.ts'
import { hasEnded } from '../../../operations/runs/drive-end.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { runPages } from '../../follow/pages.ts'
import type { Kit } from '../kit.ts'

interface Options {
  readonly all?: boolean
  readonly reason?: string
}

/** Refusals of runs with nothing to release: the run has no such loss, or has ended. */
const NOTHING: ReadonlySet<string> = new Set(['NO_LOSS_TO_RELEASE', 'RUN_FINISHED'])

async function releaseCalls(ctx: Context, run: string | undefined, { all = false, reason }: Options): Promise<number> {
  if ((run === undefined) !== all) throw new UsageError('name a run, or give --all')
  const client = await ctx.client('write')
  const json = { by: ctx.by, ...(reason === undefined ? {} : { reason }) }
  const release = (id: string) =>
    take(client.v1.runs[':id']['release-calls'].$post({ param: { id }, header: asOne(), json }))
  if (run !== undefined) {
    const id = await ctx.runId(run, 'write')
    ctx.show(await release(id), () => [`${id}: irreversible calls may begin again`])
    return EXIT.done
  }
  const released: string[] = []
  for await (const id of unfinished(ctx)) {
    try {
      await release(id)
      released.push(id)
    } catch (error) {
      if (!(error instanceof Refused && NOTHING.has(error.code))) throw error
    }
  }
  ctx.show({ released }, () => [`irreversible calls may begin again in ${counted(released.length, 'run')}`])
  return EXIT.done
}

async function* unfinished(ctx: Context): AsyncGenerator<string> {
  const client = await ctx.client('write')
  for await (const { runs } of runPages(client))
    for (const { runId, status } of runs) if (!hasEnded(status)) yield runId
}

export function releaseCallsCommand(program: Command, kit: Kit): void {
  program
    .command('release-calls')
    .description('after an accepted loss whose calls are not known: let a run begin irreversible calls again')
    .argument('[run]')
    .option('--all', 'all unfinished runs')
    .option('--reason <text>', 'why; recorded')
    .action(kit.action<Options>((ctx, [run], options) => releaseCalls(ctx, run, options)))
}
