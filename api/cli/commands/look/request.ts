import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import type { SentRequests } from '../../../operations/window/request-schemas.ts'
import type { Context } from '../../context.ts'
import { CliError, EXIT } from '../../exit.ts'
import { safeJson } from '../../output/text.ts'
import { type Kit, whole } from '../kit.ts'

interface RequestOptions {
  turn: number
  attempt?: number
  agent?: string
}

async function request(ctx: Context, run: string, o: RequestOptions): Promise<number> {
  const id = await ctx.runId(run, 'read')
  const client = await ctx.client('read')
  const query = o.agent === undefined ? {} : { agent: o.agent }
  const param = { id, turn: String(o.turn) }
  const found = (await take(client.v1.runs[':id'].turns[':turn'].request.$get({ param, query }))) as SentRequests
  const { requests, agentId } = found
  const sent = o.attempt === undefined ? requests.at(-1) : requests.find(({ attempt }) => attempt === o.attempt)
  const attempts = requests.map(({ attempt }) => attempt).join(', ')
  if (sent === undefined) throw new CliError(`turn ${o.turn} has no attempt ${o.attempt}; there are ${attempts}`)
  if (ctx.format !== 'table') {
    ctx.show(found, () => [])
    return EXIT.done
  }
  ctx.note(`turn ${o.turn} of ${agentId}, attempt ${sent.attempt} of ${attempts}: ${sent.provider}, ${sent.model}`)
  for (const [name, value] of Object.entries(sent.headers)) ctx.note(`header ${name}: ${value}`)
  ctx.note(`checked: messages, prompt, tools and parameters have the hash that the event @${sent.revision} recorded`)
  for (const [what, hash] of Object.entries(sent.checked)) ctx.note(`  ${what.padEnd(10)} ${hash}`)
  ctx.note(
    `not checked: the JSON below, made from them with the settings for ${sent.provider} of the process that answers`,
  )
  await ctx.flow(`${safeJson(JSON.stringify(sent.body, null, 2))}\n`)
  return EXIT.done
}

export function requestCommand(program: Command, kit: Kit): void {
  program
    .command('request')
    .description(
      "what the model was sent in a turn: its content checked against the log, the provider's JSON made with the settings of now",
    )
    .argument('<run>')
    .requiredOption(
      '--turn <n>',
      'of this turn; 0: requests for summaries, which are made between turns',
      whole('--turn'),
    )
    .option('--attempt <n>', 'of this attempt (default: the last one)', whole('--attempt', 1))
    .option('--agent <id>', 'of this agent (default: the root agent)')
    .action(kit.action<RequestOptions>((ctx, [run], options) => request(ctx, run!, options)))
}
