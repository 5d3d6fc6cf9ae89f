import type { Command } from 'commander'
import { refusal, take } from '../../../http/answers.ts'
import { eventTypes } from '../../../operations/events/filter.ts'
import { EVENT_MEMBERS, type EventView } from '../../../operations/events/schemas.ts'
import type { Client } from '../../client.ts'
import type { Context } from '../../context.ts'
import { CliError, EXIT } from '../../exit.ts'
import { linesOf } from '../../output/body-lines.ts'
import { csvRows } from '../../output/csv.ts'
import { days, eventRow } from '../../output/event-row.ts'
import { alone, type Kit, known, names } from '../kit.ts'

interface ConsumeOptions {
  from: string
  type?: string[]
  kind?: string[]
  run?: string[]
  once?: boolean
}

/** The last line of a batch. */
interface BatchEnd {
  readonly epoch: number
  readonly position: string | null
}

const MAX = '1000'

async function consume(ctx: Context, name: string, o: ConsumeOptions): Promise<number> {
  const client = await ctx.client('write')
  const runs = o.run === undefined ? undefined : await Promise.all(o.run.map((run) => ctx.runId(run, 'write')))
  const filter = { ...(o.type && { types: o.type }), ...(o.kind && { kinds: o.kind }), ...(runs && { runs }) }
  const json = { from: o.from, filter } as Parameters<Client['v1']['consumers'][':name']['$put']>[0]['json']
  const { position: from } = await take(client.v1.consumers[':name'].$put({ param: { name }, json }))
  const show = shower(ctx)
  const wait = o.once ? '0' : '20'
  // Batches are answered in time, so `--once` ends when one comes to the head that was there at its start.
  const head = o.once ? await headOf(client, name) : null
  let position = from
  for (let epoch: number | null = null; head === null || placeOf(position) < placeOf(head); ) {
    const query = { max: MAX, wait, ...(epoch !== null && { epoch: String(epoch) }) }
    const response = await client.v1.consumers[':name'].events.$get({ param: { name }, query, header: {} })
    if (!response.ok || !response.body) throw await refusal(response)
    let end: BatchEnd | null = null
    for await (const line of linesOf(response.body)) {
      if (line === '') continue
      const value = JSON.parse(line) as EventView | BatchEnd
      if ('id' in value) await show(value, line)
      else end = value
    }
    if (end === null) throw new CliError(`the batch for ${name} was cut off; run the command again`)
    epoch = end.epoch
    if (end.position === null || end.position === position) {
      if (o.once) break
      continue
    }
    await ctx.flushed()
    const ack = client.v1.consumers[':name'].ack.$post({ param: { name }, json: { position: end.position, epoch } })
    position = (await take(ack)).position
  }
  return EXIT.done
}

async function headOf(client: Client, name: string): Promise<string> {
  const { consumers } = await take(client.v1.consumers.$get({}))
  return consumers.find((one) => one.name === name)!.head
}

/** The position in a cursor; -1 for none. */
const placeOf = (cursor: string | null): number => (cursor === null ? -1 : Number(/~(\d+)/.exec(cursor)?.[1]))

function shower(ctx: Context): (event: EventView, line: string) => Promise<void> {
  const dayOf = days()
  const csv = csvRows(EVENT_MEMBERS)
  return async (event, line) => {
    if (ctx.format === 'csv') return ctx.flow(csv([event]))
    if (ctx.format !== 'table') return ctx.flow(`${line}\n`)
    const day = dayOf(event)
    await ctx.flow(`${day === null ? '' : `${day}\n`}${eventRow(event, true)}\n`)
  }
}

/** The commands `consume` and `consumers`. */
export function consumerCommands(program: Command, kit: Kit): void {
  program
    .command('consume')
    .description('the events of a named consumer, from its position on; each is acked after it is written')
    .argument('<name>', 'a consumer, which is created if it is missing')
    .option('--from <place>', 'where a new consumer begins: beginning, end, or a cursor', 'beginning')
    .option('--type <types>', 'of these types only', known('--type', eventTypes()))
    .option('--kind <kinds>', 'of these kinds of streams only', names)
    .option('--run <runs>', 'of these runs only', names)
    .option('--once', 'end at the head of now')
    .action(kit.action<ConsumeOptions & object>((ctx, [name], options) => consume(ctx, name!, options)))

  const consumers = program.command('consumers').description('named consumers of the log, and how far they are')

  alone(consumers.command('list', { isDefault: true }))
    .description('the consumers, their lag and their last ack')
    .action(
      kit.action(async (ctx) => {
        const { consumers: all } = await take((await ctx.client('read')).v1.consumers.$get({}))
        ctx.list(all, [
          { title: 'NAME', of: ({ name }) => name },
          { title: 'LAG', of: ({ lag }) => lag ?? '-', side: 'right' },
          { title: 'ACKED', of: ({ lastAckAt }) => lastAckAt ?? '-' },
          { title: 'READER', of: ({ epoch }) => epoch, side: 'right' },
          { title: 'FILTER', of: ({ filter }) => filterText(filter), flexible: true },
        ])
        return EXIT.done
      }),
    )

  consumers
    .command('remove')
    .description('remove a consumer and its position')
    .argument('<name>')
    .action(
      kit.action(async (ctx, [name = '']) => {
        const done = await take((await ctx.client('write')).v1.consumers[':name'].$delete({ param: { name } }))
        ctx.show(done, () => [`${name}: removed`])
        return EXIT.done
      }),
    )
}

const filterText = (filter: Readonly<Record<string, readonly string[] | undefined>>): string =>
  Object.entries(filter)
    .map(([member, values = []]) => `${member} ${values.join(',')}`)
    .join('; ') || '-'
