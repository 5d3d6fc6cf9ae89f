import { z } from 'zod'
import { Position } from '../schemas.ts'
import { isPlain, PLAIN } from '../text/plain-text.ts'
import { MOST_TEXT } from './auditor.ts'

/** The most rows, and the most ms, of an answer. */
export const MOST_ROWS = 10_000
export const MOST_MS = 30_000

const Place = z.string().min(1).max(200).refine(isPlain, PLAIN)

export const SqlQuestion = z
  .strictObject({
    sql: z.string().min(1).max(MOST_TEXT).meta({ description: 'One SELECT over the tables and the log' }),
    limit: z.int().min(1).max(MOST_ROWS).default(1_000).meta({ description: 'Rows' }),
    timeoutMs: z.int().min(10).max(MOST_MS).default(10_000),
    at: Place.optional().meta({
      description: 'Cursor: the tables as they were after this event, in the SQL of SQLite',
    }),
    to: Place.optional().meta({
      description:
        'Cursor: only the rows that differ there from `at`. The first column is `change`: added, removed, or before and after',
    }),
    key: z
      .array(z.string().min(1).max(200).refine(isPlain, PLAIN))
      .max(50)
      .default([])
      .meta({ description: 'With `to`: the columns that tell rows apart; default: the first one' }),
    erased: z
      .boolean()
      .default(false)
      .meta({ description: 'With `at`: texts that were erased later are null, in place of an error' }),
  })
  .refine(({ at, to }) => to === undefined || at !== undefined, { path: ['to'], message: 'name "at" too' })
  .refine(({ to, key }) => key.length === 0 || to !== undefined, { path: ['key'], message: 'needs "at" and "to"' })
  .refine(({ at, erased }) => !erased || at !== undefined, { path: ['erased'], message: 'needs "at"' })
  .meta({ id: 'SqlQuestion' })

const Cell = z.union([z.string(), z.number(), z.null()])

export const SqlAnswer = z
  .strictObject({
    position: Position,
    columns: z.array(z.string()).readonly(),
    rows: z
      .array(z.array(Cell).readonly())
      .readonly()
      .meta({ description: 'Whole numbers that JSON would round are texts; bytes are hex' }),
    more: z.boolean().meta({ description: 'There were more rows, or more bytes, than an answer may have' }),
  })
  .meta({ id: 'SqlAnswer' })
export type SqlAnswer = z.infer<typeof SqlAnswer>
