import type { Command } from 'commander'
import { bad, type Finding } from '../../operations/doctor/finding.ts'
import { onServers, unknownVariables } from '../../process/config/settings.ts'
import { checkFormats } from '../../process/doctor/formats.ts'
import { checkNode } from '../../process/doctor/machine.ts'
import { checkServers } from '../../process/doctor/servers.ts'
import { VERSION } from '../../version.ts'
import type { Context } from '../context.ts'
import { EXIT, UsageError } from '../exit.ts'
import { findingsOf, listFindings } from './doctor.ts'
import type { Kit } from './kit.ts'

/** Makes the data folder, checks the machine, and names the next command. */
async function init(ctx: Context): Promise<number> {
  // Opening the folder for a write makes the log, the token and the vault's key.
  await ctx.client('write')
  const where = onServers(ctx.config) ? `the log of the namespace "${ctx.config.namespace}"` : ctx.config.data
  ctx.note(`${where} is ready`)
  const findings = await findingsOf(ctx)
  const open = findings.filter(({ state }) => state !== 'ok')
  if (ctx.format !== 'table') listFindings(ctx, findings)
  else if (open.length > 0) listFindings(ctx, open)
  else ctx.note(`${findings.length} checks: nothing is missing`)
  const hasKey = !open.some(({ check }) => check === 'model keys')
  const next = hasKey ? ctx.command('run', '"TASK"') : ctx.command('demo')
  ctx.note(`next: ${next}${hasKey ? '' : '   (needs no model key)'}`)
  return open.some(({ state }) => state === 'broken') ? EXIT.failed : EXIT.done
}

/** Says whether this version can take over what an earlier or later one has recorded. */
async function upgradeCheck(ctx: Context): Promise<number> {
  const unknown = unknownVariables(ctx.io.env)
  const settings: Finding[] =
    unknown.length === 0
      ? []
      : [bad('warning', 'settings', `unknown variables: ${unknown.join(', ')}`, 'look at the changelog for new names')]
  const stored = onServers(ctx.config) ? await checkServers(ctx.config) : checkFormats(ctx.config.data)
  const findings = [checkNode(process.version), ...settings, ...stored]
  listFindings(ctx, findings)
  const broken = findings.some(({ state }) => state === 'broken')
  ctx.note(`keepup ${VERSION} ${broken ? 'cannot' : 'can'} continue here; nothing was changed`)
  return broken ? EXIT.failed : EXIT.done
}

export function setUpCommands(program: Command, kit: Kit): void {
  program
    .command('init')
    .description('make the data folder, check this machine, and say what is missing and which command comes next')
    .action(kit.action((ctx) => init(ctx)))
  program
    .command('upgrade')
    .description('whether this version of keepup can continue with the data folder or the servers')
    .option('--check', 'only look; nothing is changed')
    .addHelpText('after', '\nInstall a version with: npm install -g @keepup/runtime@VERSION')
    .action(
      kit.action<{ check?: true }>((ctx, _, { check }) => {
        if (check === true) return upgradeCheck(ctx)
        throw new UsageError(
          `nothing has to be upgraded but the program: npm install -g @keepup/runtime; see first: ${ctx.command('upgrade', '--check')}`,
        )
      }),
    )
}
