import type { Kysely } from 'kysely'
import type { z } from 'zod'
import { type Cursor, formatCursor, parseCursor } from '../../../domain/log/cursor.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { ConsumerReader } from '../../operations/consumers/reader.ts'
import { ConsumerName, PutConsumer } from '../../operations/consumers/schemas.ts'
import { checkedCursor } from '../../operations/events/filter.ts'
import type { EventView } from '../../operations/events/schemas.ts'
import { mustWrite } from '../../operations/runs/record-command.ts'
import type { Services } from '../../operations/services.ts'
import { parsed } from '../parsed.ts'
import { createPositions } from './position-in.ts'
import { type RowHandler, RowSink } from './row-sink.ts'

/** A consumer: `name`, and for a new one where it begins (`from`, default `beginning`) and its `filter`. */
export interface Consuming extends z.input<typeof PutConsumer> {
  readonly name: string
  /** End at the present head of the log. */
  readonly once?: boolean
  readonly signal?: AbortSignal
}

/** Handles events in order. The position moves on when it has ended. */
export type Handler = (events: readonly EventView[]) => unknown

/** See `KeepUp.consume`. With `positionIn` the handler gets a transaction of that database, which also stores the position. */
export interface Consume {
  <DB>(consumer: Consuming & { readonly positionIn: Kysely<DB> }, handler: RowHandler<DB>): Promise<void>
  (consumer: Consuming & { readonly positionIn?: never }, handler: Handler): Promise<void>
}

/** Takes the events of one page. `end`: the position after the page. */
interface Sink {
  take(events: readonly EventView[], end: Cursor): Promise<void>
  /** Stores the position after pages without events. */
  close?(): Promise<void>
}

interface Around {
  mustMay(): Promise<void>
  readonly ending: AbortSignal
}

export const consumeOf =
  (s: Services, around: Around): Consume =>
  async <DB>(consumer: Consuming & { readonly positionIn?: Kysely<DB> }, handler: RowHandler<DB>) => {
    const { name, once = false, signal, positionIn, ...asked } = consumer
    await around.mustMay()
    mustWrite(s)
    await create(s, parsed(ConsumerName, name), parsed(PutConsumer, asked))
    const over = signal === undefined ? around.ending : AbortSignal.any([signal, around.ending])
    const { reader, sink } = await (positionIn === undefined
      ? ofKeepUp(s, name, handler as Handler)
      : ofDatabase(s, name, positionIn, handler))
    try {
      for await (const { page, events } of reader.pages(over, { once })) {
        await sink.take(await page.viewsOf(events), page.end)
        if (over.aborted) break
      }
    } catch (error) {
      // The log closes at the same time as the reader.
      if (!(over.aborted && error instanceof LogError && error.code === 'LOG_CLOSED')) throw error
    }
    await sink.close?.()
  }

async function create(s: Services, name: string, { from, filter }: z.output<typeof PutConsumer>): Promise<void> {
  const after =
    from === 'end' ? await s.log.headCursor() : from === 'beginning' ? null : await checkedCursor(s.log, from)
  await s.consumers.create(name, { after, filter })
}

/** keepup stores the position, after the handler has ended. */
async function ofKeepUp(s: Services, name: string, handler: Handler): Promise<{ reader: ConsumerReader; sink: Sink }> {
  const reader = await s.consumers.open(name)
  const take: Sink['take'] = async (events, end) => {
    if (events.length === 0) return
    await handler(events)
    await reader.ack(end)
  }
  return { reader, sink: { take } }
}

/** The program's database stores the position with the rows. keepup gets it too, so that it knows how far the rows are. */
async function ofDatabase<DB>(
  s: Services,
  name: string,
  db: Kysely<DB>,
  handler: RowHandler<DB>,
): Promise<{ reader: ConsumerReader; sink: Sink }> {
  await createPositions(db)
  const rows = await RowSink.open(db, name, handler)
  const { position } = rows
  const reader = await s.consumers.open(name, position === null ? null : parseCursor(position))
  let last: Cursor | null = null
  const take: Sink['take'] = async (events, end) => {
    last = end
    if (events.length === 0) return
    await rows.take(events, formatCursor(end))
    await reader.ack(end)
  }
  const close = async () => {
    if (last !== null) await rows.take([], formatCursor(last))
  }
  return { reader, sink: { take, close } }
}
