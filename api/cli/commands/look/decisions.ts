import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import type { CallDecision, CallDecisionList } from '../../../operations/decisions/schemas.ts'
import type { Context } from '../../context.ts'
import { EXIT } from '../../exit.ts'
import { oneLine } from '../../output/text.ts'
import type { Kit } from '../kit.ts'

/** Everyone who approved, the last one at the end, whose time is that of the decision. */
const people = ({ supporters, principal }: CallDecision): string =>
  oneLine([...supporters.map(({ by, at }) => `${by} (${at})`), ...(principal === null ? [] : [principal])].join(' '))

async function list(ctx: Context, run: string): Promise<number> {
  const id = await ctx.runId(run, 'read')
  const client = await ctx.client('read')
  const found: CallDecision[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const query = { limit: '500', ...(after ? { after } : {}) }
    const page: CallDecisionList = await take(client.v1.runs[':id'].decisions.$get({ param: { id }, query }))
    found.push(...page.decisions)
    after = page.next
  }
  ctx.list(found, [
    { title: 'CALL', of: ({ toolCallId }) => toolCallId },
    { title: 'TOOL', of: ({ toolName }) => oneLine(toolName ?? '') },
    { title: 'DECISION', of: ({ decision }) => decision },
    { title: 'BY', of: ({ method }) => method ?? '' },
    { title: 'RULE', of: ({ rule }) => oneLine(rule ?? '') },
    { title: 'PERSON', of: people },
    { title: 'DECIDED', of: ({ decidedAt }) => decidedAt ?? '', optional: true },
  ])
  return EXIT.done
}

/** Lists who or what allowed or denied each call of a run. */
export function decisionsCommand(program: Command, kit: Kit): void {
  program
    .command('decisions')
    .description('who or what allowed or denied each call of a run')
    .argument('<run>')
    .action(kit.action((ctx, [run]) => list(ctx, run!)))
}
