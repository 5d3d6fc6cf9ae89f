import { z } from 'zod'
import { ContextManagementConfig } from '../definition/spec.ts'
import { Segment, TurnRange } from '../window/segment.ts'
import { count, Failure, Hash, text } from './event-parts.ts'

// Events of context compression and knowledge (seed 000, 5.11). These shapes are the storage format too (see events.ts).

/** Where knowledge comes from. `name`: of the file, or as the text was called. */
export const KnowledgeSource = z.strictObject({ kind: z.enum(['file', 'text', 'memory']), name: z.string().min(1) })

export const contextEvents = {
  /**
   * How the following requests show the messages so far. `strategy`: what was done, which is `truncate` where no summary
   * could be had. `tokens`: as estimated before and after, with the limit they were measured against.
   */
  context_compressed: z.strictObject({
    reason: z.enum(['threshold', 'expanded']),
    strategy: ContextManagementConfig.shape.compressionStrategy.unwrap(),
    segments: z.array(Segment).min(1),
    tokens: z.strictObject({ before: count, after: count, limit: count }),
  }),
  /** A person asks for hidden turns: the next request shows them. Absent: all of them. */
  context_expanded: z.strictObject({ turns: TurnRange.optional() }),
  /** The attempt to have a summary made brought none: it failed, or its answer cannot be used. */
  summary_failed: z.strictObject({ attempt: z.int().positive(), error: Failure }),
  /**
   * Knowledge that the following requests hold, by source and SHA-256 of the text. `text` stands here where the spec does not
   * hold it.
   */
  knowledge_added: z.strictObject({
    items: z.array(z.strictObject({ source: KnowledgeSource, hash: Hash, text: text.optional() })),
  }),
} as const
