import { z } from 'zod'
import { listRows, threadTables } from '../../../projections/index.ts'
import { operation } from '../operation.ts'
import { Digits, Id, Position } from '../schemas.ts'

const Thread = z
  .strictObject({
    id: z.string().meta({ description: 'Its stream is `thread-<id>`' }),
    thread: z.string().nullable().meta({ description: 'The name that the program gave; null: erased' }),
    checkpoint: z.string().nullable().meta({ description: 'The last one that was saved; null: none, or deleted' }),
    created_at: z.string(),
    created_by: z.string(),
    updated_at: z.string(),
    deleted_at: z.string().nullable(),
    revision: z.int(),
    incomplete_from: z.int().nullable(),
  })
  .meta({ id: 'Thread', description: 'A thread of checkpoints of a LangGraph app' })

/** Threads of checkpoints of other programs, such as LangGraph apps. */
export const THREAD_OPERATIONS = [
  operation({
    name: 'listThreads',
    http: 'GET /v1/threads',
    right: 'streams.read',
    summary: 'Threads of checkpoints of other programs, in the order of their ids, without the values',
    input: {
      query: z.strictObject({
        after: Id.optional(),
        limit: Digits.pipe(z.int().min(1).max(500)).prefault('50').meta({ type: 'integer' }),
      }),
    },
    output: z.strictObject({ position: Position, threads: z.array(Thread).readonly() }).meta({ id: 'ThreadList' }),
    answers: { 200: 'A page of threads' },
    awaitsTables: true,
    async run(s, { query }) {
      const { position, value } = await s.read.rows((db) => listRows(db, threadTables, 'threads', query))
      return { position, threads: value }
    },
  }),
] as const
