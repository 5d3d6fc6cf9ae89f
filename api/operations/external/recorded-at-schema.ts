import { z } from 'zod'
import { Outcome } from '../../../domain/external/outcome.ts'
import { ReportedUsage } from '../../../domain/external/usage.ts'

const count = z.int().nonnegative()

/**
 * An external agent's run at a point of its record, folded from the log (CONTRACTS 13: replay of every run of any
 * backend).
 */
export const RecordedAtPoint = z
  .strictObject({
    runId: z.string(),
    agentId: z.string(),
    ungoverned: z.literal(true),
    backend: z.string(),
    revision: z.int(),
    hash: z.string().meta({ description: 'Of the event at this point' }),
    timestamp: z.string(),
    stage: z.enum(['requested', 'running', 'in_doubt', 'ended']),
    cancelled: z.boolean().meta({ description: 'Its end was asked for' }),
    prompt: z.string(),
    outcome: Outcome.nullable().meta({ description: 'null: it has not ended, or its end was erased' }),
    sessionId: z.string().nullable(),
    usage: ReportedUsage.nullable(),
    events: z.strictObject({ count, hash: z.string() }).meta({
      description: "The agent's events so far, and a rolling hash over the batches that they are recorded in",
    }),
    openPermissions: z.array(z.string()).readonly().meta({ description: 'Calls for which it waits for leave' }),
    ownCalls: count.meta({ description: "Calls of keepup's own tools so far" }),
  })
  .meta({ id: 'RecordedAt' })
