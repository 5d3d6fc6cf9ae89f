import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import { EXIT } from '../../exit.ts'
import type { Kit } from '../kit.ts'

/** The command `witness` with its subcommands. */
export function witnessCommand(program: Command, kit: Kit): void {
  const witness = program.command('witness').description('other logs whose heads this keepup cosigns, as their anchor')

  witness
    .command('key')
    .description("the witness's verifier key, which other logs need; made if there is none")
    .action(
      kit.action(async (ctx) => {
        const { vkey } = await take((await ctx.client('write')).v1.witness.key.$post({ json: { by: ctx.by } }))
        ctx.show({ vkey }, () => [vkey])
        return EXIT.done
      }),
    )

  witness
    .command('list')
    .description('the logs, with the last head that was cosigned')
    .action(
      kit.action(async (ctx) => {
        const { logs } = await take((await ctx.client('read')).v1.witness.logs.$get({}))
        ctx.list(logs, [
          { title: 'LOG', of: (one) => one.origin, flexible: true },
          { title: 'EVENTS', of: (one) => one.size ?? '-', side: 'right' },
          { title: 'COSIGNED', of: (one) => one.cosignedAt ?? '-' },
        ])
        return EXIT.done
      }),
    )

  witness
    .command('add')
    .description('cosign the heads of another log')
    .argument('<vkey>', 'the verifier key of the log; "keepup call getProofHead" shows it there')
    .action(
      kit.action(async (ctx, [vkey = '']) => {
        const asked = { header: {}, json: { vkey, by: ctx.by } }
        const done = await take((await ctx.client('write')).v1.witness.logs.$post(asked))
        ctx.show(done, () => [`${done.origin}: added; give the log this key of the witness: ${done.vkey}`])
        return EXIT.done
      }),
    )

  witness
    .command('remove')
    .description('cosign no more heads of a log; the last one stays remembered')
    .argument('<origin>', 'the name of the log')
    .action(
      kit.action(async (ctx, [origin = '']) => {
        const asked = { header: {}, json: { origin, by: ctx.by } }
        const done = await take((await ctx.client('write')).v1.witness.logs.remove.$post(asked))
        ctx.show(done, () => [`${done.origin}: removed`])
        return EXIT.done
      }),
    )
}
