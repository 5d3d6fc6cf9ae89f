import { z } from 'zod'
import { Position } from '../schemas.ts'
import { MOST_TEXT } from './auditor.ts'

/** The most rows, and the most ms, of an answer. */
export const MOST_ROWS = 10_000
export const MOST_MS = 30_000

export const SqlQuestion = z
  .strictObject({
    sql: z.string().min(1).max(MOST_TEXT).meta({ description: 'One SELECT over the tables and the log' }),
    limit: z.int().min(1).max(MOST_ROWS).default(1_000).meta({ description: 'Rows' }),
    timeoutMs: z.int().min(10).max(MOST_MS).default(10_000),
  })
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
