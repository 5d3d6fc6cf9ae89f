import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import type { Cost } from '../../../operations/numbers/cost-schemas.ts'
import { EXIT } from '../../exit.ts'
import { dollars } from '../../output/units.ts'
import { choice, type Kit } from '../kit.ts'

const BY = ['model', 'role', 'day', 'day_model', 'tool'] as const

const HELP = `
Every attempt of a model call counts where it ended, or began if it has not ended; days are those of UTC.
--by tool: a turn costs what its model calls cost, and counts in full for each tool that it called, once, however
often it called it. So the lines may add up to more than the total, which counts every model call once. Turns that
called no tool are "(none)", as are runs without a role.
Calls of unknown cost are counted without it, and so are other agents that report none; money in doubt is estimated for calls whose end was not seen.
`

interface CostOptions {
  by: (typeof BY)[number]
  since?: string
  run?: string
}

type Line = Pick<Cost['total'], 'modelCalls' | 'nanoDollars'> & Cost['total'] & { name: string }

export function costCommand(program: Command, kit: Kit): void {
  program
    .command('cost')
    .description('what model calls cost, by model, role, day or tool')
    .option('--by <what>', BY.join(', '), choice('--by', BY), 'model')
    .option(
      '--since <time>',
      'calls that ended then or later: 2026-11-23, 2026-11-23T08:00:00Z, or 30m, 12h, 2d, 1w ago',
    )
    .option('--run <run>', 'of this run only')
    .addHelpText('after', HELP)
    .action(
      kit.action<CostOptions>(async (ctx, _, o) => {
        const client = await ctx.client('read')
        const run = o.run === undefined ? {} : { run: await ctx.runId(o.run, 'read') }
        const query = { by: o.by, ...run, ...(o.since === undefined ? {} : { since: o.since }) }
        const found = (await take(client.v1.cost.$get({ query }))) as Cost
        if (ctx.isJson) {
          ctx.show(found, () => [])
          return EXIT.done
        }
        const lines: Line[] = [...found.rows, { name: 'total', ...found.total }]
        const right = { side: 'right' } as const
        ctx.list(lines, [
          { title: o.by.toUpperCase(), of: (l) => (l.name === '' ? '(none)' : l.name), flexible: true },
          { title: 'COST', of: (l) => dollars(l.nanoDollars), ...right },
          { title: 'CALLS', of: (l) => l.modelCalls, ...right },
          { title: 'TOKENS IN', of: (l) => l.inputTokens + l.cacheReadTokens + l.cacheWriteTokens, ...right },
          { title: 'OUT', of: (l) => l.outputTokens, ...right },
        ])
        const { unpricedCalls, inDoubtNanoDollars } = found.total
        if (unpricedCalls > 0) ctx.note(`without ${unpricedCalls} calls of unknown cost`)
        if (inDoubtNanoDollars > 0) ctx.note(`of it ${dollars(inDoubtNanoDollars)} in doubt`)
        return EXIT.done
      }),
    )
}
