import type { Command } from 'commander'
import { omitUndefined } from '../../../operations/omit-undefined.ts'
import { onServers } from '../../../process/config/settings.ts'
import type { Context } from '../../context.ts'
import { CliError, EXIT } from '../../exit.ts'
import type { Kit } from '../kit.ts'

/** A role name that PostgreSQL accepts without truncation. */
const ROLE = /^[a-z_][a-z0-9_]{0,62}$/

async function auditors(ctx: Context, role: string | undefined, login: string | undefined): Promise<number> {
  const { config } = ctx
  if (!onServers(config))
    throw new CliError(
      `the tables are in a file that only you can read: ask them with "${ctx.command('sql')}"; roles are for servers`,
      EXIT.usage,
    )
  for (const name of [role, login])
    if (name !== undefined && !(ROLE.test(name) && !name.startsWith('pg_')))
      throw new CliError(
        `"${name}": expected small letters, digits and _, a letter first, at most 63, not pg_…`,
        EXIT.usage,
      )
  const { letAuditorsRead } = await import('../../../process/servers/let-auditors-read.ts')
  const asked = omitUndefined({ role, login })
  const { role: name, made, url } = await letAuditorsRead(config, (text) => ctx.note(text), asked)
  const more = made ? 'and nothing else' : 'and whatever it was granted before'
  const connection = url === null ? {} : { login, url }
  ctx.show({ role: name, schema: config.namespace, ...connection }, () => [
    `${name} may read the schema ${config.namespace}, ${more}`,
    ...(url === null ? [] : [`the login ${login} may do the same; this is shown once: ${url}`]),
    `let people in, as a superuser or as the maker of the role: grant ${name} to PERSON`,
  ])
  return EXIT.done
}

export function auditorsCommand(program: Command, kit: Kit): void {
  program
    .command('auditors')
    .description('on servers: make a role of PostgreSQL that may read the tables, and nothing else')
    .argument('[role]', 'its name (default: the namespace, then _auditor)')
    .option('--login <name>', 'also make a login in this role, for KEEPUP_AUDIT_POSTGRES and for other programs')
    .action(kit.action<{ readonly login?: string }>((ctx, [role], { login }) => auditors(ctx, role, login)))
}
