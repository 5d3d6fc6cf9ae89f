import type { Command } from 'commander'
import { Refused, take } from '../../../http/answers.ts'
import type { EventView } from '../../../operations/events/schemas.ts'
import type { SentRequests } from '../../../operations/window/request-schemas.ts'
import type { Context } from '../../context.ts'
import { UsageError } from '../../exit.ts'
import { eventPages } from '../../follow/pages.ts'
import { safe } from '../../output/text.ts'
import { hasWhole, transcriptLines } from '../../output/transcript-text.ts'
import { flowWhole } from '../../output/whole-result.ts'
import type { Kit } from '../kit.ts'
import { seen } from './history.ts'

/** The system prompt of the model, or why it is not available. */
async function systemPrompt(ctx: Context, id: string, { agentId, turn }: EventView) {
  const param = { id, turn: String(turn) }
  try {
    const client = await ctx.client('read')
    const answer = client.v1.runs[':id'].turns[':turn'].request.$get({ param, query: { agent: agentId } })
    const { requests } = (await take(answer)) as SentRequests
    return { agentId, system: requests[0]?.system ?? null }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return { agentId, system: null, why: error.message }
  }
}

type Prompt = Awaited<ReturnType<typeof systemPrompt>>

const promptLines = ({ agentId, system, why }: Prompt): string[] =>
  system === null
    ? [`system prompt of ${agentId}: ${why ?? 'none'}`]
    : [`system prompt of ${agentId}:`, ...system.split('\n').map((line) => `    ${line}`)]

/** Streams a run's events, with the system prompt of each agent before its first model call. */
async function* partsOf(ctx: Context, id: string, agent: string | undefined): AsyncGenerator<EventView | Prompt> {
  const client = await ctx.client('read')
  const prompted = new Set<string>()
  for await (const page of eventPages(client, id, agent ? { agent } : {})) {
    for (const event of page.events) {
      if (event.type === 'model_call_start' && !prompted.has(event.agentId)) {
        prompted.add(event.agentId)
        yield await systemPrompt(ctx, id, event)
      }
      yield event
    }
  }
}

async function transcript(ctx: Context, run: string, agent: string | undefined): Promise<number> {
  if (ctx.format === 'csv')
    throw new UsageError('-o csv: a transcript has no columns; use -o jsonl, or "events RUN -o csv"')
  const id = await ctx.runId(run, 'read')
  let first = true
  let altered = 0
  for await (const part of partsOf(ctx, id, agent)) {
    if (ctx.format === 'table') {
      const lines = 'system' in part ? promptLines(part).map(safe) : transcriptLines(part)
      if (lines.length > 0) await ctx.flow(`${lines.join('\n')}\n`)
      if (!('system' in part) && hasWhole(part) && (await flowWhole(ctx, part.toolCallId ?? ''))) altered++
    } else if (ctx.format === 'jsonl') await ctx.flow(`${JSON.stringify(part)}\n`)
    else await ctx.flow(`${first ? '[\n' : ',\n'}${JSON.stringify(part)}`)
    first = false
    if ('altered' in part && part.altered) altered++
  }
  if (ctx.format === 'json') ctx.data(first ? '[]\n' : '\n]\n')
  return seen(ctx, altered)
}

export function transcriptCommand(program: Command, kit: Kit): void {
  program
    .command('transcript')
    .description(
      'all that was said in a run, in full: prompts, messages, calls with their results, and who approved them',
    )
    .argument('<run>')
    .option('--agent <id>', 'of this agent (default: all agents of the run)')
    .action(kit.action<{ agent?: string }>((ctx, [run], { agent }) => transcript(ctx, run!, agent)))
}
