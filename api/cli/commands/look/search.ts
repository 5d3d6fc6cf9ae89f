import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import type { TextMatch } from '../../../operations/search/schemas.ts'
import type { Context } from '../../context.ts'
import { EXIT } from '../../exit.ts'
import { oneLine } from '../../output/text.ts'
import { type Kit, whole } from '../kit.ts'

const SHOWN = 50
/** The API's maximum page size. */
const PAGE = 200

interface SearchOptions {
  readonly run?: string
  readonly limit: number
}

async function search(ctx: Context, text: string, { run, limit }: SearchOptions): Promise<number> {
  const id = run === undefined ? undefined : await ctx.runId(run, 'read')
  const client = await ctx.client('read')
  const found: TextMatch[] = []
  let after: string | null | undefined
  do {
    const some = { limit: String(Math.min(PAGE, limit - found.length)), ...(after ? { after } : {}) }
    const query = { text, ...some, ...(id === undefined ? {} : { run: id }) }
    const page = await take(client.v1.search.$get({ query }))
    found.push(...page.matches)
    after = page.next
  } while (after !== null && found.length < limit)
  ctx.list(found, [
    { title: 'EVENT', of: (one) => `${one.stream}@${one.revision}` },
    { title: 'AT', of: (one) => one.at, optional: true },
    { title: 'WHAT', of: (one) => one.kind },
    { title: 'TEXT', of: (one) => oneLine(`${one.before}${one.match}${one.after}`), flexible: true },
  ])
  if (after !== null) {
    const again = ['search', text, ...(id === undefined ? [] : ['--run', id]), '--limit', `${10 * limit}`]
    ctx.note(`these are the newest ${found.length}, there may be more: ${ctx.command(...again)}`)
  }
  return EXIT.done
}

/** The command that searches the texts of runs. */
export function searchCommand(program: Command, kit: Kit): void {
  program
    .command('search')
    .description('inputs, answers, arguments, outputs and messages that contain a text, the newest first')
    .argument('<text>')
    .option('--run <run>', 'only in this run')
    .option('--limit <n>', 'how many', whole('--limit', 1), SHOWN)
    .action(kit.action<SearchOptions>((ctx, [text], options) => search(ctx, text!, options)))
}
