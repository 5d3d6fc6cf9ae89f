import type { Command } from 'commander'
import type { Cost } from '../../http/schemas/cost.ts'
import { take } from '../client.ts'
import { EXIT, UsageError } from '../exit.ts'
import { dollars } from '../output/units.ts'
import { choice, type Kit } from './kit.ts'

const BY = ['model', 'role', 'day', 'tool'] as const

const HELP = `
Every attempt of a model call counts where it ended, or began if it has not ended; days are those of UTC.
--by tool: a turn costs what its model calls cost, and counts in full for each tool that it called, once, however
often it called it. So the lines may add up to more than the total, which counts every model call once. Turns that
called no tool are "(none)", as are runs without a role.
Calls of unknown price are counted but cost nothing here; money in doubt is estimated for calls whose end was not seen.
`

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** A day, an instant, or a time span before now, as ISO 8601 in UTC. */
export function since(text: string, now = Date.now()): string {
  const [, number, unit = ''] = /^(\d{1,6})([hdw])$/.exec(text) ?? []
  if (number !== undefined) return new Date(now - Number(number) * UNITS[unit]!).toISOString()
  const given = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?$/.test(text)
    ? new Date(text)
    : new Date(Number.NaN)
  if (!Number.isNaN(given.getTime())) return given.toISOString()
  throw new UsageError('--since: expected a day (2026-11-01), an instant, or how long ago: 12h, 7d, 2w')
}

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
    .option('--since <when>', 'from a day or an instant on, or so long ago: 2026-11-01, 12h, 7d, 2w', (text) =>
      since(text),
    )
    .option('--run <run>', 'of this run only')
    .addHelpText('after', HELP)
    .action(
      kit.action<CostOptions>(async (ctx, _, o) => {
        const client = await ctx.client('read')
        const run = o.run === undefined ? {} : { run: await ctx.runId(o.run, 'read') }
        const query = { by: o.by, ...run, ...(o.since === undefined ? {} : { since: o.since }) }
        const found = (await take(client.v1.cost.$get({ query }))) as Cost
        if (ctx.format !== 'table') {
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
        if (unpricedCalls > 0) ctx.note(`without ${unpricedCalls} calls of unknown price`)
        if (inDoubtNanoDollars > 0) ctx.note(`of it ${dollars(inDoubtNanoDollars)} in doubt`)
        return EXIT.done
      }),
    )
}
