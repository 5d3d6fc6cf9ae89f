import type { Command } from 'commander'
import type { Json } from '../../../../domain/log/json.ts'
import { asOne, take } from '../../../http/answers.ts'
import type { MessageList, MessageView, Sent } from '../../../operations/messages/schemas.ts'
import { hasEnded } from '../../../operations/runs/drive-end.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { serverEvents } from '../../follow/server-events.ts'
import { type Kit, readAll } from '../kit.ts'

/** All messages of a run, read page by page. */
async function read(ctx: Context, id: string): Promise<MessageView[]> {
  const client = await ctx.client('read')
  const found: MessageView[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const query = { limit: '500', ...(after ? { after } : {}) }
    const page: MessageList = await take(client.v1.runs[':id'].messages.$get({ param: { id }, query }))
    found.push(...page.messages)
    after = page.next
  }
  return found
}

const stateOf = ({ status, reason }: MessageView): string => (reason === null ? status : `${status}: ${reason}`)

const COLUMNS = [
  { title: 'MESSAGE', of: ({ id }: MessageView) => id },
  { title: 'FROM', of: ({ from }: MessageView) => from },
  { title: 'TO', of: ({ to, topic }: MessageView) => to ?? `topic ${topic}` },
  { title: 'TYPE', of: ({ type }: MessageView) => type, optional: true },
  { title: 'STATUS', of: stateOf },
  { title: 'PAYLOAD', of: ({ preview }: MessageView) => preview ?? '(erased)', flexible: true },
]

async function list(ctx: Context, id: string): Promise<number> {
  ctx.list(await read(ctx, id), COLUMNS)
  return EXIT.done
}

/** Shows each message when it is sent, and again when its state changes, until the run ends. */
async function follow(ctx: Context, id: string): Promise<number> {
  const over = new AbortController()
  const backend = await ctx.backend('read')
  const path = `http://localhost/v1/events?run=${encodeURIComponent(id)}&from=head`
  const response = await backend.fetch(new Request(path, { signal: over.signal }))
  const shown = new Map<string, string>()
  const show = async (): Promise<boolean> => {
    const client = await ctx.client('read')
    const { run } = await take(client.v1.runs[':id'].$get({ param: { id } }))
    const news = (await read(ctx, id)).filter((one) => shown.get(one.id) !== stateOf(one))
    for (const one of news) {
      shown.set(one.id, stateOf(one))
      ctx.show(one, () => [
        `${one.id} ${one.from} → ${one.to ?? `topic ${one.topic}`} ${stateOf(one)} ${one.preview ?? ''}`,
      ])
    }
    return hasEnded(run.status)
  }
  try {
    // Open the event stream before the first read of the messages, so that none is missed in between.
    if (await show()) return EXIT.done
    for await (const { data } of serverEvents(response)) if (data !== null && (await show())) return EXIT.done
    return EXIT.done
  } finally {
    over.abort()
  }
}

/** The message text, or with `--json` any JSON value. `-` reads standard input. */
async function payloadOf(ctx: Context, words: readonly string[], asJson: boolean | undefined): Promise<Json> {
  const text = words.join(' ') === '-' ? await readAll(ctx) : words.join(' ')
  if (asJson !== true) return text
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError('--json: the message is no JSON; put a text in double quotes, or leave out --json')
  }
}

function sent(ctx: Context, done: Sent): number {
  ctx.show(done, () => [`sent ${done.id}; recorded at revision ${done.revision} of ${done.agentId}`])
  return EXIT.done
}

interface Sending {
  readonly to?: string
  readonly topic?: string
  readonly request?: boolean
  readonly json?: boolean
}

/** Commands for the messages of a run. */
export function messagesCommand(program: Command, kit: Kit): void {
  const messages = program.command('messages').description('messages between the agents of a run and people')
  messages
    .command('list', { isDefault: true })
    .description('all messages of a run, and what became of each')
    .argument('<run>')
    .option('-f, --follow', 'show each one when it comes, and what becomes of it, until the run has ended')
    .action(
      kit.action<{ follow?: boolean }>(async (ctx, [run], { follow: follows }) => {
        const id = await ctx.runId(run!, 'read')
        return follows === true ? follow(ctx, id) : list(ctx, id)
      }),
    )
  messages
    .command('send')
    .description('send a message to an agent of a run, which reads it at its next turn')
    .argument('<run>')
    .argument('<text...>', '"-": standard input')
    .option('--to <agent>', 'to this agent (default: the root agent)')
    .option('--topic <topic>', 'what it is about')
    .option('--request', 'ask for an answer, which the list shows')
    .option('--json', 'the text is a JSON value')
    .action(
      kit.action<Sending>(async (ctx, [run, ...words], { to, topic, request, json: asJson }) => {
        const id = await ctx.runId(run!, 'write')
        const client = await ctx.client('write')
        const said = { payload: await payloadOf(ctx, words, asJson), expectReply: request === true, by: ctx.by }
        const json = { ...said, ...(to === undefined ? {} : { to }), ...(topic === undefined ? {} : { topic }) }
        return sent(ctx, await take(client.v1.runs[':id'].messages.$post({ param: { id }, header: asOne(), json })))
      }),
    )
  messages
    .command('publish')
    .description('send a message to every agent of a run that has subscribed to a topic')
    .argument('<run>')
    .argument('<topic>')
    .argument('<text...>', '"-": standard input')
    .option('--json', 'the text is a JSON value')
    .action(
      kit.action<Sending>(async (ctx, [run, topic, ...words], { json: asJson }) => {
        const id = await ctx.runId(run!, 'write')
        const client = await ctx.client('write')
        const json = { topic: topic!, payload: await payloadOf(ctx, words, asJson), by: ctx.by }
        return sent(ctx, await take(client.v1.runs[':id'].publications.$post({ param: { id }, header: asOne(), json })))
      }),
    )
  messages
    .command('respond')
    .description('answer the request of an agent that waits for it')
    .argument('<request>', 'the id of the request, as the list shows it')
    .argument('<text...>', '"-": standard input')
    .option('--json', 'the text is a JSON value')
    .action(
      kit.action<Sending>(async (ctx, [id, ...words], { json: asJson }) => {
        const client = await ctx.client('write')
        const json = { payload: await payloadOf(ctx, words, asJson), by: ctx.by }
        const param = { id: id! }
        return sent(ctx, await take(client.v1.messages[':id'].respond.$post({ param, header: asOne(), json })))
      }),
    )
}
