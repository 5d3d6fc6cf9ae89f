import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import { EXIT } from '../../exit.ts'
import { alone, type Kit } from '../kit.ts'

/** The command `webhooks` with its subcommands. */
export function webhooksCommand(program: Command, kit: Kit): void {
  const webhooks = program.command('webhooks').description('receivers of notices, which the settings name')

  alone(webhooks.command('list', { isDefault: true }))
    .description('the webhooks, and how their deliveries do')
    .action(
      kit.action(async (ctx) => {
        const { webhooks } = await take((await ctx.client('read')).v1.webhooks.$get({}))
        ctx.list(webhooks, [
          { title: 'NAME', of: ({ name }) => name },
          { title: 'TO', of: ({ target }) => target },
          { title: 'BEHIND', of: ({ behind }) => behind ?? '-', side: 'right' },
          { title: 'DELIVERED', of: ({ deliveredAt }) => deliveredAt ?? '-' },
          {
            title: 'FAULT',
            of: ({ stopped, failure }) =>
              stopped !== null ? `stopped: ${stopped.message}` : (failure?.message ?? '-'),
            flexible: true,
          },
        ])
        return EXIT.done
      }),
    )

  webhooks
    .command('test')
    .description('send a test notice; a stopped webhook goes on if its receiver takes it')
    .argument('<name>', 'a webhook of the settings')
    .action(
      kit.action(async (ctx, [name = '']) => {
        const done = await take((await ctx.client('write')).v1.webhooks[':name'].test.$post({ param: { name } }))
        ctx.show(done, () => [done.fault === null ? `${name}: delivered` : `${name}: ${done.fault}`])
        return done.fault === null ? EXIT.done : EXIT.failed
      }),
    )
}
