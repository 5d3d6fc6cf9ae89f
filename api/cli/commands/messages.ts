import type { Command } from 'commander'
import type { z } from 'zod'
import type { Message, MessageList } from '../../app/schemas/messages.ts'
import { take } from '../client.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit.ts'
import { type PageQuery, pages } from '../pages.ts'
import type { Kit } from './kit.ts'

async function list(ctx: Context, id: string): Promise<number> {
  const client = await ctx.client('read')
  const read = (query: PageQuery): Promise<z.infer<typeof MessageList>> =>
    take(client.v1.runs[':id'].messages.$get({ param: { id }, query }))
  const rows = (await Array.fromAsync(pages(read))).flatMap(({ messages }) => messages)
  ctx.list(rows, [
    { title: 'SENT', of: (m) => m.sentAt, optional: true },
    { title: 'FROM', of: (m) => m.from },
    { title: 'TO', of: (m) => m.to ?? `topic ${m.topic}` },
    { title: 'TYPE', of: (m) => m.type },
    { title: 'STATUS', of: status },
    { title: 'PAYLOAD', of: (m) => m.preview ?? '', flexible: true },
  ])
  return EXIT.done
}

/** What became of a message; people read theirs in the log. */
function status({ bounced, received, to }: Message): string {
  if (bounced !== null) return `bounced: ${bounced}`
  if (to === null) return `received by ${received}`
  return received > 0 || to.startsWith('user:') ? 'received' : 'on its way'
}

export function messagesCommand(program: Command, kit: Kit): void {
  program
    .command('messages')
    .description('messages between the agents of a run, and what became of each')
    .argument('<run>')
    .action(kit.action(async (ctx, [run]) => list(ctx, await ctx.runId(run!, 'read'))))
}
