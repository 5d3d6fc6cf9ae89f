import type { Command } from 'commander'
import { take } from '../../http/answers.ts'
import { examine } from '../doctor/checks.ts'
import { EXIT } from '../exit.ts'
import { fetchLossReport } from '../output/loss-text.ts'
import type { Kit } from './kit.ts'

export function doctorCommand(program: Command, kit: Kit): void {
  program
    .command('doctor')
    .description('look whether everything that is needed is there, and say what to do')
    .action(
      kit.action(async (ctx) => {
        const identity = async () => {
          const { logId } = await take((await ctx.client('read')).v1.health.$get({}))
          return { logId, kind: (await ctx.backend('read')).kind }
        }
        const tables = async () => take((await ctx.client('read')).v1.projections.$get({}))
        const findings = await examine(ctx.config, ctx.io.env, {
          identity,
          tables,
          losses: () => fetchLossReport(ctx, true),
          client: () => ctx.client('read'),
        })
        ctx.list(findings, [
          { title: 'CHECK', of: (f) => f.check },
          { title: 'STATE', of: (f) => f.state },
          { title: 'FOUND', of: (f) => f.found },
          { title: 'TO DO', of: (f) => f.todo ?? '' },
        ])
        return findings.some((f) => f.state === 'broken') ? EXIT.failed : EXIT.done
      }),
    )
}
