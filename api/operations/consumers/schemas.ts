import { z } from 'zod'
import { CursorText, Digits, Position } from '../schemas.ts'
import { ConsumerFilter } from './filter.ts'

const AnyName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, {
  error: 'expected small letters, digits, ".", "_" and "-", at most 64, first a letter or a digit',
})

export const ConsumerName = AnyName.refine((name) => !name.startsWith('keepup.'), {
  error:
    'names with "keepup." at the beginning are for readers of keepup itself, which its settings start; use another',
})

export const ConsumerParam = z.object({ name: ConsumerName })
/** With the names of keepup's own consumers. */
export const AnyConsumerParam = z.object({ name: AnyName })

export const PutConsumer = z
  .strictObject({
    from: z
      .union([z.enum(['beginning', 'end']), CursorText])
      .default('beginning')
      .meta({ description: 'Where a new consumer begins: the beginning or the end of the log, or after a cursor' }),
    filter: ConsumerFilter.default({}),
  })
  .meta({ id: 'PutConsumer' })

export const Consumer = z
  .strictObject({
    name: z.string(),
    filter: ConsumerFilter,
    position: Position.meta({ description: 'Everything up to this cursor is handled; null: nothing' }),
    head: z.string().meta({ description: 'The cursor of the last event of the log' }),
    lag: z.int().nullable().meta({
      description: 'Events of the log after the position, counted up to 10,000; null: the position is of another log',
    }),
    epoch: z.int().meta({ description: 'The epoch of the last reader. Its acks are taken, and no others' }),
    createdAt: z.string(),
    lastAckAt: z.string().nullable(),
  })
  .meta({ id: 'Consumer', description: 'A program that reads the events, and how far it is' })
/** A named consumer: its filter, its position, and how many events are behind it. */
export type Consumer = z.output<typeof Consumer>

export const ConsumerList = z.strictObject({ consumers: z.array(Consumer).readonly() }).meta({ id: 'Consumers' })

export const AckConsumer = z
  .strictObject({
    position: CursorText.meta({ description: 'The cursor of the last event that is handled, or of a later position' }),
    epoch: z.int().positive().meta({ description: "The reader's epoch" }),
  })
  .meta({ id: 'AckConsumer' })

export const Acked = z
  .strictObject({ position: Position.meta({ description: 'The position of the consumer after the ack' }) })
  .meta({ id: 'Acked' })

export const ConsumerRemoved = z.strictObject({ name: z.string() }).meta({ id: 'ConsumerRemoved' })

/** The most events of a batch. */
const MOST = 5_000
/** The longest wait of a batch, in seconds. */
const LONGEST_WAIT = 60

const number = (least: number, most: number) => Digits.pipe(z.int().min(least).max(most)).optional()

export const ConsumeQuery = z.strictObject({
  epoch: number(0, Number.MAX_SAFE_INTEGER).meta({ type: 'integer', description: 'The reader that reads on' }),
  max: number(1, MOST).meta({ type: 'integer', description: 'The most events of a batch; 500' }),
  wait: number(0, LONGEST_WAIT).meta({ type: 'integer', description: 'Seconds to wait for an event; 20' }),
})

const epoch = z.int().positive().meta({ description: 'The epoch for acks' })
const cursor = z.string().nullable()

/** The messages that the stream of a consumer adds to the events, by name. */
export const CONSUMER_MESSAGES = {
  reader: z.strictObject({
    name: z.string(),
    epoch,
    position: cursor.meta({ description: 'The events after this cursor come; null: all' }),
  }),
  end: z.strictObject({
    code: z.string().meta({ description: 'Such as CONSUMER_TAKEN' }),
    detail: z.string(),
  }),
  batchEnd: z.strictObject({ epoch, position: cursor.meta({ description: 'Ack this cursor' }) }),
} as const
