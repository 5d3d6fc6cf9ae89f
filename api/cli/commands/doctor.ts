import type { Command } from 'commander'
import { take } from '../../http/answers.ts'
import type { Context } from '../context.ts'
import { examine } from '../doctor/checks.ts'
import type { Finding } from '../doctor/finding.ts'
import { EXIT } from '../exit.ts'
import { fetchLossReport } from '../output/loss-text.ts'
import type { Kit } from './kit.ts'

/** All findings of the checks, in the order in which a person would look. */
export async function findingsOf(ctx: Context): Promise<Finding[]> {
  return examine(ctx.config, ctx.io.env, {
    identity: async () => {
      const { logId } = await take((await ctx.client('read')).v1.health.$get({}))
      return { logId, kind: (await ctx.backend('read')).kind }
    },
    tables: async () => take((await ctx.client('read')).v1.projections.$get({})),
    losses: () => fetchLossReport(ctx, true),
    client: () => ctx.client('read'),
  })
}

export function listFindings(ctx: Context, findings: readonly Finding[]): void {
  ctx.list(findings, [
    { title: 'CHECK', of: (f) => f.check },
    { title: 'STATE', of: (f) => f.state },
    { title: 'FOUND', of: (f) => f.found },
    { title: 'TO DO', of: (f) => f.todo ?? '' },
  ])
}

export function doctorCommand(program: Command, kit: Kit): void {
  program
    .command('doctor')
    .description('look whether everything that is needed is there, and say what to do')
    .action(
      kit.action(async (ctx) => {
        const findings = await findingsOf(ctx)
        listFindings(ctx, findings)
        return findings.some((f) => f.state === 'broken') ? EXIT.failed : EXIT.done
      }),
    )
}
