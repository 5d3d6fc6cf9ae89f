import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import { hasEnded } from '../../../operations/runs/drive-end.ts'
import type { RunTree } from '../../../operations/runs/schemas.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { serverEvents } from '../../follow/server-events.ts'
import { treeLines } from '../../output/tree-text.ts'
import type { Kit } from '../kit.ts'

const ended = ({ agents }: RunTree): boolean => agents.every(({ status }) => hasEnded(status))

/** The lines of the tree at the terminal's width. `follow` compares them to find visible changes. */
function lines(ctx: Context, tree: RunTree): string[] {
  const { stdout } = ctx.io
  return treeLines(tree, stdout.isTTY ? (stdout.columns ?? null) : null)
}

const read = async (ctx: Context, id: string): Promise<RunTree> =>
  take((await ctx.client('read')).v1.runs[':id'].tree.$get({ param: { id } }))

/** Prints the tree after each change until all its agents have ended. */
async function follow(ctx: Context, id: string): Promise<number> {
  const over = new AbortController()
  const backend = await ctx.backend('read')
  const path = `http://localhost/v1/events?run=${encodeURIComponent(id)}&from=head`
  const response = await backend.fetch(new Request(path, { signal: over.signal }))
  let shown = ''
  const show = async (): Promise<boolean> => {
    const tree = await read(ctx, id)
    const seen = ctx.format === 'table' ? lines(ctx, tree).join('\n') : JSON.stringify(tree.agents)
    if (seen !== shown) ctx.show(tree, () => [...(shown === '' ? [] : ['']), ...lines(ctx, tree)])
    shown = seen
    return ended(tree)
  }
  try {
    // Open the event stream before the first read of the tree, so that no change is missed in between.
    if (await show()) return EXIT.done
    for await (const { data } of serverEvents(response)) if (data !== null && (await show())) return EXIT.done
    return EXIT.done
  } finally {
    over.abort()
  }
}

export function treeCommand(program: Command, kit: Kit): void {
  program
    .command('tree')
    .description("a run's agents: how each one stands, its turn, and its money alone and with all below it")
    .argument('<run>')
    .option('-f, --follow', 'show it again whenever it changes, until all agents have ended')
    .action(
      kit.action<{ follow?: boolean }>(async (ctx, [run], { follow: follows }) => {
        const id = await ctx.runId(run!, 'read')
        if (follows && ctx.format === 'csv') throw new UsageError('-o csv shows one state; leave out --follow')
        if (follows) return follow(ctx, id)
        const tree = await read(ctx, id)
        if (ctx.format === 'csv') ctx.list(tree.agents, [])
        else ctx.show(tree, () => lines(ctx, tree))
        return EXIT.done
      }),
    )
}
