import type { Command } from 'commander'
import { take } from '../../http/answers.ts'
import { joined } from '../../operations/doctor/examine.ts'
import { bad, type Finding, message, ok } from '../../operations/doctor/finding.ts'
import { machineFindings, opensNothing } from '../../process/doctor/machine-findings.ts'
import { OwnerError } from '../../process/owner/backend.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit.ts'
import type { Kit } from './kit.ts'

/**
 * All findings. The machine is examined here, before anything is opened: opening repairs some files. The process that
 * owns the data folder examines the rest.
 */
export async function findingsOf(ctx: Context): Promise<Finding[]> {
  const machine = await machineFindings(ctx.config, ctx.io.env, false)
  if (opensNothing(machine)) return [...machine]
  try {
    const client = await ctx.client('read')
    const { findings } = await take(client.v1.doctor.$get({ query: { machine: 'false' } }))
    const { kind } = await ctx.backend('read')
    const where = kind === 'remote' ? 'owned by another process, which answers' : 'opened here'
    const named = findings.map((one) =>
      one.check === 'log' && one.state === 'ok' ? ok('log', `${one.found}, ${where}`) : one,
    )
    return joined(machine, named)
  } catch (error) {
    if (error instanceof OwnerError && error.code === 'NOTHING_YET')
      return [...machine, ok('log', 'none yet; the first run makes it')]
    const todo = 'do what the message says; "verify" then checks what is stored'
    return joined(machine, [bad('broken', 'log', message(error), todo)])
  }
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
