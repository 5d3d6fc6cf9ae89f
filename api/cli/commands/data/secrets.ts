import type { Command } from 'commander'
import { rotateKey } from '../../../../adapters/vault/encrypt.ts'
import { keyPlaceOf } from '../../../../adapters/vault/keys.ts'
import { issueText } from '../../../../domain/log/issues.ts'
import { take } from '../../../http/answers.ts'
import { SecretName } from '../../../operations/system/schemas.ts'
import { checkLogReadable } from '../../../process/host/data-folder.ts'
import { vaultKeys } from '../../../process/host/vault-keys.ts'
import type { Context } from '../../context.ts'
import { CliError, EXIT, UsageError } from '../../exit.ts'
import { alone, type Kit, readAll } from '../kit.ts'

/** `secrets set`, `list` and `remove`; no command prints a value. `rotate-key` works directly on the files. */
export function secretsCommand(program: Command, kit: Kit): void {
  const secrets = program.command('secrets').description('secrets that tools may be given, by name')
  secrets
    .command('set')
    .description('keep a secret; the value is read from standard input and shown nowhere')
    .argument('<name>')
    .action(
      kit.action(async (ctx, [name]) => {
        checkName(name)
        const value = ctx.io.stdin.isTTY ? await hidden(ctx, name!) : (await readAll(ctx)).replace(/\r?\n$/, '')
        if (value === '') throw new UsageError('the value is empty; give it on standard input')
        const client = await ctx.client('write')
        const { warning, ...kept } = await take(
          client.v1.secrets[':name'].$put({ param: { name: name! }, json: { value } }),
        )
        if (warning !== undefined) ctx.note(`warning: ${warning}`)
        ctx.show({ name, ...kept, warning }, () => [`kept ${name}`])
        return EXIT.done
      }),
    )
  alone(secrets.command('list', { isDefault: true }))
    .description('names, never values')
    .action(
      kit.action(async (ctx) => {
        const { names } = await take((await ctx.client('read')).v1.secrets.$get({}))
        ctx.list(
          names.map((name) => ({ name })),
          [{ title: 'NAME', of: (r) => r.name }],
        )
        return EXIT.done
      }),
    )
  secrets
    .command('remove')
    .description(
      'forget a secret: no run can use it any more; it stays hidden, and old versions of files still hold it',
    )
    .argument('<name>')
    .action(
      kit.action(async (ctx, [name]) => {
        checkName(name)
        const client = await ctx.client('write')
        const { names } = await take(client.v1.secrets[':name'].$delete({ param: { name: name! } }))
        ctx.show({ name, names }, () => [
          `removed ${name}: no tool is given it any more. It stays hidden, and a restore still writes it into files that held it.`,
        ])
        return EXIT.done
      }),
    )
  secrets
    .command('rotate-key')
    .description('encrypt the vault anew under a new key; called again, it ends what was interrupted')
    .action(
      kit.action(async (ctx) => {
        checkLogReadable(ctx.config.data)
        const keys = vaultKeys(ctx.config)
        const key = await rotateKey(ctx.config.data, keys)
        const place = keyPlaceOf(keys)
        ctx.show({ key, place }, () => [
          `the vault is encrypted under key ${key} of ${place}. Former keys there open backups of before: remove them when ` +
            'no such backup is needed, and no other data folder uses them.',
        ])
        return EXIT.done
      }),
    )
}

function checkName(name: string | undefined): void {
  const named = SecretName.safeParse(name)
  if (!named.success) throw new UsageError(`name: ${issueText(named.error.issues[0]!)}`)
}

/** Asks at the terminal without echo. */
async function hidden({ progress }: Context, name: string): Promise<string> {
  progress?.stop()
  const { isCancel, password } = await import('@clack/prompts')
  const said = await password({ message: `Value of ${name}`, output: process.stderr })
  if (isCancel(said)) throw new CliError('nothing was kept', EXIT.interrupted)
  return said
}
