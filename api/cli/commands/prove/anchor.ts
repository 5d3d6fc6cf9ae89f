import type { Command } from 'commander'
import { ANCHOR_KINDS } from '../../../../domain/proof/events.ts'
import { counted } from '../../../../projections/engine/text.ts'
import { take } from '../../client.ts'
import { EXIT, UsageError } from '../../exit.ts'
import type { Kit } from '../kit.ts'

/** The command `anchor` with its subcommands. */
export function anchorCommand(program: Command, kit: Kit): void {
  const anchor = program.command('anchor').description('places outside the log that keep its signed heads')

  anchor
    .command('list')
    .description('all anchors, with the last head that each one keeps')
    .action(
      kit.action(async (ctx) => {
        const { anchors } = await take((await ctx.client('read')).v1.anchors.$get({}))
        ctx.list(anchors, [
          { title: 'ANCHOR', of: (one) => one.anchor },
          { title: 'KIND', of: (one) => one.kind },
          { title: 'EVENTS', of: (one) => one.size ?? '-', side: 'right' },
          { title: 'TIME', of: (one) => one.anchoredAt ?? '-' },
          { title: 'TARGET', of: (one) => one.target, flexible: true },
          { title: 'FAILURE', of: (one) => one.failure?.message ?? '' },
        ])
        return EXIT.done
      }),
    )

  anchor
    .command('add')
    .description('keep the heads of the log in another place too')
    .argument('<name>')
    .argument('<kind>', ANCHOR_KINDS.join(', '))
    .argument(
      '<target>',
      'the path of a folder or of a git repository, or the URL of a witness or a time stamp service',
    )
    .option('--vkey <key>', 'the verifier key of a witness')
    .action(
      kit.action<{ vkey?: string }>(async (ctx, [name = '', kind = '', target = ''], { vkey }) => {
        const known = ANCHOR_KINDS.find((one) => one === kind)
        if (known === undefined) throw new UsageError(`"${kind}" is no kind of anchor: ${ANCHOR_KINDS.join(', ')}`)
        const json = { anchor: name, kind: known, target, by: ctx.by, ...(vkey !== undefined && { vkey }) }
        const done = await take((await ctx.client('write')).v1.anchors.$post({ header: {}, json }))
        ctx.show(done, () => [`${name}: added; ${ctx.command('anchor', 'now', name)} keeps the first head`])
        return EXIT.done
      }),
    )

  anchor
    .command('remove')
    .description('stop using an anchor; what it keeps stays there')
    .argument('<name>')
    .action(
      kit.action(async (ctx, [name = '']) => {
        const client = await ctx.client('write')
        const asked = { param: { anchor: name }, header: {}, json: { by: ctx.by } }
        const done = await take(client.v1.anchors[':anchor'].remove.$post(asked))
        ctx.show(done, () => [`${name}: removed`])
        return EXIT.done
      }),
    )

  anchor
    .command('now')
    .description('sign the log and leave the head with one anchor, or with all')
    .argument('[name]')
    .action(
      kit.action(async (ctx, [name]) => {
        const json = { by: ctx.by, ...(name !== undefined && { anchor: name }) }
        const done = await take((await ctx.client('write')).v1.anchors.now.$post({ json }))
        ctx.show(done, () =>
          done.anchors.map(({ anchor, size, ok, message }) =>
            ok ? `${anchor}: keeps the head of ${counted(size, 'event')}` : `${anchor}: FAILED, ${message}`,
          ),
        )
        if (done.anchors.length === 0) ctx.note(`there are no anchors; ${ctx.command('anchor', 'add')} adds one`)
        return done.anchors.every(({ ok }) => ok) ? EXIT.done : EXIT.failed
      }),
    )
}
