import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import type { Measured } from '../../../operations/numbers/schemas.ts'
import type { Context } from '../../context.ts'
import { EXIT } from '../../exit.ts'
import type { Kit } from '../kit.ts'

const HELP = `
Times are those of calls that have one: of 50, 95 and 99 percent of them none took longer. Attempts of model calls that were
given up count as failed. -o json has days, codes of failures, decisions of the router and budgets beside.
`

interface NumbersOptions {
  since?: string
  run?: string
}

interface Line extends Measured {
  readonly kind: string
}

const ms = (time: number | null) => (time === null ? '' : `${Math.round(time)} ms`)

async function numbers(ctx: Context, { since, run }: NumbersOptions): Promise<number> {
  const client = await ctx.client('read')
  const query = {
    ...(since === undefined ? {} : { since }),
    ...(run === undefined ? {} : { run: await ctx.runId(run, 'read') }),
  }
  const found = await take(client.v1.numbers.$get({ query }))
  if (ctx.isJson) {
    ctx.show(found, () => [])
    return EXIT.done
  }
  const of = (kind: string, rows: readonly Measured[]): Line[] => rows.map((row) => ({ kind, ...row }))
  const right = { side: 'right' } as const
  ctx.list(
    [...of('model', found.models), ...of('tool', found.tools)],
    [
      { title: 'KIND', of: (l) => l.kind },
      { title: 'NAME', of: (l) => (l.name === '' ? '(none)' : l.name), flexible: true },
      { title: 'CALLS', of: (l) => l.calls, ...right },
      { title: 'FAILED', of: (l) => l.failed, ...right },
      { title: 'P50', of: (l) => ms(l.p50), ...right },
      { title: 'P95', of: (l) => ms(l.p95), ...right },
      { title: 'P99', of: (l) => ms(l.p99), ...right },
    ],
  )
  const { underWay, failed } = found.recoveries
  if (underWay + failed > 0) ctx.note(`agents in recovery: ${underWay}; failed in it: ${failed}`)
  return EXIT.done
}

export function numbersCommand(program: Command, kit: Kit): void {
  program
    .command('numbers')
    .description('calls of models and tools: how many failed, and how long they took')
    .option(
      '--since <time>',
      'calls that ended then or later: 2026-11-23, 2026-11-23T08:00:00Z, or 30m, 12h, 2d, 1w ago',
    )
    .option('--run <run>', 'of this run only')
    .addHelpText('after', HELP)
    .action(kit.action<NumbersOptions>((ctx, _, options) => numbers(ctx, options)))
}
