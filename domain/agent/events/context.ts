import { z } from 'zod'
import { Failure } from '../../calls/events/event-parts.ts'
import { count, Hash, text } from '../../log/body-parts.ts'
import { ContextManagementConfig } from '../../tree/spec.ts'
import { Segment, TurnRange } from '../window/segment.ts'

// Events of context compression and knowledge (seed 000, 5.11). These shapes are the storage format (see events.ts).

/** The source of a knowledge item. `name`: the file's name, or the label of the text. */
export const KnowledgeSource = z.strictObject({ kind: z.enum(['file', 'text', 'memory']), name: z.string().min(1) })

export const contextEvents = {
  /**
   * Determines how later requests show the messages so far. `strategy`: the strategy used; `truncate` if no summary
   * could be made. `tokens`: estimates before and after, with the limit they were compared to.
   */
  context_compressed: z.strictObject({
    reason: z.enum(['threshold', 'expanded']),
    strategy: ContextManagementConfig.shape.compressionStrategy.unwrap(),
    segments: z.array(Segment).min(1),
    tokens: z.strictObject({ before: count, after: count, limit: count }),
  }),
  /** A person asks for hidden turns; the next request shows them. Absent: all hidden turns. */
  context_expanded: z.strictObject({ turns: TurnRange.optional() }),
  /** An attempt to summarize failed, or its answer is unusable. */
  summary_failed: z.strictObject({ attempt: z.int().positive(), error: Failure }),
  /** Knowledge in later requests, by source and SHA-256 of the salt of hashes and the text. `text`: absent if the spec contains it. */
  knowledge_added: z.strictObject({
    items: z.array(z.strictObject({ source: KnowledgeSource, hash: Hash, text: text.optional() })),
  }),
} as const
