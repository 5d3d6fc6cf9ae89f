import type { Command } from 'commander'
import { asOne, take } from '../../../http/answers.ts'
import type { ContextView } from '../../../operations/window/schemas.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { oneLine, safe } from '../../output/text.ts'
import { type Kit, whole } from '../kit.ts'

interface Options {
  readonly agent?: string
}

type Segment = ContextView['segments'][number]

const SHOWN: Readonly<Record<Segment['kind'], string>> = {
  keep: 'shown as they are',
  prune: 'shown without the text of results',
  cut: 'shown with results cut',
  hide: 'hidden',
  summary: 'hidden behind the summary',
}

function rangeLine(segment: Segment): string {
  const turns = 'turns' in segment ? `, turns ${segment.turns.from} to ${segment.turns.to}` : ''
  const bytes = segment.kind === 'cut' ? ` to ${segment.bytes} bytes` : ''
  return `messages ${segment.from} to ${segment.to - 1}${turns}: ${SHOWN[segment.kind]}${bytes}`
}

function lines(view: ContextView): string[] {
  const part = Math.round((100 * view.tokens) / view.limit)
  const at = Math.round(100 * view.threshold)
  return [
    `about ${view.tokens} of ${view.limit} tokens (${part} %); compressed at ${at} %, ${view.strategy}`,
    ...view.segments.map(rangeLine),
    ...view.knowledge.map(({ source }) => `knowledge: ${source.kind} ${oneLine(source.name)}`),
    ...(view.summary === null ? [] : ['summary:', ...view.summary.split('\n').map((line) => `    ${safe(line)}`)]),
  ]
}

/** A range such as `3..7`, or one turn. */
function turnRange(text: string): { from: number; to: number } {
  const [from, to = from, ...more] = text.split('..').map(whole('--turns', 1))
  if (more.length > 0 || to! < from!) throw new UsageError('--turns: expected a turn, or a range such as 3..7')
  return { from: from!, to: to! }
}

/** `context` and `expand`: the part of a long run that the model sees, and how to show more of it. */
export function contextCommands(program: Command, kit: Kit): void {
  program
    .command('context')
    .description(
      'what the next request shows of the messages: which are hidden, the summary, the knowledge, the tokens',
    )
    .argument('<run>')
    .option('--agent <id>', 'of this agent (default: the root agent)')
    .action(
      kit.action<Options>(async (ctx, [run], { agent }) => {
        const id = await ctx.runId(run!, 'read')
        const client = await ctx.client('read')
        const query = agent === undefined ? {} : { agent }
        const view = (await take(client.v1.runs[':id'].context.$get({ param: { id }, query }))) as ContextView
        ctx.show(view, () => lines(view))
        if (view.segments.some((one) => 'turns' in one))
          ctx.note(`show hidden turns again with: ${ctx.command('expand', id)}`)
        return EXIT.done
      }),
    )

  program
    .command('expand')
    .description('show hidden turns again in the next request, as far as they fit; "context" names them')
    .argument('<run>')
    .option('--turns <n>', 'a turn, or a range such as 3..7 (default: all that are hidden)')
    .option('--agent <id>', 'of this agent (default: the root agent)')
    .action(
      kit.action<Options & { readonly turns?: string }>(async (ctx, [run], { agent, turns }) => {
        const range = turns === undefined ? {} : { turns: turnRange(turns) }
        const id = await ctx.runId(run!, 'write')
        const client = await ctx.client('write')
        const json = { ...range, by: ctx.by, ...(agent === undefined ? {} : { agent }) }
        const answer = client.v1.runs[':id'].context.expand.$post({ param: { id }, header: asOne(), json })
        const done = await take(answer)
        ctx.show(done, () => [`recorded ${done.agentId} at revision ${done.revision}`])
        return EXIT.done
      }),
    )
}
