import { z } from 'zod'
import { KnowledgeSource } from '../../../domain/agent/events/context.ts'
import { Segment, TurnRange } from '../../../domain/agent/window/segment.ts'
import { By, Id } from '../schemas.ts'

const tokens = z.int().nonnegative()

/** The messages in an agent's next request. */
export const ContextView = z
  .strictObject({
    runId: z.string(),
    agentId: z.string(),
    revision: z.int(),
    tokens: tokens.meta({ description: 'Estimated tokens of the next request, corrected by the last reported use' }),
    limit: tokens.meta({ description: 'Of the model that the run names, or of the run, whichever is lower' }),
    threshold: z.number().meta({ description: 'The part of the limit at which the context is compressed' }),
    strategy: z.enum(['summarize', 'truncate', 'hybrid']),
    messages: z.int(),
    segments: z.array(Segment).meta({ description: 'How ranges of messages are shown, from the first one on' }),
    summary: z.string().nullable().meta({ description: 'The summary that stands for hidden turns' }),
    knowledge: z.array(z.strictObject({ source: KnowledgeSource, hash: z.string() })),
  })
  .meta({ id: 'ContextView' })
export type ContextView = z.infer<typeof ContextView>

export const ExpandBody = z
  .strictObject({
    turns: TurnRange.optional().meta({ description: 'Absent: every hidden turn' }),
    agent: Id.optional(),
    by: By.optional(),
  })
  .refine(({ turns }) => turns === undefined || turns.from <= turns.to, {
    error: 'the last turn is before the first one',
    path: ['turns'],
  })
  .meta({ id: 'ExpandContext' })
